"""report.html as a file: what it says, that it is inert, and that it needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image
from tests.pages.page import Page
from tests.traces.runs import HOSTILE, Writer, degraded, jpeg, long_run

from turngate import RunView
from turngate.agent.reasoning.lexicon import LexiconConfig, LexiconReader
from turngate.errors import MachineError, NoSuchRun
from turngate.pages.report.charts import truth_panel
from turngate.pages.report.run import write_run_report
from turngate.picture import encode_png
from turngate.traces.analysis.run import summarise


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Three turns: accepted; retried without an image, unscored, then forced in; a no-change; a failed evaluator."""
    writer = Writer(tmp_path / "run", turns=3, on_reject={"attempts": 2, "then": "accept"})
    writer.attempt(
        1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": 30, "psnr": 41.5}, damage=0.1
    )
    writer.attempt(
        2, 1, image=None, scores={}, verdict="reject", action="retry", reason="no image: safety", evidence={},
        detail="blocked by the provider",
    )  # fmt: skip
    unscored = {"status": "unscored", "why": "flat", "detail": "no variance to measure"}
    writer.attempt(
        2, 2, image=jpeg(degraded(writer.origin, 0.8, 2)), scores={"brisque": unscored, "psnr": 20}, damage=0.8,
        verdict="reject", action="force_accept", reason="brisque unscored (flat)", evidence={},
        after=None, reasoning="An exact replica.", cost_usd=0.039, input_tokens=10, output_tokens=1290,
    )  # fmt: skip
    failed = {"status": "failed", "why": "RuntimeError", "fault": "machine", "detail": "out of memory"}
    current = writer.folder.images.get(writer.image)
    writer.attempt(3, image=current, scores={"brisque": 31, "psnr": failed}, damage=0.1, status_after="complete")
    return writer.close()


def test_report_leads_with_the_answer_and_its_counts(mixed: Path) -> None:
    page = Page(write_run_report(mixed))
    words = page.words()
    summary = summarise(RunView.load(mixed))
    assert summary.verdict.words[1:] in words and summary.verdict.kind == "propagates"
    assert "Simulated." in words
    for piece in (
        "sound progress 33.33 per 100 turns", "damage exposure 67 % 2 of 3 turns", "0 / 0 / 1 caught, stalled",
        "first damage stands turn 2", "0 of 1 input", "$0.0390", "1,300",
    ):  # fmt: skip
        assert piece in words, piece
    assert "threshold · evaluator brisque · at 40.0" in words
    assert "up to 2 attempts a turn, then take the last candidate anyway" in words
    assert "0123456789abcdef0123456789abcdef01234567 with uncommitted changes" in words


def test_every_kind_of_result_is_written_out_and_never_as_a_number(mixed: Path) -> None:
    page = Page(write_run_report(mixed))
    words = page.words()
    for piece in ("unscored: flat", "failed: RuntimeError", "skipped: no_image", "no image: safety", "no change"):
        assert piece in words, piece
    assert "no variance to measure" in words
    assert "psnr gave no score for 1 candidate: 0 unscored, 1 failed (RuntimeError 1)." in words
    lanes = {
        trace["name"]: trace["x"] for trace in page.data("figures")["score-2"]["data"] if trace.get("yaxis") == "y2"
    }
    assert lanes == {"failed": [3.0], "skipped": [2.0]}


def test_curves_mark_origin_threshold_direction_and_decision(mixed: Path) -> None:
    page = Page(write_run_report(mixed))
    figures = page.data("figures")
    traces = {trace.get("name"): trace for trace in figures["score-1"]["data"]}
    assert (traces["origin"]["x"], traces["origin"]["y"]) == ([0], [20.0])
    assert set(traces["threshold 40"]["y"]) == {40.0}
    assert traces["accepted: passed"]["marker"]["symbol"] == "circle"
    truth = {trace.get("name"): trace for trace in figures["truth"]["data"]}
    assert set(truth["damaged at 0.5"]["y"]) == {0.5}
    assert truth["forced in: propagated, forced"]["marker"]["symbol"] == "triangle-up"
    assert "brisque ↓ lower is better" in page.words()
    assert "psnr ↑ higher is better" in page.words()


def test_kept_out_candidates_have_hollow_marks(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=2)
    picture = encode_png(degraded(writer.origin, 0.9, 1))
    writer.attempt(1, image=picture, scores={"brisque": 50, "psnr": 9}, damage=0.9, verdict="reject", action="skip")
    writer.attempt(2, image=encode_png(degraded(writer.origin, 0.2, 2)), scores={"brisque": 60, "psnr": 30},
                   damage=0.2, verdict="reject", action="skip", status_after="complete")  # fmt: skip
    page = Page(write_run_report(writer.close()))
    symbols = {
        trace["name"]: trace["marker"]["symbol"]
        for trace in page.data("figures")["score-1"]["data"]
        if "marker" in trace
    }
    assert symbols["rejected: caught"] == "triangle-up-open"
    assert symbols["rejected: false alarm"] == "circle-open"
    assert "Stalls: no new image in 2 turns, the origin stands untouched." in page.words()
    assert "current stays: origin" in page.words()


def test_a_threshold_that_moves_is_drawn_at_each_turn(tmp_path: Path) -> None:
    gate = {"type": "relative", "evaluator": "psnr", "reference": "previous", "margin": 3.0}
    writer = Writer(tmp_path / "run", turns=2, gate=gate)
    for turn, reference in ((1, 50.0), (2, 44.0)):
        writer.attempt(
            turn, image=encode_png(degraded(writer.origin, 0.1 * turn, turn)),
            scores={"brisque": 30, "psnr": reference - 1},
            evidence={"value": reference - 1, "reference": reference, "worse_by": 1.0, "margin": 3.0},
            thresholds={"psnr": reference - 3},
        )  # fmt: skip
    page = Page(write_run_report(writer.close()))
    line = next(trace for trace in page.data("figures")["score-2"]["data"] if trace.get("name") == "threshold 41")
    assert line["x"] == [0.5, 1.0, 2.0, 2.5]
    assert line["y"] == [47.0, 47.0, 41.0, 41.0]


def test_hostile_text_is_inert(tmp_path: Path) -> None:
    name = f"judge {HOSTILE}"
    writer = Writer(tmp_path / "run", turns=1, evaluators={name: "higher"}, gate={"type": name, "evaluator": name})
    writer.attempt(
        1, image=encode_png(degraded(writer.origin, 0.1, 1)), reason=HOSTILE, instruction=HOSTILE, reasoning=HOSTILE,
        scores={name: {"status": "unscored", "why": "parse", "detail": HOSTILE, "explanation": HOSTILE}},
        model=HOSTILE, flags=[HOSTILE], detail=HOSTILE, normalised=[HOSTILE], evidence={HOSTILE: HOSTILE},
    )  # fmt: skip
    report = write_run_report(writer.close("stopped", HOSTILE))
    raw = report.read_text(encoding="utf-8")
    for hidden in ("\x1b", "\u202e", "\u202c", "\u200b", "\U000e0041"):
        assert hidden not in raw.replace(page_library(raw), "")
    page = Page(report)
    assert "\u241b[31mred" in page.text
    assert "[U+202E]gnp.exe" in page.text
    assert "שלום" in page.text, "right-to-left text itself stays readable"
    assert "{{ 7*7 }}" in page.text, "text is never taken for a template"
    assert not [tag for tag, attrs in page.elements if "onerror" in attrs]
    assert "x" not in [attrs.get("src") for tag, attrs in page.elements if tag == "img"]
    assert [attrs.get("id", "code") for attrs, _ in page.scripts] == ["stops", "thumbnails", "figures", *["code"] * 7]
    assert page.data("figures"), "the data block was not ended by the text within it"


def page_library(raw: str) -> str:
    """Plotly's own source within a page, which is not ours to judge."""
    start = raw.index("/**\n* plotly.js")
    return raw[start : raw.index("</script>", start)]


def test_only_our_scripts_may_run_and_nothing_may_be_fetched(mixed: Path) -> None:
    page = Page(write_run_report(mixed))
    policy = next(str(attrs["content"]) for tag, attrs in page.elements if attrs.get("http-equiv"))
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    code = [text for attrs, text in page.scripts if "type" not in attrs]
    assert {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in code} == allowed
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("style-src")[0]
    addresses = [attrs[key] or "" for _, attrs in page.elements for key in ("src", "href", "srcset") if key in attrs]
    assert [address for address in addresses if "//" in address] == []


def test_full_images_are_linked_where_they_lie(mixed: Path) -> None:
    page = Page(write_run_report(mixed))
    links = {str(attrs["data-full"]) for tag, attrs in page.elements if tag == "img" and "data-full" in attrs}
    assert links
    assert all(re.fullmatch(r"images/[0-9a-f]{2}/[0-9a-f]{64}\.(png|jpg)", link) for link in links)
    assert all((mixed / unquote(link)).is_file() for link in links)
    thumbnails = page.data("thumbnails")
    shown = {str(attrs["data-image"]) for tag, attrs in page.elements if tag == "img" and "data-image" in attrs}
    assert shown == set(thumbnails)
    compared = page.data("stops")
    assert [stop["key"] for stop in compared] == ["origin", "t1a1", "t2a2", "t3a1"]
    assert all(stop["sha"] in thumbnails and (mixed / unquote(stop["href"])).is_file() for stop in compared)


def test_images_that_cannot_be_shown_are_named_and_stop_nothing(mixed: Path) -> None:
    view = RunView.load(mixed)
    first, forced = view.attempts[0].row.image, view.attempts[2].row.image
    assert first is not None and forced is not None
    view.folder.images.path(first).unlink()
    path = view.folder.images.path(forced)
    path.write_bytes(path.read_bytes()[:100])
    words = Page(write_run_report(mixed)).words()
    assert "the image is missing from the store" in words
    assert "the image was changed after it was stored" in words
    assert "2 images cannot be shown" in words


def test_without_truth_the_report_says_so_and_counts_nothing(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=1, truth=False, simulated=False)
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.4, 1)), scores={"brisque": 30, "psnr": 30})
    page = Page(write_run_report(writer.close()))
    words = page.words()
    assert "Not told: no truth was measured; 1 new image in 1 turn." in words
    assert "Truth not measured" in words
    assert "propagated" not in words and "collapse" not in words and "exposure" not in words
    assert "Simulated" not in words
    assert "truth" not in page.data("figures")


def test_a_run_without_turns_has_a_report(tmp_path: Path) -> None:
    page = Page(write_run_report(Writer(tmp_path / "run", turns=4).close("failed", "the disk is full")))
    words = page.words()
    assert "Not told: no turn is closed yet" in words
    assert "The run failed: the disk is full" in words
    assert page.data("figures") == {}


def test_an_open_turn_and_a_changed_model_are_told(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=9)
    for turn, model in ((1, "model-1"), (2, "model-2")):
        picture = encode_png(degraded(writer.origin, 0.1 * turn, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, model=model, flags=["size_changed"])
    writer.attempt(3, image=encode_png(degraded(writer.origin, 0.9, 3)), scores={"brisque": 90, "psnr": 3},
                   damage=0.9, verdict="reject", action="retry", model="model-2")  # fmt: skip
    words = Page(write_run_report(writer.close("interrupted", "SIGTERM"))).words()
    assert "So far catches: 2 new sound images in 2 turns, exposure 0." in words
    assert "model changed during the run: model-1 from turn 1, then model-2 from turn 2." in words
    assert "2 candidates flagged size_changed." in words
    assert "turn still open" in words


def test_a_rollback_shows_the_image_that_the_run_went_back_to(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=3, on_reject={"attempts": 1, "then": "rollback", "rollback_turns": 1})
    pictures = [encode_png(degraded(writer.origin, 0.3 * turn, turn)) for turn in (1, 2)]
    scores = {"brisque": 30, "psnr": 30}
    first, _ = (writer.attempt(n, image=p, scores=scores, damage=0.3 * n) for n, p in enumerate(pictures, 1))
    assert first is not None
    writer.attempt(3, image=encode_png(degraded(writer.origin, 0.9, 3)), scores={"brisque": 90, "psnr": 3}, damage=0.9,
                   verdict="reject", action="rollback", after=(first, 1), status_after="complete")  # fmt: skip
    page = Page(write_run_report(writer.close()))
    assert "the run goes back to the image of turn 1" in page.words()
    assert "current stays: turn 1" in page.words()
    line = page.data("figures")["truth"]["data"][0]
    assert line["y"] == [None, 0.3, 0.6, 0.3], "the origin is untouched"


def test_pictures_of_every_mode_become_thumbnails(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=4)
    plain = Image.fromarray(degraded(writer.origin, 0.2, 1))
    for turn, mode in enumerate(("RGBA", "P", "L", "CMYK"), 1):
        target = tmp_path / f"{mode}.{'jpg' if mode == 'CMYK' else 'png'}"
        plain.convert(mode).save(target)
        writer.attempt(turn, image=target.read_bytes(), scores={"brisque": 30, "psnr": 30})
    page = Page(write_run_report(writer.close()))
    assert len(page.data("thumbnails")) == 5
    assert all(uri.startswith("data:image/jpeg;base64,") for uri in page.data("thumbnails").values())


def test_a_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=1)
    picture = encode_png(degraded(writer.origin, 0.2, 1))
    writer.attempt(1, image=picture, scores={"brisque": 30, "psnr": 30}, reasoning="word " * 20_000)
    report = write_run_report(writer.close())
    assert "... (96000 more characters in the ledger)" in Page(report).text


def test_claims_of_a_summary_are_marked_beside_the_truth(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=2)
    texts = ("The result is an exact replica of the original. <b>No noise</b> is visible.", "Nothing to say about it.")
    for turn, text in enumerate(texts, 1):
        picture = encode_png(degraded(writer.origin, 0.9, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.9, reasoning=text)
    run = writer.close()
    page = Page(write_run_report(run, LexiconReader(LexiconConfig(type="lexicon"))))
    marks = [str(attrs["class"]) for tag, attrs in page.elements if tag == "mark"]
    assert set(marks) == {"claims_success", "denies_damage"}
    words = page.words()
    assert texts[0] in words, "the text is whole"
    assert "It says that it succeeded, says that there is no damage. The candidate is damaged." in words
    assert words.count("The candidate is damaged.") == 1
    assert not [tag for tag, _ in Page(write_run_report(run)).elements if tag == "mark"], "without a reader, no marks"


def test_an_untouched_image_is_a_word_and_no_value(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", turns=3)
    for turn in (1, 2, 3):
        picture = encode_png(degraded(writer.origin, 0.1 * turn, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=40 + turn, verdict="reject",
                       action="restart" if turn == 3 else "skip", after=(writer.origin_sha, 0))  # fmt: skip
    view = RunView.load(writer.close())
    assert view.baseline_truth is not None
    ceiling = view.baseline_truth.model_copy(update={"value": 80.0, "flags": ["identical"]})
    panel = truth_panel(replace(view, baseline_truth=ceiling))
    assert panel is not None and panel.note == "Untouched after 3 turns: no value there."
    figure = json.loads(panel.figure)
    assert figure["data"][0]["y"] == [None] * 4 and "80" not in panel.summary
    words = Page(write_run_report(view.folder.path)).words()
    assert "turn 3, the last untouched" in words


def test_what_is_refused_again_and_again_is_one_bar(tmp_path: Path) -> None:
    """Of 30 candidates from one input 29 are in the bar, each turn has its cell, and one entry of the strip is left."""
    writer = Writer(tmp_path / "run", turns=31)
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": 30, "psnr": 30}, damage=0.1)
    for turn in range(2, 32):
        picture = encode_png(degraded(writer.origin, 0.8, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 50 + turn, "psnr": 9}, damage=0.8 + turn / 1000,
                       verdict="reject", action="skip")  # fmt: skip
    page = Page(write_run_report(writer.close()))
    traces = page.data("figures")["score-1"]["data"]
    names = [trace.get("name") for trace in traces]
    assert names.count("turns 2 to 31: 30 candidates refused from one input, 30 of them damaged") == 2
    assert "rejected: caught" not in names
    words = page.words()
    assert "turns 2 to 31" in words and "nothing new, 30 turns: the first is shown" in words
    hidden = [attrs for tag, attrs in page.elements if tag == "li" and "hidden" in attrs]
    assert len(hidden) == 29


def test_a_report_is_written_again_and_leaves_no_other_file(mixed: Path) -> None:
    before = {path.name for path in mixed.iterdir()}
    first = write_run_report(mixed).read_bytes()
    assert write_run_report(mixed).read_bytes() == first
    assert {path.name for path in mixed.iterdir()} == before | {"report.html"}


def test_no_run_and_no_room_are_one_line(tmp_path: Path, mixed: Path) -> None:
    with pytest.raises(NoSuchRun, match="no run at"):
        write_run_report(tmp_path / "nothing")
    (mixed / "report.html").mkdir()
    with pytest.raises(MachineError, match=r"cannot write .*report\.html"):
        write_run_report(mixed)


@pytest.mark.slow
def test_a_hundred_turns_of_three_attempts_stay_small(tmp_path: Path) -> None:
    report = write_run_report(long_run(tmp_path / "run", 100, 3, 192))
    assert report.stat().st_size < 12e6
    assert len(Page(report).data("thumbnails")) == 298, "297 candidates, each once, and the origin"
