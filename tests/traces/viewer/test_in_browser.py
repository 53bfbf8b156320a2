"""`turngate view` as a person uses it: another process, a real browser, no network."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from tests.conftest import Config
from tests.e2e.conftest import TURNGATE
from tests.traces._browser import Visit, browser, needs_chromium, visits
from tests.traces._runs import HOSTILE, Writer, degraded, long_run, study_of

from turngate import RunView, continue_run, start_run
from turngate.graphs.runner import Review
from turngate.picture import encode_png
from turngate.traces.analysis.labels_file import read_labels

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

pytestmark = needs_chromium


@dataclass
class Viewer:
    """A running `turngate view`."""

    url: str
    process: subprocess.Popen[str]

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextmanager
def viewing(root: Path) -> Iterator[Viewer]:
    command = [TURNGATE, "view", str(root), "--no-browser", "--json", "--by", "me"]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=root
    ) as process:
        assert process.stdout is not None
        try:
            yield Viewer(json.loads(process.stdout.readline())["url"], process)
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    with browser(tmp_path_factory.mktemp("profile"), offline=False) as found:
        yield found


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Visit]:
    with visits(context) as go:
        yield go


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one of them in a study."""
    folder = tmp_path_factory.mktemp("viewed") / "runs"
    long_run(folder / "first", 6, 2, 64)
    long_run(folder / "study" / "no-gate", 6, 1, 64, simulated=False)
    study_of(folder / "study", {"no-gate": folder / "study" / "no-gate"}, "Does it decay?")
    return folder


@pytest.fixture(scope="module")
def viewer(root: Path) -> Iterator[Viewer]:
    with viewing(root) as found:
        yield found


def test_from_the_list_to_a_turn(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    assert page.locator("tbody tr").count() == 3
    page.locator("#q").fill("first")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=first**")
    assert page.locator("tbody tr").count() == 1
    page.locator("tbody a").click()
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    page.locator(".timeline [data-turn='4']").click()
    assert opened.heading() == "Turn 4, attempt 2 of 2"
    opened.until("[...document.querySelectorAll('#detail img')].every((i) => i.src.includes('/image/'))")
    opened.until("document.querySelector('#detail img').naturalWidth === 64")
    opened.until("[...document.images].filter((i) => i.src).every((i) => i.complete && i.naturalWidth)")
    assert opened.complaints == []
    assert opened.on_network(viewer.url) == []


def test_a_study_leads_to_its_runs(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    opened.page.locator("#kind").select_option("study")
    opened.page.get_by_role("button", name="Show").click()
    opened.page.wait_for_url("**kind=study**")
    opened.page.locator("tbody a").click()
    opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
    assert opened.page.locator("h1").inner_text() == "Does it decay?"
    opened.page.locator("#runs tbody a").click()
    opened.page.wait_for_selector("#detail h3")
    assert "/run/" in opened.page.url
    assert opened.complaints == [] and opened.on_network(viewer.url) == []


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
    opened.until("document.getElementById('labels-said').textContent === 'saved'")
    run = RunView.load(root / "first")
    row = read_labels(root / "labels.csv").of(run).candidates[2, 2]
    assert (row.damaged, row.labels, row.failure, row.by) == (True, ("persistent_noise",), "new dots", "me")
    page.keyboard.press("n")
    opened.until("location.hash === '#t3a1'")
    page.keyboard.press("s")
    opened.until("document.querySelector('[data-damaged=false]').getAttribute('aria-pressed') === 'true'")
    opened.until("document.getElementById('labels-said').textContent === 'saved'")
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
    for hidden in ("#detail .badge", "#detail .reason", "#detail .truth", "#detail .scores", "h1", ".fates"):
        assert not opened.page.locator(hidden).first.is_visible(), hidden
    assert opened.page.locator("#detail img").first.is_visible()


def test_the_page_goes_on_with_the_run(visit: Visit, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "runs" / "live", size=48, turns=9)

    def attempt(turn: int) -> None:
        picture = encode_png(degraded(writer.origin, 0.1 * turn, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.1 * turn)

    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="live").click()
        opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
        assert "No turn was closed yet" in opened.page.locator("h1").inner_text()
        attempt(1)
        opened.until("document.querySelectorAll('.timeline .cell').length === 1")
        opened.page.locator("#follow").check()
        attempt(2)
        attempt(3)
        opened.until("document.querySelector('.timeline [aria-current]')?.dataset.turn === '3'")
        opened.until("document.querySelectorAll('.chart .main-svg').length >= 3")
        opened.page.locator("#follow").uncheck()
        opened.page.locator(".timeline [data-turn='1']").click()
        attempt(4)
        opened.until("document.querySelectorAll('.timeline .cell').length === 4")
        assert opened.current() == "1", "a reader who does not follow stays where they are"
        writer.close()
        assert opened.complaints == []


def test_a_review_lets_the_run_go_on(visit: Visit, tmp_path: Path, config: Config) -> None:
    run = config(turns=2, gate={"type": "always_reject"}, on_reject={"attempts": 1, "then": "ask_human"})
    folder = tmp_path / "runs" / "asks"
    assert start_run(run, folder).status == "waiting"
    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="asks").click()
        opened.page.wait_for_selector("#review")
        assert opened.violations() == []
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
        opened.until("document.getElementById('review-said').textContent.includes('never_heard_of')")
        (folder / "run.json").write_text(held)
    assert continue_run(folder, review=Review(accept=True)).worked


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_stands_in_the_way_of_anyone(
    visit: Visit, viewer: Viewer, width: int, scheme: Literal["light", "dark"]
) -> None:
    opened = visit(viewer.url, drawn=False)
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    assert opened.violations() == []
    opened.until(f"document.documentElement.scrollWidth === {width}")
    for name in ("first", "study"):
        opened.page.goto(viewer.url)
        opened.page.get_by_role("link", name=name, exact=True).click()
        opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
        assert opened.violations() == []
        opened.until(f"document.documentElement.scrollWidth === {width}")
    assert opened.complaints == []


def test_hostile_text_does_nothing(visit: Visit, tmp_path: Path) -> None:
    name = f"judge {HOSTILE}"
    folder = tmp_path / "runs" / HOSTILE.replace("/", "|")[:90]
    writer = Writer(folder, size=48, turns=1, evaluators={name: "higher"})
    writer.attempt(
        1, image=encode_png(degraded(writer.origin, 0.1, 1)), reason=HOSTILE, instruction=HOSTILE, reasoning=HOSTILE,
        scores={name: {"status": "failed", "why": HOSTILE, "fault": "us", "detail": HOSTILE}}, model=HOSTILE,
    )  # fmt: skip
    writer.close("stopped", HOSTILE)
    study_of(tmp_path / "runs" / "study", {HOSTILE: folder}, HOSTILE, HOSTILE, HOSTILE)
    with viewing(tmp_path / "runs") as viewer:
        for link in ("tbody a[href*='/run/']", "tbody a[href*='/study/']"):
            opened = visit(viewer.url, drawn=False)
            opened.page.locator(link).click()
            opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
            assert opened.page.title() != "owned"
            assert opened.complaints == [], "nothing ran, nothing was even blocked"
            assert opened.on_network(viewer.url) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(root: Path, number: signal.Signals) -> None:
    with viewing(root) as viewer:
        assert viewer.stop(number) == 0
        assert viewer.process.stderr is not None and viewer.process.stderr.read() == ""
