"""The pages in a real browser, offline: they draw, answer to clicks and keys, and nothing in them acts by itself."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from PIL import Image
from tests.pages.browser import browser, needs_chromium, visits
from tests.traces.runs import HOSTILE, Writer, degraded, jpeg, long_run, photograph, study_of

from turngate.pages.report.run import write_run_report
from turngate.picture import encode_png

from ._rescored import score
from .test_difference import SIZE, cropped, moved, replayed
from .test_study import many_arms, page_of

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext
    from playwright.sync_api import Page as BrowserPage

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    with browser(tmp_path_factory.mktemp("profile"), offline=True) as found:
        yield found


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Any]:
    with visits(context) as go:
        yield lambda path, mark="": go(path.as_uri() + mark)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = long_run(tmp_path_factory.mktemp("runs") / "run", 24, 3, 96)
    score(run, "psnr", {"type": "ssim", "align": "crop"}, turns="0-6")
    return write_run_report(run)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study of two arms on two origins."""
    folder = tmp_path_factory.mktemp("grid") / "study"
    rows = []
    for arm, attempts in (("gated", 2), ("no-gate", 1)):
        for origin in ("coffee", "astronaut"):
            path = long_run(folder / arm / origin, 21, attempts, 48)
            score(path, "psnr")
            rows.append({"arm": arm, "origin": origin, "editor": "net", "control": arm == "no-gate", "path": path})
    return page_of(study_of(folder, rows, "Which?", sensitivity=(0.3, 0.7)))


def test_report_draws_without_network_or_complaint(visit: Any, report: Path) -> None:
    opened = visit(report)
    assert opened.complaints == []
    assert opened.on_network() == []
    assert opened.page.locator(".chart .main-svg").count() >= 5
    assert opened.page.locator(".rescored .chart .main-svg").count() >= 2, "those that were scored afterwards"
    broken = "[...document.images].filter((i) => i.complete && !i.naturalWidth).length"
    opened.until("[...document.images].every((i) => i.complete)")
    assert opened.page.evaluate(broken) == 0
    assert opened.current() == "14", "opens where a damaged image first stands"


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


def test_the_line_of_the_chosen_turn_moves_in_every_chart_that_is_looked_at(visit: Any, report: Path) -> None:
    opened = visit(report)
    for turn, place in ((4, "truth"), (9, "score-2"), (11, "rescored-2")):
        opened.page.locator(f".timeline [data-turn='{turn}']").click()
        opened.page.locator(f"[data-figure='{place}']").scroll_into_view_if_needed()
        opened.until(f"document.querySelector(\"[data-figure='{place}']\").layout.shapes.at(-1).x0 === {turn}")
    assert opened.complaints == []


def test_colours_follow_the_theme(visit: Any, report: Path) -> None:
    opened = visit(report)
    paint = "document.querySelector('.chart .xtick text').style.fill"
    light = opened.page.evaluate(paint)
    opened.page.emulate_media(color_scheme="dark")
    opened.until(f"{paint} !== '{light}'")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


def test_narrow_pages_do_not_scroll_sideways(visit: Any, report: Path, tmp_path: Path) -> None:
    page = page_of(study_of(tmp_path, {"a": report.parent, "b": report.parent}))
    for path in (report, page):
        opened = visit(path)
        opened.page.set_viewport_size({"width": 390, "height": 800})
        opened.until("document.documentElement.scrollWidth === 390")


def test_hostile_text_does_nothing(visit: Any, tmp_path: Path) -> None:
    name = f"judge {HOSTILE}"
    writer = Writer(tmp_path / "run", size=48, turns=1, evaluators={name: "higher"})
    writer.attempt(
        1, image=encode_png(degraded(writer.origin, 0.1, 1)), reason=HOSTILE, instruction=HOSTILE,
        reasoning=HOSTILE * 20,
        scores={name: {"status": "failed", "why": HOSTILE, "fault": "us", "detail": HOSTILE}}, model=HOSTILE,
    )  # fmt: skip
    run = writer.close("stopped", HOSTILE)
    opened = visit(write_run_report(run))
    assert opened.page.title() == f"turngate run {writer.folder.info().run}"
    assert opened.page.locator("#detail blockquote").inner_text().startswith("<script>document.title='owned'</script>")
    opened.page.locator("[data-figure='score-1']").scroll_into_view_if_needed()
    study = visit(page_of(study_of(tmp_path, {HOSTILE: run}, HOSTILE, HOSTILE, HOSTILE)))
    for shown in (opened, study):
        assert shown.violations() == []
        assert shown.complaints == [], "nothing ran, nothing was even blocked"
        assert shown.on_network() == []
        assert shown.page.title() != "owned"
        assert shown.page.locator("main img:not([data-image], [data-of])").count() == 0


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
    opened.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    nameless = opened.page.evaluate(
        "[...document.querySelectorAll('button, a[href], input')].filter((e) => "
        "!(e.ariaLabel || e.labels?.length || e.innerText.trim() || "
        "e.querySelector('img[alt]:not([alt=\"\"])'))).length"
    )
    assert nameless == 0
    levels = opened.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nothing_serious_stands_in_the_way_of_anyone(
    visit: Any, report: Path, grid: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    for path in (report, grid):
        opened = visit(path)
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.emulate_media(color_scheme=scheme)
        opened.page.locator("summary").first.click()
        assert opened.violations() == []
        opened.until(f"document.documentElement.scrollWidth === {width}")
        assert opened.complaints == []


def test_every_figure_is_one_that_plotly_knows(visit: Any, report: Path, grid: Path) -> None:
    for path in (report, grid):
        opened = visit(path)
        problems = opened.page.evaluate(
            """() => {
                const style = getComputedStyle(document.documentElement);
                const colour = (_, name) => JSON.stringify(style.getPropertyValue(name).trim());
                const figures = document.getElementById('figures').textContent.replace(
                    /"var\\((--[\\w-]+)\\)(?:\\/[\\d.]+)?"/g, colour);
                return Object.entries(JSON.parse(figures)).flatMap(([name, figure]) =>
                    (Plotly.validate(figure.data, figure.layout) || []).filter((one) => one.code !== 'unused')
                        .map((one) => `${name}: ${one.msg}`));
            }"""
        )
        assert problems == []


def test_any_two_images_are_compared_region_by_region(visit: Any, report: Path) -> None:
    opened = visit(report, "#t7")
    page = opened.page
    assert page.locator("#stop-a-words").inner_text() == "origin"
    assert page.locator("#stop-b-words").inner_text().startswith("turn 7, attempt 3:")
    page.locator(".timeline [data-turn='9']").click()
    assert page.locator("#stop-b-words").inner_text().startswith("turn 9, attempt 3:"), "the right one follows"
    page.locator("#stop-a").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#stop-a-words").inner_text().startswith("turn 1, attempt 1:")
    opened.until("[...document.querySelectorAll('.lens img')].every((i) => i.src.startsWith('file:') && i.complete)")
    lens = page.locator("[data-lens=a]")
    lens.focus()
    for key in ("+", "+", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    moved = page.evaluate("[...document.querySelectorAll('.lens img')].map((i) => i.style.transform)")
    assert len(moved) == 4 and len(set(moved)) == 1, "all show the same region"
    assert "scale(4, 4)" in moved[0] and page.locator("#zoom").inner_text() == "4x"
    assert opened.current() == "9", "arrow keys in a lens move the region, not the turn"
    page.locator("[data-zoom='0']").click()
    assert page.locator("#zoom").inner_text() == "1x"
    page.locator("#gain").select_option("16")
    assert page.evaluate("document.querySelector('[data-lens=d]').style.filter") == "brightness(16)"
    assert opened.complaints == []


def test_the_difference_is_black_where_two_images_are_equal(visit: Any, report: Path) -> None:
    opened = visit(report)
    page = opened.page
    page.evaluate("document.getElementById('stop-b').value = 0")
    page.locator("#stop-b").dispatch_event("input")
    opened.until("[...document.querySelectorAll('.lens img')].every((i) => i.src.startsWith('file:') && i.complete)")
    page.wait_for_timeout(400)
    assert brightest(page) <= 2
    page.locator("#stop-b").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(400)
    assert brightest(page) > 50


@pytest.mark.parametrize("how", ["crop", "shift"])
def test_a_frame_that_moved_is_no_difference_when_it_was_registered(visit: Any, tmp_path: Path, how: str) -> None:
    photo = photograph(SIZE)
    image = cropped(photo, 0.02) if how == "crop" else moved(photo, 4, -3)
    run = replayed(tmp_path, [image], evaluators={"whole": {"type": "ssim", "align": how}})
    opened = visit(write_run_report(run), "#t1")
    page = opened.page
    page.locator("#gain").select_option("1")
    opened.until("[...document.querySelectorAll('.lens img')].every((i) => i.src.startsWith('file:') && i.complete)")
    assert "registered by whole with align" in page.locator("#how").inner_text()
    page.wait_for_timeout(400)
    aligned = mean_difference(page)
    page.locator("#aligned").uncheck()
    assert page.locator("#how").inner_text().startswith("Pixel by pixel, not aligned")
    page.wait_for_timeout(400)
    assert aligned < 0.25 * mean_difference(page)
    assert opened.complaints == []


def difference(page: BrowserPage) -> Any:
    """The difference map in gray levels, away from its edge, which shares pixels with the page."""
    shot = Image.open(io.BytesIO(page.locator("[data-lens=d]").screenshot())).convert("L")
    return np.asarray(shot)[4:-4, 4:-4]


def brightest(page: BrowserPage) -> int:
    return int(difference(page).max())


def mean_difference(page: BrowserPage) -> float:
    return float(difference(page).mean())


@pytest.mark.parametrize("arms", ["few", "many"])
def test_the_first_screen_of_a_study_is_strip_and_plane(visit: Any, grid: Path, tmp_path: Path, arms: str) -> None:
    """Both stand above 900 pixels at a width of 1440, before any table; at 390 nothing scrolls sideways."""
    opened = visit(grid if arms == "few" else many_arms(tmp_path / "study"))
    page = opened.page
    page.set_viewport_size({"width": 1440, "height": 900})
    box = "((e) => { const b = e.getBoundingClientRect(); return [b.top + scrollY, b.bottom + scrollY]; })"
    strip, plane, table = (
        page.evaluate(f"{box}(document.querySelector('{place}'))")
        for place in (".strip", "[data-figure=plane]", "table")
    )
    assert strip[1] <= plane[0] and plane[1] <= 900 and plane[1] < table[0]
    names = page.locator(".strip li b").all_inner_texts()
    sentences = page.locator(".first").first.locator("li")
    wanted = (
        ["gated", "no-gate"] if arms == "few" else [f"arm-{n}" for n in range(1, 10)] + ["no-gate", "always-reject"]
    )
    assert names == (wanted if arms == "few" else ["origin", *wanted])
    assert sentences.count() == len(wanted), "one sentence per arm"
    said = sentences.locator("p").all_inner_texts()
    assert [text.startswith(name) for name, text in zip(wanted, said, strict=True)] == [True] * len(wanted)
    inside = "[...document.querySelectorAll('.verdicts')].every((e) => e.scrollHeight <= e.clientHeight + 1)"
    assert page.evaluate(inside), "none of them is out of sight in a box of its own"
    points = page.evaluate("document.querySelector('[data-figure=plane]').data.map((t) => [t.name, t.marker.symbol])")
    assert {name for name, symbol in points if symbol.endswith("-open")} == set(wanted) & {"no-gate", "always-reject"}
    page.set_viewport_size({"width": 390, "height": 844})
    opened.until("document.documentElement.scrollWidth <= 390")
    assert opened.violations() == [] and opened.complaints == []


def test_no_label_of_the_plane_lies_on_another(visit: Any, tmp_path: Path) -> None:
    page = visit(many_arms(tmp_path / "study")).page
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(400)
        boxes = page.evaluate(
            "[...document.querySelectorAll('[data-figure=plane] .annotation-text')].map((e) => "
            "{ const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
        )
        assert len(boxes) == 9
        for one, other in combinations(boxes, 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, f"{one} on {other} at {width}"


def test_a_study_shows_hides_filters_and_sorts(visit: Any, grid: Path) -> None:
    opened = visit(grid)
    page = opened.page
    assert page.locator("[data-sheet]:visible").count() == 1
    page.locator("#sheet").select_option(label="astronaut net r1")
    assert page.locator("[data-sheet]:visible").get_attribute("aria-label") == "Contact sheet astronaut net r1"
    key = page.locator("#h-curves ~ .key [data-group='arm-0']")
    key.focus()
    page.keyboard.press("Enter")
    assert key.get_attribute("aria-pressed") == "false"
    traces = "document.querySelector('[data-figure=truth]').data.filter((t) => t.legendgroup === 'arm-0')"
    opened.until(f"{traces}.every((t) => !t.visible)")
    page.locator("#runs-filter").fill("coffee no-gate")
    assert page.locator("#runs tbody tr:visible").count() == 1
    assert page.locator("#runs-shown").inner_text() == "1 of 4 runs"
    page.locator("#runs-filter").fill("")
    page.locator("#runs thead button", has_text="exposure").click()
    column = page.locator("#runs thead th").all_inner_texts().index("exposure")
    exposed = page.locator(f"#runs tbody tr td:nth-of-type({column})").all_inner_texts()
    shares = [int(text.removesuffix(" %")) for text in exposed]
    assert shares == sorted(shares)
    assert page.locator("#runs [aria-sort]").get_attribute("aria-sort") == "ascending"
    assert opened.complaints == [] and opened.on_network() == []


def test_the_page_of_a_hundred_large_turns_is_small_and_opens(visit: Any, tmp_path: Path) -> None:
    """C49: under 20 MB by thumbnails, opens without network, full images linked."""
    writer = Writer(tmp_path / "run", size=1024, turns=100)
    noisy = degraded(writer.origin, 0.3, 1)
    for turn in range(1, 101):
        picture = jpeg(np.roll(noisy, 9 * turn, axis=1))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.009 * turn)
    report = write_run_report(writer.close())
    assert report.stat().st_size < 20e6
    opened = visit(report)
    assert opened.complaints == [] and opened.on_network() == []
    opened.until("document.querySelector('#detail img').naturalWidth === 1024")
