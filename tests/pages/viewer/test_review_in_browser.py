"""A run that waits, decided in a real browser."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Config
from tests.pages.browser import Visit, needs_chromium

from turngate import RunView, continue_run, start_run
from turngate.graphs.work import Review

from ._viewing import viewing

pytestmark = needs_chromium


def test_a_review_lets_the_run_go_on(visit: Visit, tmp_path: Path, config: Config) -> None:
    run = config(turns=2, gate={"type": "always_reject"}, on_reject={"attempts": 1, "then": "ask_human"})
    folder = tmp_path / "runs" / "asks"
    assert start_run(run, folder).status == "waiting"
    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="asks").click()
        opened.page.wait_for_selector("#review")
        assert opened.violations() == []
        opened.page.emulate_media(color_scheme="dark")
        opened.page.set_viewport_size({"width": 390, "height": 900})
        assert opened.violations() == []
        opened.until("document.documentElement.scrollWidth === 390")
        opened.page.locator("#comment").fill("as good as it gets")
        opened.page.get_by_role("button", name="Accept").click()
        opened.until("document.body.textContent.includes('turn 2, attempt 1 waits for a person')")
        opened.page.get_by_role("button", name="Reject").click()
        opened.until("document.querySelector('.state').textContent === 'complete'")
        assert opened.complaints == []
    view = RunView.load(folder)
    assert [attempt.decision.verdict for attempt in view.attempts] == ["accept", "reject"]
    reviews = [event.data for event in view.events if event.kind == "review"]
    assert [(one["accept"], one["comment"]) for one in reviews] == [(True, "as good as it gets"), (False, "")]
    assert (folder / "report.html").exists()


def test_a_run_that_cannot_go_on_says_why(visit: Visit, tmp_path: Path, config: Config) -> None:
    run = config(turns=2, gate={"type": "always_reject"}, on_reject={"attempts": 1, "then": "ask_human"})
    folder = tmp_path / "runs" / "asks"
    start_run(run, folder)
    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="asks").click()
        opened.page.wait_for_selector("#review")
        held = (folder / "run.json").read_text()
        (folder / "run.json").write_text(held.replace('"type": "always_reject"', '"type": "never_heard_of"'))
        opened.page.get_by_role("button", name="Accept").click()
        opened.until("document.getElementById('review-message').textContent.includes('never_heard_of')")
        (folder / "run.json").write_text(held)
    assert continue_run(folder, review=Review(accept=True)).worked
