"use strict";
// The page of a study: which contact sheet is shown, and which runs are listed in which order.
turngate.part((signal) => {
  const choice = document.getElementById("sheet");
  if (choice) {
    choice.addEventListener("change", () => {
      document.querySelectorAll("[data-sheet]").forEach((sheet) => {
        sheet.hidden = sheet.dataset.sheet !== choice.value;
      });
    }, { signal });
  }

  const table = document.getElementById("runs");
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const count = document.getElementById("runs-shown");
  document.getElementById("runs-filter").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${rows.length === 1 ? "run" : "runs"}`;
  }, { signal });

  const value = (row, place) => {
    const text = row.cells[place].dataset.value ?? row.cells[place].textContent.trim();
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    table.tHead.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort((a, b) => {
      const [one, other] = [value(a, head.cellIndex), value(b, head.cellIndex)];
      // Numbers before words: a cell without a value stands last, whichever way.
      if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
      const order = typeof one === "number" ? one - other : one.localeCompare(other);
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  }, { signal });
});
