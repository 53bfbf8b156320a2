"use strict";
// Two images and their difference, with the same region of each in view. The browser blends them: no pixel is read,
// which it would not allow for files.
turngate.part((signal) => {
  const section = document.getElementById("compare");
  if (!section) return;
  const stops = JSON.parse(document.getElementById("stops").textContent);
  const lenses = [...section.querySelectorAll(".lens")];
  const sliders = Object.fromEntries(["a", "b"].map((side) => [side, document.getElementById(`stop-${side}`)]));
  const aligned = document.getElementById("aligned"); // only where something was registered
  const how = document.getElementById("how");
  const view = { zoom: 1, x: 0.5, y: 0.5 };
  let later = 0;

  const stopOf = (side) => stops[sliders[side].value];

  function put(side, lens, source) {
    section.querySelectorAll(`[data-lens=${lens}] img[data-of="${side}"]`).forEach((image) => {
      image.alt = lens === "d" ? "" : stopOf(side).words;
      if (source) image.src = source;
      else image.removeAttribute("src");
    });
  }

  const whole = (stop) => new Promise((resolve, reject) => {
    if (!stop.href) throw new Error("no picture");
    const image = new Image();
    image.addEventListener("load", () => resolve(image.src));
    image.addEventListener("error", () => { section.classList.add("small"); reject(new Error("not beside this page")); });
    image.src = stop.href;
  });

  // The difference takes the full pictures when it has both: a full one and a small one differ everywhere.
  function sharpen() {
    const sides = ["a", "b"];
    const asked = sides.map(stopOf);
    const late = () => sides.some((side, at) => stopOf(side) !== asked[at]);
    const wholes = asked.map(whole);
    wholes.forEach((one, at) => one.then((source) => late() || put(sides[at], sides[at], source), () => {}));
    Promise.all(wholes).then((sources) => late() || sources.forEach((source, at) => put(sides[at], "d", source)), () => {});
  }

  function tell() {
    ["a", "b"].forEach((side) => {
      const stop = stopOf(side);
      document.getElementById(`stop-${side}-words`).textContent = stop.words;
      sliders[side].setAttribute("aria-valuetext", stop.words);
      section.querySelector(`[data-caption="${side}"]`).textContent = `${stop.words.split(":")[0]}, ${stop.size}`;
    });
    const [one, other] = ["a", "b"].map((side) => stopOf(side).size);
    how.textContent = framesOf() ? how.dataset.aligned
      : `Pixel by pixel, not aligned: a shift of the whole image shows as edges.${aligned && aligned.checked ? " One of the two was not registered." : ""}`;
    document.getElementById("sizes").textContent = one === other ? "" : ` The sizes differ (${one}, ${other}): both are stretched to the same frame.`;
  }

  function set(side, place) {
    if (place < 0) return;
    sliders[side].value = place;
    put(side, side, turngate.small(stopOf(side).sha));
    ["a", "b"].forEach((each) => put(each, "d", turngate.small(stopOf(each).sha)));
    tell();
    move();
    clearTimeout(later);
    later = setTimeout(sharpen, 150);
  }

  // Where both images lie on the origin, when the reader wants them aligned and both were registered.
  function framesOf() {
    if (!aligned || !aligned.checked) return null;
    const [a, b] = ["a", "b"].map((side) => stopOf(side).frame);
    return a && b ? { a, b } : null;
  }

  // Begin and end of what both show, in shares of the origin, across and down.
  const sharedBy = ({ a, b }) => [0, 1].map((axis) => [
    Math.max(0, ...[a, b].map((frame) => -frame.offset[axis] / frame.scale[axis])),
    Math.min(1, ...[a, b].map((frame) => (1 - frame.offset[axis]) / frame.scale[axis])),
  ]);

  // What one image shows besides is no difference.
  function cut(common, frame) {
    const [[left, right], [top, bottom]] = common.map((ends, axis) => ends.map((at) => 100 * (frame.scale[axis] * at + frame.offset[axis])));
    const away = [top, 100 - right, 100 - bottom, left];
    return away.some((part) => part > 0) ? `inset(${away.map((part) => `${part}%`).join(" ")})` : "";
  }

  function move() {
    const edge = 0.5 / view.zoom;
    view.x = Math.min(1 - edge, Math.max(edge, view.x));
    view.y = Math.min(1 - edge, Math.max(edge, view.y));
    const frames = framesOf();
    const common = frames && sharedBy(frames);
    section.querySelectorAll(".lens img").forEach((image) => {
      const frame = frames && frames[image.dataset.of];
      const [scaleX, scaleY] = frame ? frame.scale.map((scale) => view.zoom / scale) : [view.zoom, view.zoom];
      const [x, y] = [view.x, view.y].map((centre, axis) => {
        const begin = frame ? -frame.offset[axis] / frame.scale[axis] : 0;
        return `${50 + (begin - centre) * view.zoom * 100}%`;
      });
      image.style.transform = `translate(${x}, ${y}) scale(${scaleX}, ${scaleY})`;
      image.style.clipPath = common && image.closest("[data-lens=d]") ? cut(common, frame) : "";
      image.style.imageRendering = view.zoom >= 4 ? "pixelated" : "auto";
    });
    document.getElementById("zoom").textContent = `${view.zoom}x`;
  }

  function zoom(by) {
    view.zoom = by ? Math.min(32, Math.max(1, view.zoom * by)) : 1;
    move();
  }

  Object.entries(sliders).forEach(([side, slider]) => {
    slider.addEventListener("input", () => set(side, slider.value), { signal });
  });
  if (aligned) aligned.addEventListener("change", () => { tell(); move(); }, { signal });
  section.querySelectorAll("[data-zoom]").forEach((button) => {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)), { signal });
  });
  document.getElementById("gain").addEventListener("change", (event) => {
    section.querySelector("[data-lens=d]").style.filter = `brightness(${event.target.value})`;
  }, { signal });

  lenses.forEach((lens) => {
    let held = null;
    lens.addEventListener("pointerdown", (event) => {
      if (view.zoom === 1) return;
      held = { x: event.clientX, y: event.clientY };
      lens.setPointerCapture(event.pointerId);
    }, { signal });
    lens.addEventListener("pointermove", (event) => {
      if (!held) return;
      const box = lens.getBoundingClientRect();
      view.x -= (event.clientX - held.x) / box.width / view.zoom;
      view.y -= (event.clientY - held.y) / box.height / view.zoom;
      held = { x: event.clientX, y: event.clientY };
      move();
    }, { signal });
    ["pointerup", "pointercancel"].forEach((name) => lens.addEventListener(name, () => { held = null; }, { signal }));
    lens.addEventListener("dblclick", (event) => {
      const box = lens.getBoundingClientRect();
      view.x += ((event.clientX - box.left) / box.width - 0.5) / view.zoom;
      view.y += ((event.clientY - box.top) / box.height - 0.5) / view.zoom;
      zoom(2);
    }, { signal });
    lens.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const step = 0.2 / view.zoom;
      const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
      const by = { "+": 2, "=": 2, "-": 0.5, 0: 0 }[event.key];
      if (by === undefined && !right && !down) return;
      event.preventDefault();
      view.x += right * step;
      view.y += down * step;
      if (by === undefined) move();
      else zoom(by);
    }, { signal });
  });

  // The right image follows the turn that is chosen above; the left one stays where it was put.
  let waits = stops.at(-1).key === "waiting";
  document.addEventListener("turn-selected", (event) => {
    if (!waits) set("b", stops.findIndex((stop) => stop.key === event.detail.key));
    waits = false; // what is chosen as the page opens is not the reader's choice
  }, { signal });
  const kept = turngate.kept.compare;
  set("a", kept ? Math.max(0, stops.findIndex((stop) => stop.key === kept)) : 0);
  set("b", stops.length - 1);
  sliders.a.addEventListener("change", () => { turngate.kept.compare = stopOf("a").key; }, { signal });
});
