"use strict";
// The viewer's tools on the page of a run: it goes on while the run does, and takes a review.
(() => {
  try {
    document.getElementById("to-list").search = sessionStorage.getItem("turngate-list") || "";
  } catch {
    // Without storage the way back leads to the whole list.
  }
  const base = document.getElementById("viewer-base").dataset.base;
  const note = document.getElementById("note");
  if (note) {
    note.addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = document.getElementById("note-message");
      const tags = document.getElementById("note-tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
      const body = JSON.stringify({ tags, note: document.getElementById("note-text").value });
      try {
        const headers = { "Content-Type": "application/json" };
        const answer = await fetch(`${base}/note/${note.dataset.key}`, { method: "POST", body, headers });
        if (!answer.ok) throw new Error((await answer.json()).error);
        said.textContent = "kept";
      } catch (error) {
        said.textContent = `not kept: ${error.message}`;
      }
    });
  }
  const place = document.getElementById("tools");
  if (!place) return;
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
    const text = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.getElementById("tools")) return;
    const followed = document.getElementById("follow")?.checked;
    const top = window.scrollY;
    const noted = document.getElementById("noted"); // what is being written there stays, and its listener
    if (noted) fresh.getElementById("noted").replaceWith(noted);
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
