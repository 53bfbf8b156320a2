"""index.html of a study: one sentence, one row, one strip of images and one curve per arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.pages.page import Page
from tests.traces.runs import HOSTILE, Writer, degraded, study_of

from turngate.agent.reasoning.lexicon import LexiconConfig, LexiconReader
from turngate.errors import NoSuchRun, UserError
from turngate.pages.report.study import write_study_page
from turngate.picture import encode_png
from turngate.traces.analysis.labels import read_labels
from turngate.traces.analysis.study import StudyView, answer_study, load_study


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


def page_of(folder: Path) -> Path:
    """The page of the study in `folder`."""
    view = load_study(StudyView.load(folder))
    return write_study_page(view, answer_study(view))


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
    return Page(page_of(study_of(tmp_path / "study", arms, "Does the gate catch it?", "One origin.")))


def test_each_arm_has_its_answer_and_its_row(study: Page) -> None:
    words = study.words()
    assert "Does the gate catch it?" in words and "One origin." in words
    assert "short propagates; reject is not told; without a gate the loop propagates." in words
    propagates = "propagates: a damaged image stands after 10 of 12 turns, from turn 3 on; 2 new sound images."
    assert f"no-gate {propagates}" in words
    assert f"short {propagates}" in words, "a run that ended early keeps its last image"
    assert "reject not told: no truth was measured; no new images in 12 turns." in words
    assert "short: 1 run ended before the last planned turn" in words
    follows = "up to 3 attempts a turn, then keep the current image and go on"
    assert f"no-gate always_accept; {follows} complete propagates 12 16.67 83 % turn 12 no 0 / 0 / 1 3 4" in words
    assert (
        f"reject threshold · evaluator brisque · at 40.0; {follows} complete not told 12 none none never yes" in words
    )
    assert "Simulated. The damage in every run" in words


def test_what_is_simulated_is_said_as_far_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "study"
    real = arm(root / "real", 3, simulated=False)
    page = Page(page_of(study_of(root, {"real": real, "by-hand": arm(root / "by-hand", 3)}, "?")))
    words = page.words()
    assert "Simulated. The damage in 1 of 2 runs was written by hand" in words
    assert "by-hand simulated" in words and "real simulated" not in words
    other = tmp_path / "other"
    page = Page(page_of(study_of(other, {"real": arm(other / "real", 3, simulated=False)}, "?")))
    assert "imulated" not in page.words()


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
    assert truth[1]["y"][0] is None, "the origin is untouched"
    assert truth[1]["y"][1:] == pytest.approx([0.2, 0.4, *[0.6] * 10])
    assert len({(t["line"]["color"], t["line"]["dash"], t["marker"]["symbol"]) for t in truth}) == 2
    assert [trace["name"] for trace in figures["score-3"]["data"]] == ["reject"]
    assert set(figures) == {"plane", "truth", "roc-1", "score-1", "score-2", "score-3"}, "no chart of several runs"


def test_an_arm_without_a_score_is_marked_where_it_has_none(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a", size=48, turns=2)
    scores: list[dict[str, Any]] = [
        {"brisque": {"status": "failed", "why": "ValueError", "fault": "us"}, "psnr": 30},
        {"brisque": 31, "psnr": 30},
    ]
    for turn, given in enumerate(scores, 1):
        writer.attempt(turn, image=encode_png(degraded(writer.origin, 0.1, turn)), scores=given)
    page = Page(page_of(study_of(tmp_path, {"a": writer.close()})))
    curve, lane = page.data("figures")["score-1"]["data"]
    assert curve["y"] == [20.0, None, 31.0] and curve["connectgaps"] is False
    assert (lane["x"], lane["yaxis"]) == ([1], "y2")


def test_hostile_names_and_questions_are_inert(tmp_path: Path) -> None:
    run = arm(tmp_path / "a <b>", 2)
    path = page_of(study_of(tmp_path, {f"arm {HOSTILE}": run}, HOSTILE, HOSTILE, HOSTILE))
    page = Page(path)
    assert not [attrs for _, attrs in page.elements if "onerror" in attrs]
    assert [attrs.get("id", "code") for attrs, _ in page.scripts] == ["thumbnails", "figures", *["code"] * 7]
    name = page.data("figures")["truth"]["data"][0]["name"]
    assert "<" not in name and "\u202e" not in name, "Plotly reads markup in names: it must find none"
    links = [str(attrs["href"]) for tag, attrs in page.elements if tag == "a" and "report" in str(attrs.get("href"))]
    assert set(links) == {"a%20%3Cb%3E/report.html", "a%20%3Cb%3E/report.html#t1", "a%20%3Cb%3E/report.html#t2"}


def test_runs_outside_the_folder_are_linked_relatively(tmp_path: Path) -> None:
    run = arm(tmp_path / "runs" / "r1", 2)
    page = Page(page_of(study_of(tmp_path / "studies" / "s", {"r1": run})))
    links = {str(attrs.get("href")) for tag, attrs in page.elements if tag == "a"}
    assert "../../runs/r1/report.html" in links


def test_secrets_in_the_question_are_not_written(tmp_path: Path) -> None:
    run = arm(tmp_path / "a", 1)
    path = page_of(study_of(tmp_path, {"a": run}, "?", "key AIzaSyA1234567890abcdefghijklmnop"))
    assert "AIzaSyA" not in path.read_text(encoding="utf-8")


def test_a_study_without_a_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no run yet"):
        page_of(study_of(tmp_path, {"a": tmp_path / "a"}))
    with pytest.raises(NoSuchRun, match="no study in"):
        page_of(tmp_path / "nothing")


@pytest.fixture
def grid(tmp_path: Path) -> Page:
    """Two arms, one of them a control, on two origins."""
    rows = []
    for name in ("gated", "no-gate"):
        for origin, turns in (("coffee", 4), ("astronaut", 12)):
            gate = (
                {"type": "always_accept"}
                if name == "no-gate"
                else {"type": "threshold", "evaluator": "brisque", "at": 1}
            )
            path = arm(tmp_path / "study" / name / origin, turns, gate=gate)
            rows.append({"arm": name, "origin": origin, "control": name == "no-gate", "path": path})
    rows.append({"arm": "gated", "origin": "rocket", "path": tmp_path / "study" / "gated" / "rocket"})
    return Page(page_of(study_of(tmp_path / "study", rows, "Which?", sensitivity=(0.3,))))


def test_a_grid_has_the_two_axes_per_arm_and_one_picture_is_one_origin(grid: Page) -> None:
    """Of 4 and of 12 turns 2 and 10 are exposed; both origins are the same photograph under two names."""
    words = grid.words()
    assert "gated propagates; without a gate the loop propagates." in words
    assert "gated 2 16 turns 33.3 33.3 67 % turn 8 median 0 of 2 0 / 0 / 2 0 % kept out of 2 turn 3 at first" in words
    assert "1 origin: too few for intervals and p" in words
    assert "Origins coffee, astronaut are one picture, pixel for pixel: they count as one origin." in words
    assert "Runs plan different numbers of turns (4, 12)" in words
    assert "1 run never begun: gated rocket r1." in words
    assert "gated 2 +0 +0" in words, "the same as without a gate, on the same cells"


def test_a_grid_lists_every_run_and_a_sheet_per_cell(grid: Page) -> None:
    links = {str(attrs.get("href")) for tag, attrs in grid.elements if tag == "a"}
    assert {
        f"{name}/{origin}/report.html" for name in ("gated", "no-gate") for origin in ("coffee", "astronaut")
    } <= links
    sheets = [attrs for _, attrs in grid.elements if "data-sheet" in attrs]
    assert [attrs["aria-label"] for attrs in sheets] == ["Contact sheet coffee r1", "Contact sheet astronaut r1"]
    assert ["hidden" in attrs for attrs in sheets] == [False, True]


def test_a_grids_curves_are_medians_with_their_range(grid: Page) -> None:
    figures = grid.data("figures")
    band, *_ = figures["truth"]["data"]
    assert band["fill"] == "toself"
    curve = next(t for t in figures["truth"]["data"] if t["mode"] == "lines+markers")
    assert curve["y"][4] == pytest.approx(0.8) and curve["y"][12] == pytest.approx(2.4), (
        "a run has no more turns than planned"
    )
    survival = next(t for t in figures["survival"]["data"])
    assert (survival["x"], survival["y"]) == ([0, 3, 12], [1.0, 0.0, 0.0])
    assert set(figures) >= {"plane", "at-1", "at-2", "roc-1"}
    exposure = next(t for t in figures["at-2"]["data"] if t["name"] == "gated")
    assert exposure["x"] == [0.3, 0.5] and exposure["y"] == pytest.approx(
        [(3 / 4 + 11 / 12) / 2, (2 / 4 + 10 / 12) / 2]
    )
    (point,) = (t for t in figures["plane"]["data"] if t["name"] == "gated")
    assert point["y"] == pytest.approx([100 * (2 / 4 + 2 / 12) / 2])


def test_gaps_are_drawn_per_run_where_runs_are_long_enough(tmp_path: Path) -> None:
    runs = {"no-gate": arm(tmp_path / "study" / "a", 20, gate={"type": "always_accept"})}
    page = Page(page_of(study_of(tmp_path / "study", runs)))
    marks = page.data("figures")["delta-1"]["data"]
    assert [(trace["name"], trace["y"]) for trace in marks] == [("notices the decay", [-4.0, -9.0, -19.0])]
    higher = page.data("figures")["delta-2"]["data"]
    assert [(trace["name"], trace["y"]) for trace in higher] == [("misses the decay", [4.0, 9.0, 19.0])]
    assert "psnr" in page.words() and "1 of 1 run" in page.words()


def test_what_editors_said_and_peoples_verdicts_are_on_the_page(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "study" / "a", size=48, turns=3)
    for turn in (1, 2, 3):
        picture = encode_png(degraded(writer.origin, 0.3 * turn, turn))
        writer.attempt(turn, image=picture, scores={"brisque": 30, "psnr": 30}, damage=0.3 * turn,
                       reasoning="The result is an exact replica of the original.")  # fmt: skip
    folder = study_of(tmp_path / "study", {"a": writer.close()})
    lines = ["run,turn,attempt,damaged,labels", "a,1,1,yes,persistent_noise", "a,2,1,no,", "nobody,1,1,no,"]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    labels = read_labels(folder / "labels.csv")
    view = load_study(StudyView.load(folder), labels)
    reader = LexiconReader(LexiconConfig(type="lexicon"))
    page = Page(write_study_page(view, answer_study(view, reader)))
    words = page.words()
    assert "What the editors said" in words and "a simulated 3 0 0 100 % 100 %" in words
    assert "persistent noise image a" in words and "label file" in words
    assert "none of the runs is 'nobody'" in words
    truth = next(t for t in page.data("figures")["truth"]["data"] if t["mode"] == "lines+markers")
    assert truth["y"] == [None, 1.0, 0.0, None], "the verdicts, and nothing where there is none"


def test_a_ledger_is_read_once_for_answer_and_page(tmp_path: Path) -> None:
    root = tmp_path / "study"
    loaded = load_study(StudyView.load(study_of(root, {name: arm(root / name, 3) for name in ("a", "b")})))
    for ledger in root.glob("*/ledger.sqlite"):
        ledger.unlink()
    answer = answer_study(loaded)
    assert [one.planned for one in answer.arms] == [3, 3]
    truth = Page(write_study_page(loaded, answer)).data("figures")["truth"]["data"]
    assert [trace["name"] for trace in truth if trace["mode"] == "lines+markers"] == ["a", "b"]


def many_arms(folder: Path) -> Path:
    """Nine own arms and two controls: four alike propagate, one goes on, one stalls, three go wrong later."""
    rows = []
    for number in range(1, 10):
        writer = Writer(folder / f"arm-{number}", size=48, turns=12)
        for turn in range(1, 13):
            damage = 0.1 if number == 5 else 0.9 if turn > (number if number > 6 else 2) else 0.1
            keep = number != 6
            writer.attempt(
                turn, image=encode_png(degraded(writer.origin, damage, 100 * number + turn)), damage=damage,
                scores={"brisque": 30, "psnr": 30}, verdict="accept" if keep else "reject",
                action="accept" if keep else "skip",
            )  # fmt: skip
        rows.append({"arm": f"arm-{number}", "path": writer.close()})
    rows.append({"arm": "no-gate", "control": True, "path": arm(folder / "no-gate", 12)})
    rejects = Writer(folder / "always-reject", size=48, turns=12)
    for turn in range(1, 13):
        picture = encode_png(degraded(rejects.origin, 0.5, turn))
        rejects.attempt(turn, image=picture, damage=0.9, scores={"brisque": 90}, verdict="reject", action="skip")
    rows.append({"arm": "always-reject", "control": True, "path": rejects.close()})
    return page_of(study_of(folder, rows, "Which?"))


def test_points_lie_where_their_numbers_are_and_those_that_coincide_share_a_label(tmp_path: Path) -> None:
    figure = Page(many_arms(tmp_path / "study")).data("figures")["plane"]
    points = {trace["name"]: (trace["x"][0], trace["y"][0]) for trace in figure["data"]}
    for name in ("arm-1", "arm-2", "arm-3", "arm-4", "no-gate"):
        assert points[name] == pytest.approx((100 * 10 / 12, 100 * 2 / 12)), "not moved aside to be seen"
    assert points["arm-5"] == (0, 100) and points["arm-6"] == points["always-reject"] == (0, 0)
    assert points["arm-9"] == pytest.approx((25, 75))
    texts = [note["text"] for note in figure["layout"]["annotations"]]
    assert texts[:3] == ["<i>catches and goes on</i>", "<i>stalls</i>", "<i>propagates</i>"]
    assert sorted(texts[3:]) == ["1, 2, 3, 4, 10", "5 arm-5", "6, 11", "7", "8", "9"], "unbeaten arms are named"


def test_a_stalled_arm_is_untouched_in_words_everywhere(tmp_path: Path) -> None:
    path = many_arms(tmp_path / "study")
    page = Page(path)
    words = page.words()
    assert "always-reject control stalls: no new image in 12 turns, the origin stands untouched." in words
    assert "always-reject turn 12, untouched" in words, "under its pictures"
    assert "80 dB" not in path.read_text(encoding="utf-8")
    assert "Unbeaten: arm-5." in words
    truth = page.data("figures")["truth"]["data"]
    assert not [t for t in truth if t["name"] == "always-reject" and any(value is not None for value in t["y"])]
    assert "always-reject (12 of 12 turns)" in words, "what is left out of the curves is said"


def test_the_strip_shows_how_each_arm_came_to_its_end(study: Page, tmp_path: Path) -> None:
    links = [str(attrs["href"]) for _, attrs in study.elements if attrs.get("class") == "moment"]
    assert links[:4] == ["no-gate/report.html", *(f"no-gate/report.html#t{turn}" for turn in (5, 10, 12))]
    assert "short/report.html#t3" in links and "short/report.html#t5" not in links, "it ended at turn 3"
    many = Page(many_arms(tmp_path / "many"))
    moments = [attrs.get("href") for _, attrs in many.elements if attrs.get("class") == "moment"]
    assert len(moments) == 1 + 11 * 3 and moments[0] is None, "the origin once, then three turns of each arm"


def test_a_further_truth_has_its_plane_its_sentences_and_where_it_disagrees(tmp_path: Path) -> None:
    folder = study_of(
        tmp_path / "study", {"a": arm(tmp_path / "study" / "a", 4), "b": arm(tmp_path / "study" / "b", 4)}
    )
    rows = [f"{name},{turn},1,no," for name in ("a", "b") for turn in range(1, 5)]
    (folder / "labels.csv").write_text("\n".join(["run,turn,attempt,damaged,labels", *rows]) + "\n")
    loaded = load_study(StudyView.load(folder), read_labels(folder / "labels.csv"))
    page = Page(write_study_page(loaded, answer_study(loaded)))
    figures = page.data("figures")
    assert [trace["x"] for trace in figures["plane"]["data"]] == [[0], [0]], "people call all of them sound"
    assert [trace["x"] for trace in figures["plane-1"]["data"]] == [[50], [50]]
    same = [[(t["name"], t["marker"]) for t in figures[place]["data"]] for place in ("plane", "plane-1")]
    assert same[0] == same[1], "an arm looks the same by every truth"
    words = page.words()
    assert words.count("labels and truth disagree on 2 of 4 candidates") == 2, "at the top and beside the plane"
    assert "By the truth truth" in words


def test_each_editor_has_its_own_curve_before_the_mean(tmp_path: Path) -> None:
    rows = []
    for editor in ("one", "two"):
        path = arm(tmp_path / "study" / editor, 6, gate={"type": "always_accept"})
        rows.append({"arm": "no-gate", "control": True, "editor": editor, "path": path})
    page = Page(page_of(study_of(tmp_path / "study", rows)))
    figures = page.data("figures")
    assert [place for place in figures if place.startswith("roc")] == ["roc-1", "roc-2", "roc-3"]
    words = page.words()
    assert words.index("ROC, one") < words.index("ROC, two") < words.index("ROC, all editors")
