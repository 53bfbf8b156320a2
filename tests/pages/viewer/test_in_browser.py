"""`turngate view` as a person uses it: another process, a real browser, no network."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Literal

import pytest
from tests.pages.browser import Visit, needs_chromium
from tests.traces.runs import HOSTILE, Writer, degraded, study_of

from turngate.picture import encode_png

from ._viewing import Viewer, viewing

pytestmark = needs_chromium


def test_the_page_goes_on_with_the_run(visit: Visit, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "runs" / "live", size=48, turns=9)

    def attempt(turn: int) -> None:
        picture = encode_png(degraded(writer.origin, 0.1 * turn, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.1 * turn)

    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        opened.page.get_by_role("link", name="live").click()
        opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
        assert "no turn is closed yet" in opened.page.locator("h1").inner_text()
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


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nothing_serious_stands_in_the_way_of_anyone(
    visit: Visit, viewer: Viewer, width: int, scheme: Literal["light", "dark"]
) -> None:
    opened = visit(viewer.url, drawn=False)
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme)
    for query in ("", "?verdict=propagates&order=exposure", "?q=nothing-like-it", "run/0123456789abcdef"):
        opened.page.goto(viewer.url + query)
        assert opened.violations() == []
        opened.until(f"document.documentElement.scrollWidth === {width}")
    opened.complaints.clear()  # the browser tells of the last answer's 404
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
