"use strict";
// The viewer's tools on the page of a run: it goes on while the run does, takes labels by key, and a review.
(() => {
  try {
    document.getElementById("to-list").search = sessionStorage.getItem("turngate-list") || "";
  } catch {
    // Without storage the way back leads to the whole list.
  }
  const place = document.getElementById("tools");
  if (!place) return;
  const base = document.getElementById("viewer-base").dataset.base;
  let tools = JSON.parse(place.textContent);

  async function send(path, body) {
    const options = body === undefined ? {} : {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
    };
    const answer = await fetch(`${base}/${path}/${tools.key}`, options);
    const message = await answer.json();
    if (!answer.ok) throw new Error(message.error || `the viewer answered ${answer.status}`);
    return message;
  }

  // --- live -----------------------------------------------------------------------------------------------------
  const OPEN = ["running", "waiting", "interrupted"];
  let version = tools.version;
  let follow = null;

  function addFollow() {
    if (!OPEN.includes(tools.status)) return;
    const kicker = document.querySelector(".kicker");
    const label = document.createElement("label");
    label.className = "follow";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.id = "follow";
    box.checked = follow ?? tools.status === "running";
    box.addEventListener("change", () => { follow = box.checked; });
    label.append(box, " follow the run");
    kicker.append(label);
  }

  const busy = () => {
    const at = document.activeElement;
    return Boolean(at && at.closest("main") && at.matches("input[type=search], input[type=text], textarea, select"));
  };

  async function refresh() {
    await saving; // or the page would come back without what is being written
    const text = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.getElementById("tools")) return;
    const followed = document.getElementById("follow")?.checked;
    const top = window.scrollY;
    document.querySelector("main").replaceWith(fresh.querySelector("main"));
    ["thumbnails", "figures", "tools"].forEach((name) => {
      document.getElementById(name).textContent = fresh.getElementById(name).textContent;
    });
    document.title = fresh.title;
    tools = JSON.parse(document.getElementById("tools").textContent);
    version = tools.version;
    if (followed && tools.last) history.replaceState(null, "", `#${tools.last}`);
    window.turngate.start();
    window.scrollTo(0, top);
    addFollow();
    begin();
  }

  async function watch() {
    const began = performance.now();
    try {
      const now = await send("state");
      if (now.version !== version && !busy()) await refresh();
    } catch {
      // The viewer was stopped, or restarts: ask again later.
    }
    const pause = document.hidden ? 5000 : OPEN.includes(tools.status) ? 1000 : 4000;
    // The page of a long run takes a while to make, on the machine that the run needs.
    setTimeout(watch, Math.max(pause, 5 * (performance.now() - began)));
  }

  // --- labels ---------------------------------------------------------------------------------------------------
  const panel = document.getElementById("labels");
  const message = document.getElementById("labels-message");
  const words = document.getElementById("failure");
  const choices = [...panel.querySelectorAll(".choice")];
  let chosen = null;
  let saving = Promise.resolve();
  let waitingSaves = 0;

  const labelOf = (key) => tools.given[key] || { damaged: null, labels: [], failure: "" };

  function paint() {
    const label = labelOf(chosen);
    choices.forEach((button) => {
      const { damaged, label: name } = button.dataset;
      const on = damaged !== undefined ? String(label.damaged) === damaged : label.labels.includes(name);
      button.setAttribute("aria-pressed", String(on));
    });
    words.value = label.failure;
    document.querySelectorAll(".timeline .cell").forEach((cell) => {
      cell.classList.toggle("labelled", cell.dataset.select in tools.given);
    });
  }

  function remember(key, label) {
    if (!label || (label.damaged === null && !label.labels.length && !label.failure)) delete tools.given[key];
    else tools.given[key] = label;
    if (key === chosen) paint();
  }

  // Shown at once, so that the next key builds on it; written one after the other.
  function keep(key, label) {
    const before = tools.given[key];
    const [turn, attempt] = key.slice(1).split("a").map(Number);
    remember(key, label);
    message.textContent = "saving ...";
    waitingSaves += 1;
    saving = saving.then(async () => {
      try {
        await send("label", { turn, attempt, ...label });
        waitingSaves -= 1;
        if (!waitingSaves) message.textContent = "saved";
      } catch (error) {
        waitingSaves -= 1;
        remember(key, before);
        message.textContent = `not saved: ${error.message}`;
      }
    });
  }

  function choose(button) {
    if (!chosen) return;
    const label = { ...labelOf(chosen) };
    const { damaged, label: name } = button.dataset;
    if (damaged !== undefined) label.damaged = String(label.damaged) === damaged ? null : damaged === "true";
    else label.labels = label.labels.includes(name) ? label.labels.filter((one) => one !== name) : [...label.labels, name];
    keep(chosen, label);
  }

  words.addEventListener("change", () => {
    if (chosen) keep(chosen, { ...labelOf(chosen), failure: words.value.trim() });
  });
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") words.blur();
  });

  document.addEventListener("turn-selected", (event) => {
    const template = document.getElementById(event.detail.key);
    const labelled = tools.candidates.includes(event.detail.key);
    panel.hidden = !labelled;
    chosen = labelled ? event.detail.key : null;
    document.getElementById("labels-place").textContent = template.dataset.place;
    message.textContent = tools.no_labels;
    paint();
  });
  panel.addEventListener("click", (event) => {
    const button = event.target.closest(".choice");
    if (button) choose(button);
  });
  const fold = document.getElementById("labels-fold");
  const folded = document.getElementById("labels-body");
  const setFold = (hidden) => {
    folded.hidden = hidden;
    fold.setAttribute("aria-expanded", String(!hidden));
    fold.textContent = hidden ? "label" : "hide";
  };
  fold.addEventListener("click", () => setFold(!folded.hidden));
  setFold(matchMedia("(max-width: 44rem)").matches); // a small screen is for the images first
  document.getElementById("blind").addEventListener("change", (event) => {
    document.body.classList.toggle("blind", event.target.checked);
  });
  document.addEventListener("keydown", (event) => {
    // A box that was just ticked and a slider that was just moved keep the focus, but take no letters.
    if (event.target.matches("input:not([type=checkbox], [type=range]), textarea, select")) return;
    if (panel.hidden || event.repeat || event.altKey || event.ctrlKey || event.metaKey) return;
    const sign = event.key.toLowerCase();
    if (sign === "n") {
      const order = tools.candidates;
      const from = order.indexOf(chosen) + 1;
      const next = [...order.slice(from), ...order.slice(0, from)].find((key) => !(key in tools.given));
      if (next) document.dispatchEvent(new CustomEvent("turn-picked", { detail: { key: next } }));
      else message.textContent = "every candidate has a label";
      return;
    }
    if (sign === "f") {
      event.preventDefault();
      setFold(false);
      words.focus();
      return;
    }
    const button = choices.find((one) => one.querySelector("kbd").textContent.toLowerCase() === sign);
    if (button) choose(button);
  });

  // --- review ---------------------------------------------------------------------------------------------------
  function begin() {
    const form = document.getElementById("review");
    if (!form) return;
    form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const message = document.getElementById("review-message");
      const buttons = [...form.querySelectorAll("button")];
      buttons.forEach((button) => { button.disabled = true; });
      message.textContent = "the run goes on ...";
      try {
        await send("review", { accept: event.submitter.value === "accept", comment: form.elements.comment.value,
          by: form.elements.by.value,
          turn: tools.review.turn, attempt: tools.review.attempt });
        form.elements.comment.blur();
        form.elements.by.blur();
      } catch (error) {
        message.textContent = error.message;
        buttons.forEach((button) => { button.disabled = false; });
      }
    });
  }

  addFollow();
  begin();
  setTimeout(watch, 1000);
})();
