"""Labels by keyboard in a real browser: only what is in view can be labelled."""

from __future__ import annotations

from pathlib import Path

from tests.pages.browser import OpenedPage, Visit, needs_chromium
from tests.traces.runs import Writer, degraded

from turngate import RunView
from turngate.picture import encode_png
from turngate.traces.analysis.labels import LabelRow, label_queue, read_labels

from ._viewing import Viewer, viewing

pytestmark = needs_chromium
SAVED = "document.getElementById('message').textContent === 'saved'"
ARMED = "document.getElementById('desk').dataset.armed === 'true'"


def labelling(opened: OpenedPage, name: str) -> None:
    """Open the labelling page of a run from the list."""
    opened.page.get_by_role("link", name=name, exact=True).click()
    opened.page.get_by_role("link", name="Label its images").click()
    opened.until(ARMED)


def given(root: Path, run: RunView) -> dict[str, LabelRow]:
    """SHA-256 -> label."""
    labels = read_labels(root / "labels.csv").of(run)
    images = {(one.row.turn, one.row.attempt): str(one.row.image) for one in run.attempts}
    return {images[place]: row for place, row in labels.candidates.items()}


def test_labels_are_given_by_key(visit: Visit, viewer: Viewer, root: Path) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    labelling(opened, "first")
    run = RunView.load(root / "first")
    queue = [one.image for one in label_queue([run])]
    for key in ("d", "6", "f"):
        page.keyboard.press(key)
    opened.until("document.activeElement.id === 'failure'")
    page.keyboard.type("new dots")
    page.keyboard.press("Enter")
    opened.until(SAVED)
    row = given(root, run)[queue[0]]
    assert (row.damaged, row.labels, row.failure, row.by) == (True, ("persistent_noise",), "new dots", "me")
    page.keyboard.press("n")
    opened.until(ARMED)
    page.keyboard.down("s")
    page.keyboard.down("s")  # repeats while it is held, and must not take the label back
    page.keyboard.up("s")
    opened.until(SAVED)
    page.locator("#open").check()  # a box that was just ticked keeps the focus, but takes no letters
    page.wait_for_selector("#about li")
    assert "gate: " in page.locator("#about").inner_text()
    page.keyboard.press("b")
    opened.until("document.querySelector('[data-damaged=true]').getAttribute('aria-pressed') === 'true'")
    assert page.locator("#failure").input_value() == "new dots"
    page.reload()
    opened.until(ARMED)
    assert page.locator("#place").inner_text() == f"image 3 of {len(queue)}, 2 with your label."
    assert {image: row.damaged for image, row in given(root, run).items()} == {queue[0]: True, queue[1]: False}
    assert opened.complaints == []


def test_the_page_of_a_run_takes_no_labels(visit: Visit, viewer: Viewer, root: Path) -> None:
    before = (root / "labels.csv").read_bytes() if (root / "labels.csv").exists() else b""
    opened = visit(viewer.url, drawn=False)
    opened.page.get_by_role("link", name="first", exact=True).click()
    opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
    for key in ("d", "s", "1", "n", "f"):
        opened.page.keyboard.press(key)
    opened.page.wait_for_timeout(300)
    assert ((root / "labels.csv").read_bytes() if (root / "labels.csv").exists() else b"") == before


def test_both_images_and_the_keys_are_in_view_and_nothing_stands_in_the_way(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    labelling(opened, "first")
    for width, height in ((1280, 720), (1600, 1000)):
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.until(f"document.documentElement.scrollHeight === {height}")
        for place in ("#candidate", "#other", "[data-damaged=true]", "#failure"):
            box = opened.page.locator(place).bounding_box()
            assert box is not None and box["height"] > 20
            assert box["y"] >= 0 and box["y"] + box["height"] <= height, place
    assert opened.violations() == []
    opened.page.emulate_media(color_scheme="dark")
    opened.page.set_viewport_size({"width": 390, "height": 900})
    opened.until("document.documentElement.scrollWidth === 390")
    assert opened.violations() == []


def test_an_image_that_cannot_be_shown_is_not_labelled(visit: Visit, tmp_path: Path) -> None:
    """Its file is damaged after the run; the keys stay off until another image is in view."""
    writer = Writer(tmp_path / "runs" / "one", size=48, turns=2, evaluators={})
    for turn in (1, 2):
        writer.attempt(turn, image=encode_png(degraded(writer.origin, 0.1 * turn, turn)), scores={})
    run = RunView.load(writer.close())
    first, second = (one.image for one in label_queue([run]))
    (file,) = (run.folder.path / "images").rglob(f"{first}*")
    file.write_bytes(file.read_bytes()[:200])
    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="one", exact=True).click()
        opened.page.get_by_role("link", name="Label its images").click()
        opened.until("document.getElementById('message').textContent.startsWith('this image cannot be shown')")
        opened.page.keyboard.press("d")
        assert opened.page.locator("[data-damaged=true]").is_disabled()
        opened.page.keyboard.press("n")
        opened.until("document.getElementById('place').textContent.startsWith('image 2')")
        opened.until(ARMED)
        opened.page.keyboard.press("d")
        opened.until(SAVED)
    assert set(given(tmp_path / "runs", run)) == {second}
