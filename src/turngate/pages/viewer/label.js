"use strict";
// Labels of images, one at a time. The queue stays as it was when the page was loaded, and a key does nothing unless the
// image that it would label is loaded and in view.
(() => {
  try {
    document.getElementById("to-list").search = sessionStorage.getItem("turngate-list") || "";
  } catch {
    // Without storage the way back leads to the whole list.
  }
  const { queue, given, no_labels: problem } = JSON.parse(document.getElementById("tools").textContent);
  if (!queue.length) return;
  const base = document.getElementById("viewer-base").dataset.base;
  const at = (id) => document.getElementById(id);
  const desk = at("desk");
  const words = at("failure");
  const choices = [...document.querySelectorAll(".choice")];
  const open = at("open");
  let index = Math.max(0, queue.findIndex((one) => !(one.image in given)));
  let compared = "origin";
  let saving = Promise.resolve();
  let owed = 0;

  const address = (kind, sha) => `${base}/${kind}/${queue[index].key}/${sha}`;
  const labelOf = (image) => given[image] || { damaged: null, labels: [], failure: "" };
  const says = (label) => label.damaged !== null || label.labels.length > 0 || label.failure !== "";

  // --- what is in view ------------------------------------------------------------------------------------------
  function arm() {
    const image = at("candidate");
    const shown = image.complete && image.naturalWidth > 0 && image.src === new URL(address("image", queue[index].image), location.href).href;
    desk.dataset.armed = String(shown && !problem);
    choices.forEach((button) => { button.disabled = !button.dataset.go && desk.dataset.armed !== "true"; });
    words.disabled = desk.dataset.armed !== "true";
  }

  function paint() {
    const label = labelOf(queue[index].image);
    choices.forEach((button) => {
      const { damaged, label: name, go } = button.dataset;
      if (go) return;
      const on = damaged !== undefined ? String(label.damaged) === damaged : label.labels.includes(name);
      button.setAttribute("aria-pressed", String(on));
    });
    words.value = label.failure;
    const done = queue.filter((one) => one.image in given).length;
    at("place").textContent = `image ${index + 1} of ${queue.length}, ${done} with your label.`;
  }

  function show(next) {
    index = next;
    const one = queue[index];
    at("candidate").src = address("image", one.image);
    at("instruction").textContent = one.instruction ? `Asked for: ${one.instruction}` : "";
    at("message").textContent = problem;
    compare(compared);
    paint();
    arm();
    about();
    const following = queue[index + 1];
    if (following) new Image().src = `${base}/image/${following.key}/${following.image}`;
  }

  function compare(what) {
    compared = what;
    at("other").src = address("image", queue[index][what]);
    at("other-name").textContent = what === "origin" ? "Origin" : "Edited from";
  }

  async function about() {
    const list = at("about");
    list.hidden = !open.checked;
    list.replaceChildren();
    if (!open.checked) return;
    const one = queue[index];
    const answer = await fetch(address("about", one.image));
    if (!answer.ok || one !== queue[index]) return;
    const { places } = await answer.json();
    list.replaceChildren(...places.map((place) => {
      const item = document.createElement("li");
      const scores = Object.entries(place.scores).map(([name, value]) => `${name} ${Number(value).toPrecision(4)}`);
      item.textContent = [place.place, `gate: ${place.gate}`, `truth: ${place.truth}`, ...scores].join("; ");
      return item;
    }));
  }

  at("candidate").addEventListener("load", arm);
  at("candidate").addEventListener("error", () => {
    at("message").textContent = "this image cannot be shown, and is not labelled: N goes on";
    arm();
  });
  open.addEventListener("change", about);

  // --- verdicts -------------------------------------------------------------------------------------------------
  function remember(image, label) {
    if (says(label)) given[image] = label;
    else delete given[image];
    if (image === queue[index].image) paint();
  }

  // Shown at once, so that the next key builds on it; written one after the other.
  function keep(label) {
    const { image, key } = queue[index];
    const before = labelOf(image);
    remember(image, label);
    at("message").textContent = "saving ...";
    owed += 1;
    saving = saving.then(async () => {
      let said = "saved";
      try {
        const answer = await fetch(`${base}/label/${key}`, {
          method: "POST", body: JSON.stringify({ image, ...label }), headers: { "Content-Type": "application/json" },
        });
        if (!answer.ok) throw new Error((await answer.json()).error);
      } catch (error) {
        remember(image, before);
        said = `not saved: ${error.message}`;
      }
      owed -= 1;
      if (!owed || said !== "saved") at("message").textContent = said;
    });
  }

  function zoom(button) {
    const on = at("stage").classList.toggle("actual");
    button.setAttribute("aria-pressed", String(on));
  }

  function go(button) {
    const where = button.dataset.go;
    if (where === "zoom") zoom(button);
    else if (where === "back") show(Math.max(0, index - 1));
    else {
      const order = [...queue.keys()];
      const next = [...order.slice(index + 1), ...order.slice(0, index + 1)].find((one) => !(queue[one].image in given));
      if (next === undefined) at("message").textContent = "every image has your label";
      else show(next);
    }
  }

  function choose(button) {
    if (button.dataset.go) {
      go(button);
      return;
    }
    if (desk.dataset.armed !== "true") return;
    const label = { ...labelOf(queue[index].image) };
    const { damaged, label: name } = button.dataset;
    if (damaged !== undefined) label.damaged = String(label.damaged) === damaged ? null : damaged === "true";
    else label.labels = label.labels.includes(name) ? label.labels.filter((one) => one !== name) : [...label.labels, name];
    keep(label);
  }

  choices.forEach((button) => button.addEventListener("click", () => choose(button)));
  words.addEventListener("change", () => {
    if (desk.dataset.armed === "true") keep({ ...labelOf(queue[index].image), failure: words.value.trim() });
  });
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") words.blur();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input:not([type=checkbox])")) return;
    if (event.repeat || event.altKey || event.ctrlKey || event.metaKey) return;
    const sign = event.key.toLowerCase();
    if (sign === "e") compare(compared === "origin" ? "from" : "origin");
    else if (sign === "f" && !words.disabled) {
      event.preventDefault();
      words.focus();
    } else {
      const button = choices.find((one) => one.querySelector("kbd").textContent.toLowerCase() === sign);
      if (button) choose(button);
    }
  });
  // Both panes show the same place.
  const panes = [...document.querySelectorAll(".pane")];
  panes.forEach((pane, number) => pane.addEventListener("scroll", () => {
    const other = panes[1 - number];
    if (other.scrollLeft !== pane.scrollLeft) other.scrollLeft = pane.scrollLeft;
    if (other.scrollTop !== pane.scrollTop) other.scrollTop = pane.scrollTop;
  }));

  show(index);
})();
