"use strict";
// Draws the figures one after the other once the page is there, in the colours of its theme.
turngate.part((signal) => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = [...document.querySelectorAll("[data-figure]")];
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = { displaylogo: false, responsive: true, modeBarButtons: [["toImage", "resetScale2d"]] };
  const hidden = new Set();
  signal.addEventListener("abort", () => places.filter((place) => place.drawn).forEach((place) => Plotly.purge(place)));
  let here = null;

  function themed(value, style) {
    if (typeof value === "string") {
      // var(--name), or var(--name)/0.2 for a colour that lets others through.
      const variable = /^var\((--[\w-]+)\)(?:\/([\d.]+))?$/.exec(value);
      if (!variable) return value;
      const alpha = variable[2] ? Math.round(variable[2] * 255).toString(16).padStart(2, "0") : "";
      return style.getPropertyValue(variable[1]).trim() + alpha;
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
    place.here = here;
    figure.data.forEach((trace) => { trace.visible = !hidden.has(trace.legendgroup); });
    Plotly.react(place, figure.data, figure.layout, config);
    if (!fresh) return;
    place.on("plotly_click", (event) => {
      const data = event.points[0].customdata;
      if (data && data[0]) document.dispatchEvent(new CustomEvent("turn-picked", { detail: { key: data[0] } }));
    });
  }

  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 1));
  function drawNext() {
    if (signal.aborted) return;
    const place = places.find((item) => !item.drawn);
    if (!place) {
      document.documentElement.dataset.charts = "drawn";
      return;
    }
    draw(place);
    idle(drawNext);
  }

  // The line of the chosen turn moves in the charts that are in view, in the others when they come into view.
  function moveHere(place) {
    if (!place.drawn || place.here === here) return;
    place.here = here;
    Plotly.relayout(place, { shapes: [...place.shapes, ...hereLine(getComputedStyle(document.documentElement))] });
  }

  const inView = new Set();
  const watch = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    if (isIntersecting) inView.add(target);
    else inView.delete(target);
    if (isIntersecting) moveHere(target);
  }), { rootMargin: "50%" });
  places.forEach((place) => watch.observe(place));
  signal.addEventListener("abort", () => watch.disconnect());

  let later = 0;
  document.addEventListener("turn-selected", (event) => {
    here = event.detail.turn;
    clearTimeout(later);
    later = setTimeout(() => inView.forEach(moveHere), 100);
  }, { signal });

  // A click on the key of a study hides an arm in every chart.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-group]");
    if (!button) return;
    const gone = hidden.delete(button.dataset.group) ? false : Boolean(hidden.add(button.dataset.group));
    document.querySelectorAll(`[data-group="${button.dataset.group}"]`).forEach((same) => {
      same.setAttribute("aria-pressed", String(!gone));
    });
    places.filter((place) => place.drawn).forEach(draw);
  }, { signal });
  const first = document.querySelector(".timeline .cell[aria-current]");
  if (first) here = Number(first.dataset.turn);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    places.filter((place) => place.drawn).forEach(draw);
  }, { signal });
  idle(drawNext);
});
