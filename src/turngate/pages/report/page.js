"use strict";
// What every page begins with: its pictures, and a register of parts that the viewer can start again.
window.turngate = (() => {
  const parts = [];
  let stopped = new AbortController();
  let thumbnails = {};

  // Thumbnails stand in the page once, as data; each image gets its own, and the full one where it is wanted.
  function show(image, full) {
    const small = thumbnails[image.dataset.image];
    if (small) image.src = small;
    if (!full || !image.dataset.full) return;
    const whole = new Image();
    whole.addEventListener("load", () => { image.src = whole.src; });
    // A report that was sent on without its run folder still shows the small picture, and says that it is small.
    whole.addEventListener("error", () => {
      const figure = image.closest("figure");
      if (figure) figure.classList.add("small");
    });
    whole.src = image.dataset.full;
  }

  let times = 0;

  function start() {
    times += 1;
    stopped.abort();
    stopped = new AbortController();
    thumbnails = JSON.parse(document.getElementById("thumbnails").textContent);
    document.querySelectorAll("img[data-image]").forEach((image) => show(image, true));
    parts.forEach((part) => part(stopped.signal));
  }

  // `kept` is what a part wants to find again after the page was brought up to date.
  return { show, start, part: (begin) => parts.push(begin), small: (sha) => thumbnails[sha], again: () => times > 1, kept: {} };
})();
