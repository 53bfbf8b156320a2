"""Labels by keyboard in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pages.browser import Visit, needs_chromium

from turngate import RunView
from turngate.traces.analysis.labels import read_labels

from ._viewing import Viewer

pytestmark = needs_chromium


def test_labels_are_given_by_key(visit: Visit, viewer: Viewer, root: Path) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    page.get_by_role("link", name="first").click()
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    page.locator(".timeline [data-turn='2']").click()
    for key in ("d", "6", "f"):
        page.keyboard.press(key)
    opened.until("document.activeElement.id === 'failure'")
    page.keyboard.type("new dots")
    page.keyboard.press("Enter")
    opened.until("document.getElementById('labels-message').textContent === 'saved'")
    run = RunView.load(root / "first")
    row = read_labels(root / "labels.csv").of(run).candidates[2, 2]
    assert (row.damaged, row.labels, row.failure, row.by) == (True, ("persistent_noise",), "new dots", "me")
    page.keyboard.press("n")
    opened.until("location.hash === '#t3a1'")
    page.keyboard.press("s")
    opened.until("document.querySelector('[data-damaged=false]').getAttribute('aria-pressed') === 'true'")
    opened.until("document.getElementById('labels-message').textContent === 'saved'")
    page.reload()
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    page.locator(".timeline [data-turn='2']").click()
    assert page.locator("[data-damaged=true]").get_attribute("aria-pressed") == "true"
    assert page.locator("#failure").input_value() == "new dots"
    assert page.locator(".cell.labelled").count() == 1
    assert opened.complaints == []


def test_the_gate_and_the_truth_can_be_hidden_from_who_labels(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    opened.page.get_by_role("link", name="first").click()
    opened.page.wait_for_selector("#detail h3")
    opened.page.locator("#blind").check()
    assert opened.page.locator("#detail img").first.is_visible()
    for place in (".timeline", ".film", "#detail", "#compare"):
        words = opened.page.locator(place).inner_text()  # of what is visible
        assert not re.search("caught|propagated|passed|alarm|accepted|rejected|damaged", words), (place, words)
    for hidden in ("#detail .badge", "#detail .reason", "#detail .truth", "#detail .scores", "h1", ".fates"):
        assert not opened.page.locator(hidden).first.is_visible(), hidden


@pytest.mark.parametrize("held", ["#blind", "#scrub"])
def test_keys_label_after_a_box_was_ticked_or_a_slider_moved(
    visit: Visit, viewer: Viewer, root: Path, held: str
) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    page.get_by_role("link", name="first").click()
    page.wait_for_selector("#detail h3")
    page.locator(".timeline [data-turn='5']").click()
    page.locator(held).focus()
    page.keyboard.down("s")
    page.keyboard.down("s")  # repeats while it is held, and must not take the label back
    page.keyboard.up("s")
    opened.until("document.getElementById('labels-message').textContent === 'saved'")
    row = read_labels(root / "labels.csv").of(RunView.load(root / "first")).candidates[5, 2]
    assert row.damaged is False
    page.keyboard.press("s")
    opened.until("document.querySelector('[data-damaged=false]').getAttribute('aria-pressed') === 'false'")
    opened.until("document.getElementById('labels-message').textContent === 'saved'")
