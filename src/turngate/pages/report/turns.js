"use strict";
// Steps through turns: click, arrow keys, slider, or an address like #t12a1.
turngate.part((signal) => {
  const { show } = turngate;
  const section = document.querySelector("[data-telling]");
  if (!section) return;
  const detail = document.getElementById("detail");
  const spoken = document.getElementById("spoken");
  const scrub = document.getElementById("scrub");
  const film = section.querySelector(".film");
  const cells = [...section.querySelectorAll(".timeline .cell")];
  const keys = [...section.querySelectorAll("template")].map((template) => template.id);
  const turnOf = (key) => Number(key.slice(1).split("a")[0]);
  let selected = null;
  let fullLater = 0;

  function select(key, { speak = true } = {}) {
    const template = document.getElementById(key);
    if (!template || key === selected) return;
    selected = key;
    const held = detail.contains(document.activeElement);
    detail.replaceChildren(template.content.cloneNode(true));
    const images = detail.querySelectorAll("img[data-image]");
    images.forEach((image) => show(image, false));
    // Scrubbing runs over many turns; the full images are asked for where it rests.
    clearTimeout(fullLater);
    fullLater = setTimeout(() => images.forEach((image) => show(image, true)), 120);
    if (held) detail.focus({ preventScroll: true });
    const turn = turnOf(key);
    const place = cells.findIndex((cell) => Number(cell.dataset.turn) === turn);
    scrub.value = place + 1;
    scrub.setAttribute("aria-valuetext", `turn ${turn}`);
    cells.forEach((cell, index) => {
      cell.tabIndex = index === place ? 0 : -1;
      if (index === place) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    });
    film.querySelectorAll("[aria-current]").forEach((item) => item.removeAttribute("aria-current"));
    film.querySelectorAll(`[data-select="${key}"]`).forEach((item) => item.setAttribute("aria-current", "true"));
    film.querySelectorAll(".frame").forEach((frame) => {
      const here = Number(frame.dataset.turn) === turn;
      frame.classList.toggle("here", here);
      if (here) film.scrollLeft = frame.offsetLeft - film.offsetLeft - (film.clientWidth - frame.clientWidth) / 2;
    });
    const cell = cells[place];
    const timeline = cell.parentElement;
    const below = cell.offsetTop - timeline.offsetTop;
    if (below < timeline.scrollTop || below > timeline.scrollTop + timeline.clientHeight - cell.clientHeight) {
      timeline.scrollTop = below - timeline.clientHeight / 2;
    }
    if (speak) spoken.textContent = template.dataset.words;
    document.dispatchEvent(new CustomEvent("turn-selected", { detail: { key, turn } }));
  }

  function go(key) {
    select(key);
    try {
      history.replaceState(null, "", `#${key}`);
    } catch {
      // Some browsers forbid it for local files; the selection works without an address.
    }
  }

  function step(by) {
    const place = cells.findIndex((cell) => Number(cell.dataset.turn) === turnOf(selected));
    const next = cells[Math.min(cells.length - 1, Math.max(0, place + by))];
    if (next) go(next.dataset.select);
  }

  function stepAttempt(by) {
    const next = keys[keys.indexOf(selected) + by];
    if (next) go(next);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-select]");
    if (button) go(button.dataset.select);
    const stepper = event.target.closest("[data-step]");
    if (stepper) step(Number(stepper.dataset.step));
  }, { signal });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === scrub) return;
    // Elsewhere arrows belong to whatever has the focus, a scrolling table for instance.
    if (event.target !== document.body && !section.contains(event.target)) return;
    if (event.target.closest(".wide, .lens")) return;
    const ends = event.target.closest(".timeline") ? { Home: -cells.length, End: cells.length } : {};
    const by = { ArrowRight: 1, ArrowLeft: -1, ...ends }[event.key];
    if (!by) return;
    event.preventDefault();
    if (event.shiftKey) stepAttempt(Math.sign(by));
    else step(by);
    if (event.target.classList.contains("cell")) cells.find((cell) => cell.tabIndex === 0).focus();
  }, { signal });

  scrub.addEventListener("input", () => go(cells[scrub.value - 1].dataset.select));
  document.addEventListener("turn-picked", (event) => go(event.detail.key), { signal });

  function follow() {
    const key = location.hash.slice(1);
    // #t12 means the attempt that stands for the turn.
    const cell = cells.find((item) => `t${item.dataset.turn}` === key);
    const wanted = cell ? cell.dataset.select : key;
    if (!keys.includes(wanted)) return false;
    select(wanted);
    return true;
  }
  window.addEventListener("hashchange", () => { if (follow()) section.scrollIntoView(); }, { signal });
  // A page that was brought up to date while it is read stays where it is.
  if (!follow()) select(section.dataset.telling, { speak: false });
  else if (!turngate.again()) section.scrollIntoView();
});
