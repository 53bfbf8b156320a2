"""The pages in a real browser, offline: they draw, answer to clicks and keys, and nothing in them acts by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from turngate.picture import encode_png
from turngate.traces.report.run_report import write_run_report
from turngate.traces.report.study_page import write_study_page

from ._runs import HOSTILE, Writer, degraded, long_run

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium"),
]

SWITCHES = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass
class Opened:
    """A page with what it complained about and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def on_network(self) -> list[str]:
        return [address for address in self.asked if not address.startswith(("file:", "data:", "blob:"))]

    def current(self) -> str | None:
        return self.page.locator(".timeline [aria-current]").get_attribute("data-turn")

    def heading(self) -> str:
        return self.page.locator("#detail h3").inner_text()

    def until(self, condition: str) -> None:
        """Wait for it; the page's policy forbids Playwright's own way, which needs eval."""
        for _ in range(100):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never became true: {condition}")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as driver:
        found = driver.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")), executable_path=str(CHROMIUM), args=SWITCHES, offline=True,
            viewport={"width": 1280, "height": 900},
        )  # fmt: skip
        yield found
        found.close()


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Any]:
    pages = []

    def go(path: Path, mark: str = "") -> Opened:
        opened = Opened(context.new_page())
        pages.append(opened.page)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.asked.append(request.url))
        opened.page.goto(path.as_uri() + mark, wait_until="load")
        opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
        return opened

    yield go
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run_report(long_run(tmp_path_factory.mktemp("runs") / "run", 24, 3, 96))


def test_report_draws_without_network_or_complaint(visit: Any, report: Path) -> None:
    opened = visit(report)
    assert opened.complaints == []
    assert opened.on_network() == []
    assert opened.page.locator(".chart .main-svg").count() >= 3
    broken = "[...document.images].filter((i) => i.complete && !i.naturalWidth).length"
    opened.until("[...document.images].every((i) => i.complete)")
    assert opened.page.evaluate(broken) == 0
    assert opened.current() == "15", "opens where the run collapsed"


def test_a_click_shows_the_turn_with_its_full_images(visit: Any, report: Path) -> None:
    opened = visit(report)
    opened.page.locator(".timeline [data-turn='5']").click()
    assert opened.heading() == "Turn 5, attempt 3 of 3"
    assert opened.page.url.endswith("#t5a3")
    opened.page.locator(".frame.here .try").nth(0).click()
    assert opened.heading() == "Turn 5, attempt 1 of 3"
    assert "rejected" in opened.page.locator("#spoken").inner_text()
    opened.until("[...document.querySelectorAll('#detail img')].every((i) => i.src.startsWith('file:'))")
    assert opened.page.evaluate("document.querySelector('#detail img').naturalWidth") == 96
    opened.page.locator(".attempts [data-select='t5a2']").click()
    assert opened.heading() == "Turn 5, attempt 2 of 3"
    assert opened.complaints == []


def test_keys_slider_and_addresses_step_through_turns(visit: Any, report: Path) -> None:
    opened = visit(report, "#t7")
    assert opened.heading() == "Turn 7, attempt 3 of 3"
    opened.page.keyboard.press("ArrowRight")
    assert opened.current() == "8"
    opened.page.keyboard.press("Shift+ArrowLeft")
    assert opened.heading() == "Turn 8, attempt 2 of 3"
    opened.page.locator(".timeline [tabindex='0']").focus()
    opened.page.keyboard.press("End")
    assert opened.current() == "24"
    assert opened.page.evaluate("document.activeElement.dataset.turn") == "24", "the focus goes along"
    opened.page.locator("#scrub").focus()
    opened.page.keyboard.press("Home")
    assert opened.current() == "1"
    opened.page.locator(".attempts tbody a").nth(40).click()
    assert opened.current() == "14"


def test_a_click_on_a_point_shows_its_picture(visit: Any, report: Path) -> None:
    opened = visit(report)
    opened.page.locator("[data-figure='score-1']").scroll_into_view_if_needed()
    opened.page.evaluate(
        "document.querySelector(\"[data-figure='score-1']\").emit('plotly_click', {points: [{customdata: ['t3a2']}]})"
    )
    assert opened.heading() == "Turn 3, attempt 2 of 3"


def test_colours_follow_the_theme(visit: Any, report: Path) -> None:
    opened = visit(report)
    paint = "document.querySelector('.chart .xtick text').style.fill"
    light = opened.page.evaluate(paint)
    opened.page.emulate_media(color_scheme="dark")
    opened.until(f"{paint} !== '{light}'")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


def test_narrow_pages_do_not_scroll_sideways(visit: Any, report: Path, tmp_path: Path) -> None:
    page = write_study_page(tmp_path, "narrow", "Is it wide?", {"a": report.parent, "b": report.parent})
    for path in (report, page):
        opened = visit(path)
        opened.page.set_viewport_size({"width": 390, "height": 800})
        opened.until("document.documentElement.scrollWidth === 390")


def test_hostile_text_does_nothing(visit: Any, tmp_path: Path) -> None:
    name = f"judge {HOSTILE}"
    writer = Writer(tmp_path / "run", size=48, turns=1, evaluators={name: "higher"})
    writer.attempt(
        1, image=encode_png(degraded(writer.origin, 0.1, 1)), reason=HOSTILE, instruction=HOSTILE, reasoning=HOSTILE,
        scores={name: {"status": "failed", "why": HOSTILE, "fault": "us", "detail": HOSTILE}}, model=HOSTILE,
    )  # fmt: skip
    run = writer.close("stopped", HOSTILE)
    opened = visit(write_run_report(run))
    assert opened.page.title() == f"turngate run {writer.folder.info().run}"
    assert opened.page.locator("#detail blockquote").inner_text().startswith("<script>document.title='owned'</script>")
    opened.page.locator("[data-figure='score-1']").scroll_into_view_if_needed()
    study = visit(write_study_page(tmp_path, HOSTILE, HOSTILE, {HOSTILE: run}, HOSTILE))
    for shown in (opened, study):
        assert shown.complaints == [], "nothing ran, nothing was even blocked"
        assert shown.on_network() == []
        assert shown.page.title() != "owned"
        assert shown.page.locator("main img:not([data-image])").count() == 0


def test_a_report_without_its_folder_still_shows_small_pictures(visit: Any, report: Path, tmp_path: Path) -> None:
    alone = tmp_path / "sent.html"
    alone.write_bytes(report.read_bytes())
    opened = visit(alone)
    opened.page.wait_for_selector("#detail figure.small")
    assert opened.page.evaluate("document.querySelector('#detail img').naturalWidth") > 0
    assert "small copy" in opened.page.evaluate(
        "getComputedStyle(document.querySelector('#detail figure.small figcaption'), '::after').content"
    )


def test_every_control_has_a_name_and_headings_descend(visit: Any, report: Path) -> None:
    opened = visit(report)
    nameless = opened.page.evaluate(
        "[...document.querySelectorAll('button, a[href], input')].filter((e) => "
        "!(e.ariaLabel || e.innerText.trim() || e.querySelector('img[alt]:not([alt=\"\"])'))).length"
    )
    assert nameless == 0
    levels = opened.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
