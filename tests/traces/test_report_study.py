"""index.html of a study: one sentence, one row, one strip of images and one curve per arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turngate.errors import NoSuchRun, UserError
from turngate.picture import encode_png
from turngate.traces.report.study_page import write_study_page

from ._page import Page
from ._runs import HOSTILE, Writer, degraded


def arm(path: Path, turns: int, planned: int = 0, **settings: Any) -> Path:
    """Sound for two turns, damaged afterwards; all accepted."""
    writer = Writer(path, size=48, turns=planned or turns, **settings)
    for turn in range(1, turns + 1):
        damage = 0.2 * turn
        writer.attempt(
            turn, image=encode_png(degraded(writer.origin, min(damage, 1), turn)), damage=damage,
            scores=dict.fromkeys(writer.evaluators, 20 + turn),
        )  # fmt: skip
    return writer.close()


@pytest.fixture
def study(tmp_path: Path) -> Page:
    arms = {
        "no-gate": arm(tmp_path / "study" / "no-gate", 12, gate={"type": "always_accept"}),
        "short": arm(tmp_path / "study" / "short", 3, planned=12),
    }
    rejects = Writer(tmp_path / "study" / "reject", size=48, turns=12, truth=False, evaluators={"niqe": "lower"})
    for turn in range(1, 13):
        picture = encode_png(degraded(rejects.origin, 0.5, turn))
        rejects.attempt(turn, image=picture, scores={"niqe": 9}, verdict="reject", action="skip", evidence={})
    arms["reject"] = rejects.close()
    return Page(write_study_page(tmp_path / "study", "quick", "Does the gate catch it?", arms, "One origin."))


def test_each_arm_has_its_answer_and_its_row(study: Page) -> None:
    words = study.words()
    assert "Does the gate catch it?" in words and "One origin." in words
    assert "The gate accepted 12 of 12 turns and let 10 damaged images through; collapse at turn 4." in words
    assert "The gate accepted 3 of 3 turns (12 planned) and let 1 damaged image through; no collapse." in words
    assert "The gate accepted 0 of 12 turns. No truth was measured" in words
    assert "no-gate always_accept 12 12 0 0 0 10 2 0 3 4 2.4 damaged" in words
    assert "reject threshold · evaluator brisque · at 40.0 12 0 12 0 no truth was measured" in words
    assert "Simulated. The damage in every arm" in words


def test_contact_sheet_shows_the_turns_that_an_arm_reached(study: Page) -> None:
    words = study.words()
    assert "arm origin turn 1 turn 5 turn 10 turn 12" in words
    assert words.count("not reached: ended at turn 3") == 3 or words.count("not reached:ended at turn 3") == 3
    assert "origin stays" in words
    links = [str(attrs["href"]) for tag, attrs in study.elements if tag == "a" and "href" in attrs]
    assert "no-gate/report.html#t10" in links and "short/report.html" in links
    shown = {str(attrs["data-image"]) for tag, attrs in study.elements if tag == "img"}
    assert shown == set(study.data("thumbnails"))


def test_one_chart_has_the_truth_of_all_arms_and_one_each_evaluator(study: Page) -> None:
    figures = study.data("figures")
    truth = [trace for trace in figures["truth"]["data"] if trace["mode"] == "lines+markers"]
    assert [trace["name"] for trace in truth] == ["no-gate", "short"], "the third arm measured none"
    assert truth[1]["y"] == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert len({(t["line"]["color"], t["line"]["dash"], t["marker"]["symbol"]) for t in truth}) == 2
    assert [trace["name"] for trace in figures["score-3"]["data"]] == ["reject"]
    assert set(figures) == {"truth", "score-1", "score-2", "score-3"}


def test_an_arm_without_a_score_is_marked_where_it_has_none(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a", size=48, turns=2)
    scores: list[dict[str, Any]] = [
        {"brisque": {"status": "failed", "why": "ValueError", "fault": "us"}, "psnr": 30},
        {"brisque": 31, "psnr": 30},
    ]
    for turn, given in enumerate(scores, 1):
        writer.attempt(turn, image=encode_png(degraded(writer.origin, 0.1, turn)), scores=given)
    page = Page(write_study_page(tmp_path, "one", "?", {"a": writer.close()}))
    curve, lane = page.data("figures")["score-1"]["data"]
    assert curve["y"] == [20.0, None, 31.0] and curve["connectgaps"] is False
    assert (lane["x"], lane["yaxis"]) == ([1], "y2")


def test_hostile_names_and_questions_are_inert(tmp_path: Path) -> None:
    run = arm(tmp_path / "a <b>", 2)
    path = write_study_page(tmp_path, HOSTILE, HOSTILE, {f"arm {HOSTILE}": run}, HOSTILE)
    page = Page(path)
    assert not [attrs for _, attrs in page.elements if "onerror" in attrs]
    assert [attrs.get("id", "code") for attrs, _ in page.scripts] == ["thumbnails", "figures", "code", "code", "code"]
    name = page.data("figures")["truth"]["data"][0]["name"]
    assert "<" not in name and "\u202e" not in name, "Plotly reads markup in names: it must find none"
    links = [str(attrs["href"]) for tag, attrs in page.elements if tag == "a" and "report" in str(attrs.get("href"))]
    assert set(links) == {"a%20%3Cb%3E/report.html", "a%20%3Cb%3E/report.html#t1", "a%20%3Cb%3E/report.html#t2"}


def test_runs_outside_the_folder_are_linked_relatively(tmp_path: Path) -> None:
    run = arm(tmp_path / "runs" / "r1", 2)
    page = Page(write_study_page(tmp_path / "studies" / "s", "s", "?", {"r1": run}))
    links = {str(attrs.get("href")) for tag, attrs in page.elements if tag == "a"}
    assert "../../runs/r1/report.html" in links


def test_secrets_in_the_question_are_not_written(tmp_path: Path) -> None:
    run = arm(tmp_path / "a", 1)
    path = write_study_page(tmp_path, "s", "?", {"a": run}, "key AIzaSyA1234567890abcdefghijklmnop")
    assert "AIzaSyA" not in path.read_text(encoding="utf-8")


def test_no_arms_and_no_run_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no arms"):
        write_study_page(tmp_path, "s", "?", {})
    with pytest.raises(NoSuchRun, match="no run at"):
        write_study_page(tmp_path, "s", "?", {"a": tmp_path / "a"})
