"use strict";
// The list keeps up with the folder, and the other pages lead back to it as it was filtered.
(() => {
  const form = document.getElementById("filter");

  // What is left open does not stand in the address.
  form.addEventListener("submit", () => {
    const fields = [...form.elements].filter((field) => field.name && !field.value);
    fields.forEach((field) => { field.disabled = true; });
    setTimeout(() => fields.forEach((field) => { field.disabled = false; }));
  });
  form.addEventListener("change", (event) => {
    if (event.target.matches("select")) form.requestSubmit();
  });
  // Coming back through history, a browser may bring other choices than those that the address names.
  window.addEventListener("pageshow", () => form.reset());

  try {
    sessionStorage.setItem("turngate-list", location.search);
  } catch {
    // Without storage the way back leads to the whole list.
  }

  const waits = () => {
    const found = document.getElementById("found");
    return found.dataset.waits === "1" || found.querySelector(".state.running") !== null;
  };

  async function refresh() {
    const text = await (await fetch(location.href)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("found");
    const old = document.getElementById("found");
    if (!fresh || fresh.innerHTML === old.innerHTML) return;
    const ticked = new Set([...old.querySelectorAll("input[name=run]:checked")].map((one) => one.value));
    fresh.querySelectorAll("input[name=run]").forEach((one) => { one.checked = ticked.has(one.value); });
    const held = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const table = old.querySelector(".table");
    const left = table ? table.scrollLeft : 0;
    old.replaceWith(fresh);
    const link = held && [...fresh.querySelectorAll("a")].find((one) => one.getAttribute("href") === held);
    if (link) link.focus({ preventScroll: true });
    const now = fresh.querySelector(".table");
    if (now) now.scrollLeft = left;
  }

  async function watch() {
    const began = performance.now();
    try {
      await refresh();
    } catch {
      // The viewer was stopped, or restarts: ask again later.
    }
    // A folder that takes long to list is listed less often.
    const pause = Math.max(document.hidden ? 30000 : waits() ? 2000 : 8000, 20 * (performance.now() - began));
    setTimeout(watch, pause);
  }
  setTimeout(watch, waits() ? 1000 : 8000);
})();
