"""The list in a real browser: sorted, filtered, gone back to, kept up to date."""

from __future__ import annotations

from pathlib import Path

from tests.pages.browser import Visit, needs_chromium
from tests.traces.runs import Writer, degraded

from turngate.picture import encode_png
from turngate.traces.lock import RunLock

from ._viewing import Viewer, viewing

pytestmark = needs_chromium


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


def test_the_list_is_sorted_filtered_and_gone_back_to(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page

    def places() -> list[str]:
        return page.locator("tbody th bdi").all_inner_texts()

    page.get_by_role("link", name="exposure").click()
    page.wait_for_url("**order=exposure")
    assert page.locator("[aria-sort=descending]").inner_text() == "exposure"
    assert places()[-1] == "study", "what is not known stands last"
    page.get_by_role("link", name="place").click()
    page.wait_for_url("**order=name**")
    page.get_by_role("link", name="place").click()
    page.wait_for_url("**down=1")
    assert places() == ["study/no-gate", "study", "first"]
    page.locator("#verdict").select_option("propagates")
    page.wait_for_url("**verdict=propagates**")
    assert places() == ["study/no-gate", "first"]
    assert "q=" not in page.url and "order=name" in page.url and "down=1" in page.url
    page.locator("tbody a").last.click()
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    page.get_by_role("link", name="All runs and studies").click()
    page.wait_for_url("**verdict=propagates**")
    assert places() == ["study/no-gate", "first"]
    for _ in range(3):
        page.go_back()
    page.wait_for_url("**down=1")
    assert page.locator("#verdict").input_value() == ""
    assert len(places()) == 3
    page.go_forward()
    page.wait_for_url("**verdict=propagates**")
    assert page.locator("#verdict").input_value() == "propagates" and len(places()) == 2
    page.get_by_role("link", name="show all").click()
    page.wait_for_url("**order=name**")
    assert len(places()) == 3
    assert opened.complaints == [] and opened.on_network(viewer.url) == []


def test_the_list_goes_on_with_the_runs(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with viewing(tmp_path / "runs") as viewer:
        opened = visit(viewer.url, drawn=False)
        assert "No run and no study lies here yet" in opened.page.locator("#found").inner_text()
        writer = Writer(tmp_path / "runs" / "live", size=48, turns=9)
        with RunLock(writer.path):
            opened.until("document.querySelector('tbody .running') !== null")
            opened.page.locator("#q").fill("half a wor")
            opened.page.locator("tbody a").focus()
            picture = encode_png(degraded(writer.origin, 0.5, 1))
            writer.attempt(1, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.9)
            opened.until("document.querySelector('td[data-of=exposure]').textContent.trim() === '100 %'")
        writer.close()
        opened.until("document.querySelector('tbody .complete') !== null")
        assert opened.page.locator("#q").input_value() == "half a wor", "what is being typed is left alone"
        assert opened.page.evaluate("document.activeElement.closest('tbody') !== null"), (
            "so is who reads with the keyboard"
        )
        assert opened.complaints == []


def test_a_study_leads_to_its_runs(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    opened.page.locator("#kind").select_option("study")
    opened.page.wait_for_url("**kind=study**")
    opened.page.locator("tbody a").click()
    opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
    assert opened.page.locator("h1").inner_text() == "no-gate propagates."
    assert "Does it decay?" in opened.page.locator(".kicker").inner_text()
    opened.page.locator("#runs tbody a").click()
    opened.page.wait_for_selector("#detail h3")
    assert "/run/" in opened.page.url
    assert opened.complaints == [] and opened.on_network(viewer.url) == []


def test_runs_that_are_ticked_are_compared(visit: Visit, viewer: Viewer) -> None:
    """Ticks outlive a refresh of the list; the slider shows one turn of all in full size."""
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    for number in range(2):
        page.locator("input[name=run]").nth(number).check()
    page.evaluate("document.getElementById('found').setAttribute('data-waits', '1')")
    page.get_by_role("button", name="Compare chosen runs").click()
    page.wait_for_selector("#flip:not([hidden])")
    assert page.locator("h1").inner_text() == "2 runs side by side"
    opened.until("[...document.querySelectorAll('#flip img')].every((one) => one.naturalWidth > 0)")
    before = [page.locator("#flip img").nth(number).get_attribute("src") for number in range(2)]
    page.locator("#flip-turn").fill("0")
    assert page.locator("#flip-at").inner_text() == "0, the origin"
    after = [page.locator("#flip img").nth(number).get_attribute("src") for number in range(2)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert page.locator(".beside-table img").first.get_attribute("src")
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        opened.until(f"document.documentElement.scrollWidth === {width}")
        assert opened.violations() == []
    assert opened.complaints == []


def test_columns_are_chosen_and_notes_are_kept(visit: Visit, viewer: Viewer) -> None:
    opened = visit(viewer.url, drawn=False)
    page = opened.page
    page.locator("summary", has_text="Columns").click()
    page.evaluate("document.querySelectorAll('input[name=columns]').forEach((one) => { one.checked = false; })")
    page.locator("input[name=columns][value=exposure]").check()
    page.locator("input[name=columns][value='score.brisque']").check()
    page.get_by_role("button", name="Show these").click()
    page.wait_for_load_state()
    assert page.locator("thead th").all_inner_texts() == ["place", "exposure", "brisque"]
    page.get_by_role("link", name="first", exact=True).click()
    page.locator("summary", has_text="Tags and note").click()
    page.locator("#note-tags").fill("paper, figure 3")
    page.locator("#note-text").fill("the colours go first")
    page.get_by_role("button", name="Keep").click()
    opened.until("document.getElementById('note-message').textContent === 'kept'")
    page.goto(viewer.url + "?q=colours")
    assert page.locator("tbody tr").count() == 1
    assert page.locator(".tag").all_inner_texts() == ["paper", "figure 3", "note"]
    assert opened.complaints == []
