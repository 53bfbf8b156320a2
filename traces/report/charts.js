"use strict";
// Draws the figures one after the other once the page is there, in the colours of its theme.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = [...document.querySelectorAll("[data-figure]")];
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = { displaylogo: false, responsive: true, modeBarButtons: [["toImage", "resetScale2d"]] };
  let here = null;

  function themed(value, style) {
    if (typeof value === "string") {
      const variable = /^var\((--[\w-]+)\)$/.exec(value);
      return variable ? style.getPropertyValue(variable[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map((item) => themed(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, themed(item, style)]));
    }
    return value;
  }

  function hereLine(style) {
    if (here === null) return [];
    const line = { color: style.getPropertyValue("--here").trim(), width: 1.5 };
    return [{ type: "line", xref: "x", yref: "paper", x0: here, x1: here, y0: 0, y1: 1, layer: "below", line }];
  }

  function draw(place) {
    const style = getComputedStyle(document.documentElement);
    const figure = themed(figures[place.dataset.figure], style);
    place.shapes = figure.layout.shapes || [];
    figure.layout.shapes = [...place.shapes, ...hereLine(style)];
    if (touch) figure.layout.dragmode = false; // a finger on a chart scrolls the page
    const fresh = !place.drawn;
    place.drawn = true;
    Plotly.react(place, figure.data, figure.layout, config);
    if (!fresh) return;
    place.on("plotly_click", (event) => {
      const data = event.points[0].customdata;
      if (data && data[0]) document.dispatchEvent(new CustomEvent("turn-picked", { detail: { key: data[0] } }));
    });
  }

  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 1));
  function drawNext() {
    const place = places.find((item) => !item.drawn);
    if (!place) {
      document.documentElement.dataset.charts = "drawn";
      return;
    }
    draw(place);
    idle(drawNext);
  }

  let later = 0;
  document.addEventListener("turn-selected", (event) => {
    here = event.detail.turn;
    clearTimeout(later);
    later = setTimeout(() => {
      const style = getComputedStyle(document.documentElement);
      places.filter((place) => place.drawn).forEach((place) => {
        Plotly.relayout(place, { shapes: [...place.shapes, ...hereLine(style)] });
      });
    }, 100);
  });
  const first = document.querySelector(".timeline .cell[aria-current]");
  if (first) here = Number(first.dataset.turn);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    places.filter((place) => place.drawn).forEach(draw);
  });
  drawNext();
})();
