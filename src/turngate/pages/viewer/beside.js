"use strict";
// The page of runs side by side: thumbnails from the page's data, and one turn of all runs in full size.
(() => {
  const at = (id) => document.getElementById(id);
  const thumbnails = JSON.parse(at("thumbnails").textContent);
  document.querySelectorAll("img[data-image]").forEach((image) => { image.src = thumbnails[image.dataset.image]; });
  try {
    at("to-list").search = sessionStorage.getItem("turngate-list") || "";
  } catch {
    // Without storage the way back leads to the whole list.
  }
  const base = at("viewer-base").dataset.base;
  const { runs } = JSON.parse(at("tools").textContent);
  const slider = at("flip-turn");

  function show() {
    const turn = Number(slider.value);
    at("flip-at").textContent = turn ? String(turn) : "0, the origin";
    document.querySelectorAll("#flip img").forEach((image) => {
      const { key, images } = runs[Number(image.dataset.run)];
      const here = Math.min(turn, images.length - 1);
      const address = `${base}/image/${key}/${images[here]}`;
      if (image.getAttribute("src") !== address) image.src = address;
      image.parentElement.querySelector(".soft").textContent = here < turn ? `ends at turn ${here}` : "";
    });
  }
  slider.addEventListener("input", show);
  at("flip").hidden = false;
  show();
})();
