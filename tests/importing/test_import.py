"""`turngate import` as a user calls it: frames in a folder become recorded runs, a study and its page."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.cli.program import Done
from tests.pages.page import Page

from turngate import RunView
from turngate.picture import Picture
from turngate.traces.analysis.run import stretch_of, turn_results
from turngate.traces.rescored import read_scores

from .trees import PATTERN, chain, flat, photograph, tree

Turngate = Callable[..., Done]
QUICK = ("--quiet", "--with", "none")


def results(run: Path) -> list[str]:
    return [one.result for one in turn_results(stretch_of(RunView.load(run)))]


def frames(run: Path) -> dict[int, tuple[str, list[str]]]:
    return {one.row.turn: (one.row.why or one.row.outcome, one.row.flags) for one in RunView.load(run).attempts}


def found(turngate: Turngate, *arguments: object) -> dict[str, Any]:
    done = turngate("import", *arguments, "--dry-run", "--json")
    assert done.code == 0, done.err
    return done.json()


def test_a_tree_becomes_a_study_and_comes_back_as_it_was(turngate: Turngate, tmp_path: Path) -> None:
    """Runs with their own origins, verdicts that lead, a page that says what it is; the same files out again."""
    tree(tmp_path / "root", repeats=2)
    done = turngate("import", PATTERN, "--labels", "human.csv", "--yes", "--with", "drift", "--quiet")
    assert done.code == 0, done.err
    assert "8 chains of 2 origins, 32 frames" in done.out
    run = tmp_path / "runs/root/recorded/coffee--soft-blur--r2"
    view = RunView.load(run)
    assert [one.row.outcome for one in view.attempts] == ["edited"] * 4
    recorded = tmp_path / "root/coffee/soft blur/rep02"
    stored = [view.info.origin.image, *(one.row.image for one in view.attempts)]
    assert stored == [Picture.from_file(recorded / f"step_{turn:03}.png").sha256 for turn in range(5)]
    assert all(one.scores["drift"].status == "scored" for one in view.attempts)
    study = turngate("report", "runs/root")
    assert study.code == 0, study.err
    page = Page(tmp_path / "runs/root/index.html").words()
    assert "recorded chains: nothing was edited" in page
    assert "labels, damaged at 1" in page
    assert "propagates in all 8 runs" in page
    assert "recorded" in Page(run / "report.html").words()

    out = turngate("export", "runs/root", "--as", "back/{origin}/{setting}/rep{repeat}/step_{turn}.png")
    assert out.code == 0, out.err
    first = {file.relative_to(tmp_path / "root"): file.read_bytes() for file in (tmp_path / "root").rglob("*.png")}
    second = {file.relative_to(tmp_path / "back"): file.read_bytes() for file in (tmp_path / "back").rglob("*.png")}
    assert first == second
    assert len(second) == 40
    again = turngate("import", PATTERN.replace("root", "back"), *QUICK)
    assert again.code == 0, again.err
    twin = RunView.load(tmp_path / "runs/back/recorded/coffee--soft-blur--r2")
    assert [one.row.image for one in twin.attempts] == stored[1:]


def test_a_second_call_goes_on_and_tells_what_changed(turngate: Turngate, tmp_path: Path) -> None:
    chain(tmp_path / "x/a", (10, 20, 30))
    chain(tmp_path / "x/b", (50, 60, 70))
    call = ("import", "x/{origin}/{turn}", *QUICK)
    assert turngate(*call).code == 0
    ledgers = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("ledger.sqlite")}
    assert len(ledgers) == 2
    done = turngate(*call)
    assert done.code == 0, done.err
    assert "nothing to do" in done.out
    assert {file: file.stat().st_mtime_ns for file in ledgers} == ledgers
    (tmp_path / "x/a/1.png").touch()  # the same bytes
    assert turngate(*call).code == 0
    other = turngate(*call[:-1], "{type: scripted}")
    other.refused(2, "runs/x/recorded/a was imported with other settings (evaluators.scripted", "turngate score runs/x")
    flat(tmp_path / "x/a/1.png", 21)
    chain(tmp_path / "x/c", (90, 80))
    done = turngate(*call)
    assert done.code == 2
    assert "a: changed since it was imported (turn 1 1.png)" in done.err
    assert results(tmp_path / "runs/x/recorded/c") == ["progressed"]
    unchanged = RunView.load(tmp_path / "runs/x/recorded/a").attempts[0].row.image
    assert unchanged != Picture.from_file(tmp_path / "x/a/1.png").sha256


def test_a_killed_import_goes_on(turngate: Turngate, tmp_path: Path) -> None:
    """A run whose ledger ends early is taken up, a chain without a run is begun."""
    chain(tmp_path / "x/a", (10, 20, 30, 40))
    chain(tmp_path / "x/b", (50, 60, 70))
    call = ("import", "x/{origin}/{turn}", *QUICK)
    assert turngate(*call).code == 0
    whole = RunView.load(tmp_path / "runs/x/recorded/a")
    fork = turngate("fork", "runs/x/recorded/a", "--turn", "1", "--no-run", "--out", "half")
    assert fork.code == 0, fork.err
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"):
        (tmp_path / "runs/x/recorded/a" / name).unlink(missing_ok=True)
        if (tmp_path / "half" / name).exists():
            (tmp_path / "half" / name).replace(tmp_path / "runs/x/recorded/a" / name)
    assert len(RunView.load(tmp_path / "runs/x/recorded/a").attempts) == 1
    assert turngate(*call).code == 0
    again = RunView.load(tmp_path / "runs/x/recorded/a")
    assert [one.row.image for one in again.attempts] == [one.row.image for one in whole.attempts]


def test_what_is_wrong_is_told_in_one_line_each(turngate: Turngate, tmp_path: Path) -> None:
    """Gaps, doubles, frames that are no images or are cut off, chains of one frame: the rest counts."""
    folder = chain(tmp_path / "x/odd", (10, 20, 30, 40, 50, 60, 70))
    (folder / "2.png").unlink()
    (folder / "4.png").write_bytes((folder / "4.png").read_bytes()[:60])
    (folder / "5.png").write_text("hello")
    flat(folder / "06.png", 61)
    chain(tmp_path / "x/one", (10,))
    (tmp_path / "x/torn").mkdir()
    (tmp_path / "x/torn/0.png").write_text("hello")
    flat(tmp_path / "x/torn/1.png", 9)
    done = turngate("import", "x/{origin}/{turn}.png", *QUICK)
    assert done.code == 0, done.err
    assert "odd: no frame of turn 2: not on record" in done.err
    assert "odd: turn 6 has two files, 6.png is left out" in done.err
    assert "odd/5.png is no image that can be read" in done.err
    assert "one: one frame is no chain (0.png): it is left out" in done.err
    assert "torn: its origin" in done.err
    run = tmp_path / "runs/x/recorded/odd"
    lost = ["not_on_record"]
    assert frames(run) == {
        1: ("edited", []), 2: ("not_recorded", lost), 3: ("edited", []), 4: ("undecodable", lost),
        5: ("undecodable", lost), 6: ("edited", []),
    }  # fmt: skip
    assert results(run) == ["progressed", "unknown", "propagated", "unknown", "unknown", "propagated"]
    assert "3 turns of recorded chains have no image that can be read" in done.err
    back = turngate("export", "runs/x", "--as", "back/{origin}/{turn}.png")
    assert back.code == 0, back.err
    assert (tmp_path / "back/odd/5.png").read_text() == "hello"
    assert sorted(file.name for file in (tmp_path / "back/odd").iterdir()) == [f"{n}.png" for n in (0, 1, 3, 4, 5, 6)]


def test_turns_are_counted_from_the_first_frame_or_from_the_origin_that_is_given(
    turngate: Turngate, tmp_path: Path
) -> None:
    chain(tmp_path / "x/a", (20, 30, 40), "{:02}.png", first=1)
    flat(tmp_path / "seeds/a.jpg", 10)
    alone = found(turngate, "x/{origin}/{turn}.png")
    assert (alone["chains"][0]["turns"], alone["chains"][0]["first_turn"]) == (2, 1)
    assert "without frame 0" in alone["notes"][0]
    given = found(turngate, "x/{origin}/{turn}.png", "--origin", "seeds/{origin}")
    assert (given["chains"][0]["turns"], given["chains"][0]["first_turn"]) == (3, 0)
    assert given["chains"][0]["origin_file"] == str(tmp_path / "seeds/a.jpg")
    turngate("import", "x/{origin}/{turn}.png", "--origin", "nowhere/{origin}", *QUICK).refused(
        2, "its origin is missing"
    )
    assert turngate("import", "x/{origin}/{turn}.png", *QUICK).code == 0
    assert turngate("export", "runs/x", "--as", "y/{origin}/{turn}.png").code == 0
    assert sorted(file.name for file in (tmp_path / "y/a").iterdir()) == ["01.png", "02.png", "03.png"]


def test_gaps_can_be_closed(turngate: Turngate, tmp_path: Path) -> None:
    for turn in (0, 10, 20):
        flat(tmp_path / f"x/a/{turn}.png", turn)
    assert found(turngate, "x/{origin}/{turn}")["chains"][0]["gaps"] == [*range(1, 10), *range(11, 20)]
    closed = found(turngate, "x/{origin}/{turn}", "--renumber")["chains"][0]
    assert (closed["turns"], closed["gaps"]) == (2, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["give a path pattern"]),
        (("x",), ["x has no field", "--layout numbered"]),
        (("x/{origin}/frame{turn}.png",), ["x has 3 images", "'a/0.png'", "try 'x/a/{turn}.png'"]),
        (("xy/{origin}/{turn}.png",), ["no folder xy", "did you mean 'x'"]),
        (("x/{origin}",), ["no field {turn}"]),
        (("x/{Origin}/{turn}",), ["{Origin} is no field"]),
        (("x/{origin}/{attempt}_{turn}",), ["no field {attempt}"]),
        (("x/{origin}/{turn}", "--map", "m.csv"), ["--map", "neither a pattern"]),
        (("x/{origin}/{turn}", "--origin", "{seed}"), ["nothing is known of {seed}", "origin"]),
        (("x/{origin}/{turn}", "--with", "brisk"), ["did you mean 'brisque'"]),
        (("x/{origin}/{turn}", "--truth", "high"), ["--truth", "none"]),
        (("x/{origin}/{turn}", "--truth", "{measure: brisque, damaged_at: 1}"), ["cannot measure truth"]),
        (("x/{origin}/{turn}", "--truth", "{measure: simulator, damaged_at: 1}"), ["no simulator's record"]),
        (("x/{origin}/{turn}", "--arm", "strict"), ["--arm strict", "NAME=GATE"]),
        (("x/{origin}/{turn}", "--arm", "a--b=always_reject"), ["--arm a--b"]),
        (("x/{origin}/{turn}", "--arm", "s={type: threshold, evaluator: nope, at: 1}"), ["'nope'"]),
        (("x/{origin}/{turn}", "--labels", "l.csv"), ["path=file,damaged=bad", "--yes"]),
        (("x/{origin}/{turn}", "--labels", "l.csv", "--label-columns", "path=fil,damaged=bad"), ["mean 'file'"]),
        (("x/{origin}/{turn}", "--labels", "none.csv"), ["cannot read none.csv"]),
        (("x/{origin}/{turn}", "--scenario", "replicate", "--ideal", "origin"), ["--ideal"]),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(
    turngate: Turngate, tmp_path: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    chain(tmp_path / "x/a", (10, 20, 30))
    (tmp_path / "m.csv").write_text("path,turn\nx/a/0.png,0\n")
    (tmp_path / "l.csv").write_text("file,bad\nx/a/1.png,1\n")
    turngate("import", *arguments).refused(2, *words)
    assert not (tmp_path / "runs").exists()


def test_more_chains_of_another_setting_change_no_run(turngate: Turngate, tmp_path: Path) -> None:
    chain(tmp_path / "x/a/one/rep1", (10, 20))
    call = ("import", "x/{origin}/{setting}/rep{repeat}/{turn}", *QUICK)
    assert turngate(*call).code == 0
    before = (tmp_path / "runs/x/recorded/a--one--r1/ledger.sqlite").stat().st_mtime_ns
    for place in ("x/a/two/rep1", "x/b/one/rep1", "x/a/one/rep2"):
        chain(tmp_path / place, (30, 40))
    assert turngate(*call).code == 0
    runs = sorted(run.name for run in (tmp_path / "runs/x/recorded").iterdir())
    assert runs == ["a--one--r1", "a--one--r2", "a--two--r1", "b--one--r1"]
    assert (tmp_path / "runs/x/recorded/a--one--r1/ledger.sqlite").stat().st_mtime_ns == before


def test_numbers_that_are_no_turns(turngate: Turngate, tmp_path: Path) -> None:
    for number in (0, 20261201):
        flat(tmp_path / f"x/a/{number}.png", number % 200)
    turngate("import", "x/{origin}/{turn}", *QUICK).refused(2, "is that number a turn", "--renumber")
    assert found(turngate, "x/{origin}/{turn}", "--renumber")["chains"][0]["turns"] == 1


def test_another_study_is_left_alone(turngate: Turngate, tmp_path: Path) -> None:
    chain(tmp_path / "x/a", (10, 20))
    assert turngate("import", "x/{origin}/{turn}", *QUICK).code == 0
    turngate("import", "x", "--layout", "numbered", *QUICK).refused(2, "holds another study", "--out")


# Labels.


@pytest.mark.parametrize(
    "text",
    [
        "path,damaged\nx/a/1.png,0\nx/a/2.png,1\n",
        "x/a/1.png,0\nx/a/2.png,1\n",
        "id;Image Path;verdict;rater\n1;a/1.png;no;ada\n2;a/2.png;YES;ada\n",
        "damaged,frame\nfalse,{here}/x/a/1.png\ntrue,2.png\n",
    ],
)
def test_columns_of_labels_are_guessed(turngate: Turngate, tmp_path: Path, text: str) -> None:
    chain(tmp_path / "x/a", (10, 20, 30))
    (tmp_path / "ada.csv").write_text(text.replace("{here}", str(tmp_path)))
    done = turngate("import", "x/{origin}/{turn}", "--labels", "ada.csv", "--yes", *QUICK)
    assert done.code == 0, done.err
    with (tmp_path / "runs/x/labels.csv").open() as file:
        rows = [(row["run"], row["turn"], row["damaged"], row["by"]) for row in csv.DictReader(file)]
    assert rows == [("recorded/a", "1", "no", "ada"), ("recorded/a", "2", "yes", "ada")]
    again = turngate("import", "x/{origin}/{turn}", "--labels", "ada.csv", "--yes", *QUICK)
    assert "labels: 0 rows added" in again.out


def test_labels_that_mean_no_frame_are_told(turngate: Turngate, tmp_path: Path) -> None:
    for name in "ab":
        chain(tmp_path / "x" / name, (10, 20))
    (tmp_path / "l.csv").write_text("path,damaged\na/1.png,1\n1.png,1\nc/9.png,0\n")
    problems = found(turngate, "x/{origin}/{turn}", "--labels", "l.csv")["problems"]
    assert problems == [
        "l.csv, line 3: 1.png may be 2 frames: left out", "l.csv, line 4: c/9.png is no frame of the chains: left out"
    ]  # fmt: skip
    (tmp_path / "l.csv").write_text("path,damaged\na/1.png,perhaps\n")
    done = turngate("import", "x/{origin}/{turn}", "--labels", "l.csv", "--label-columns", "path=path,damaged=damaged")
    done.refused(2, "line 2", "'perhaps'")


def test_a_study_file_names_its_labels(turngate: Turngate, tmp_path: Path) -> None:
    """They lead the page wherever it is written; rows of a run that is not there are told in one line."""
    chain(tmp_path / "x", (10, 20, 30))
    (tmp_path / "verdicts.csv").write_text(
        "run,turn,damaged\nruns/s/open,1,no\nruns/s/open,2,yes\ngone,1,no\ngone,2,no\n"
    )
    (tmp_path / "study.yaml").write_text(
        "{name: s, question: Why, labels: verdicts.csv, controls: none, arms: {open: {gate: always_accept}},\n"
        "run: {origin: x/0.png, scenario: replicate, turns: 2, editor: {type: replay, source: x}, evaluators: []}}"
    )
    done = turngate("study", "study.yaml", "--quiet")
    assert done.code == 0, done.err
    assert "Truth (labels)" in done.out
    assert f"{tmp_path}/verdicts.csv, line 4 and 1 more row: none of the runs is 'gone'" in done.err
    (tmp_path / "runs/s/index.html").unlink()
    assert turngate("report", "runs/s").code == 0
    assert "labels, damaged at 1" in Page(tmp_path / "runs/s/index.html").words()


# Gates on recorded chains.


def test_gates_count_up_to_the_divergence_and_the_page_says_so(turngate: Turngate, tmp_path: Path) -> None:
    """In one chain frame 2 is refused: what follows was made from it, so the gate's run is known to turn 2 only."""
    levels = {"a": (40, 45, 240, 70, 80), "b": (90, 95, 100, 105, 110)}
    for name, given in levels.items():
        chain(tmp_path / "x" / name, given)
    done = turngate(
        "import", "x/{origin}/{turn}", "--with", "{type: scripted}", "--arm",
        "strict={type: threshold, evaluator: scripted, at: 0.7}",
        "--truth", "{measure: psnr, damaged_at: 25}", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    runs = tmp_path / "runs/x"
    assert results(runs / "strict/b") == results(runs / "recorded/b")
    assert results(runs / "strict/a") == ["progressed", "held", "unknown", "unknown"]
    answer = done.json()["answer"]
    (pair,) = answer["pairs"]
    assert (pair["arm"], pair["base"], pair["turns"]) == ("strict", "recorded", [2, 4])
    page = Page(runs / "index.html").words()
    assert "Gates are compared by replay" in page
    assert "in 1 run the recorded chain diverged; 2 turns beyond that point are unknown" in page
    replayed = turngate(
        "replay", runs / "recorded/a", "--set", "gate={type: threshold, evaluator: scripted, at: 0.7}", "--json"
    )
    assert replayed.json()["replays"][0]["first_change"] == [2, 1]


# Sources of other shapes.


def test_a_map_lists_odd_trees(turngate: Turngate, tmp_path: Path) -> None:
    """A shared origin, a model whose name changed on the way, verdicts and summaries; JSON lines say the same."""
    chain(tmp_path / "odd", (10, 20, 30, 40))
    header = "path,origin,setting,repeat,turn,instruction,reasoning,model,damaged,note"
    rows = [
        "odd/0.png,cup,,,0,,,,,",
        "odd/1.png,cup,hot,1,1,Copy it,All is well.,m-1,no,x",
        'odd/2.png,cup,hot,1,2,"Copy it, again",,m-2,yes,x',
        "odd/3.png,cup,hot,2,1,Copy it,,m-1,,",
        "odd/9.png,cup,hot,2,2,Copy it,,m-1,,",
    ]
    (tmp_path / "map.csv").write_text("\n".join([header, *rows]) + "\n")
    done = turngate("import", "--map", "map.csv", "--ideal", "origin", *QUICK)
    assert done.code == 0, done.err
    assert f"no image at {tmp_path}/odd/9.png" in done.err
    study = tmp_path / "runs/map/recorded"
    assert sorted(run.name for run in study.iterdir()) == ["cup--hot--m-1--r2", "cup--hot--m-1-m-2--r1"]
    attempts = RunView.load(study / "cup--hot--m-1-m-2--r1").attempts
    assert [(one.row.model, one.row.instruction, one.row.reasoning) for one in attempts] == [
        ("m-1", "Copy it", "All is well."), ("m-2", "Copy it, again", None)
    ]  # fmt: skip
    assert not any("replay_other_instruction" in one.row.flags for one in attempts)
    assert (tmp_path / "runs/map/labels.csv").read_text().count("\n") == 3
    objects = [dict(zip(header.split(","), row, strict=True)) for row in csv.reader(rows)]
    (tmp_path / "map.jsonl").write_text("\n".join(json.dumps(one) for one in objects))
    assert found(turngate, "--map", "map.jsonl")["chains"] == found(turngate, "--map", "map.csv")["chains"]
    (tmp_path / "map.jsonl").write_text('{"path": "odd/1.png", "turn": "one"}\n')
    turngate("import", "--map", "map.jsonl").refused(2, "line 1", "turn")


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_frames_of_an_animated_image_are_a_chain(turngate: Turngate, tmp_path: Path, kind: str) -> None:
    pictures = [Image.fromarray(np.full((16, 16, 3), level, dtype=np.uint8)) for level in (0, 60, 120, 180)]
    (tmp_path / "x").mkdir()
    pictures[0].save(tmp_path / f"x/a.{kind}", save_all=True, append_images=pictures[1:], lossless=True)
    pictures[0].save(tmp_path / f"x/still.{kind}")
    done = turngate("import", "x", "--layout", "gif", *QUICK)
    assert done.code == 0, done.err
    assert "has one frame, it is not animated" in done.err
    view = RunView.load(tmp_path / "runs/x/recorded/a")
    shown = [Picture.from_bytes(view.folder.images.get(one.row.image or "")).rgb for one in view.attempts]
    assert [image.mean() for image in shown] == pytest.approx([60, 120, 180], abs=1)
    assert "nothing to do" in turngate("import", "x", "--layout", "gif", *QUICK).out
    pictures[0].save(tmp_path / f"x/a.{kind}", save_all=True, append_images=pictures[2:], lossless=True)
    changed = turngate("import", "x", "--layout", "gif", *QUICK)
    assert changed.code == 2
    assert "a: changed since it was imported" in changed.err


def test_round_trips_have_a_truth_at_every_second_turn(turngate: Turngate, tmp_path: Path) -> None:
    """An object added at odd turns and removed at even ones: the even frames should be the origin."""
    chain(tmp_path / "x/cup", (100, 180, 101, 180, 160))
    done = turngate("import", "x", "--layout", "round-trip", *QUICK)
    assert done.code == 0, done.err
    assert "every second frame should equal" in done.out
    truths = [one.truth for one in RunView.load(tmp_path / "runs/x/recorded/cup").attempts]
    assert [truth.damaged if truth else None for truth in truths] == [None, False, None, True]
    assert "not known at this turn" in (truths[0].detail if truths[0] else "")
    assert results(tmp_path / "runs/x/recorded/cup") == ["unknown", "progressed", "unknown", "propagated"]


def test_edit_drifts_tree_with_its_control_rectangles(turngate: Turngate, tmp_path: Path) -> None:
    """The frames differ from the original in the upper half alone, where no control rectangle lies."""
    image = photograph("coffee", 96)
    for model in ("model-a", "model b"):
        for step in (1, 2):
            image.paste((200, 0, 0), (0, 0, 96, 10 * step))
            path = tmp_path / f"ed/results/desk/{model}/step{step:02}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            image.save(path, quality=95)
    bench = tmp_path / "ed/benchmarks/desk"
    bench.mkdir(parents=True)
    photograph("coffee", 96).save(bench / "original.jpg", quality=95)
    (bench / "rois.json").write_text("[[0, 0.6, 0.5, 1], [0.5, 0.7, 1, 1]]")
    steps = [{"step": step, "instruction": f"Make band {step} red.", "label": "x"} for step in (1, 2)]
    (bench / "steps.json").write_text(json.dumps(steps))
    done = turngate("import", "ed", "--layout", "edit-drift", *QUICK)
    assert done.code == 0, done.err
    view = RunView.load(tmp_path / "runs/ed/recorded/desk--model-b")
    assert [one.row.instruction for one in view.attempts] == ["Make band 1 red.", "Make band 2 red."]
    truths = [one.truth for one in view.attempts]
    assert all(truth and truth.measure == "control_regions" and truth.value is not None for truth in truths)
    assert all(truth.value < 4 for truth in truths if truth and truth.value is not None)
    (bench / "rois.json").write_text("[[3, 4, 5]]")
    turngate("import", "ed", "--layout", "edit-drift").refused(2, "rois.json", "shares 0..1")


# Evaluators that need what came before.


def test_history_is_the_same_in_an_import_and_in_a_manifest(turngate: Turngate, tmp_path: Path) -> None:
    tree(tmp_path / "root", turns=3, origins=("coffee",), kinds=("jpeg",))
    to_previous = "step={type: psnr, against: previous}"
    evaluators = ("--with", "drift_chain", "--with", to_previous)
    done = turngate("import", PATTERN, *evaluators, "--quiet")
    assert done.code == 0, done.err
    folder = "root/coffee/jpeg/rep01"
    view = RunView.load(tmp_path / "runs/root/recorded/coffee--jpeg--r1")
    live = {
        (one.row.turn, name): (score.status, score.value) for one in view.attempts for name, score in one.scores.items()
    }
    folder = str(tmp_path / folder)
    by_chain = [f"{folder}/step_{turn:03}.png,c,{turn}," for turn in range(4)]
    listed = [
        f"{folder}/step_{turn:03}.png,,{turn}," + ";".join(f"{folder}/step_{one:03}.png" for one in range(1, turn))
        for turn in range(1, 4)
    ]
    for name, lines in (("chain", by_chain), ("history", listed)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "list.csv").write_text("\n".join(["path,chain,turn,history", *lines]))
    assert turngate("score", "chain/list.csv", *evaluators).code == 0
    assert turngate("score", "history/list.csv", "--with", "drift_chain").code == 0
    for name, names in (("chain", ("drift_chain", "step")), ("history", ("drift_chain",))):
        rows = {(row.turn, row.evaluator): (row.status, row.value) for row in read_scores(tmp_path / name)}
        assert {key: rows[key] for key in live if key[1] in names} == {
            key: value for key, value in live.items() if key[1] in names
        }
    assert live[3, "drift_chain"][0] == "scored"
    (tmp_path / "chain.csv").write_text(f"path,chain,turn\n{folder}/step_001.png,c,1\n{folder}/step_002.png,c,1\n")
    turngate("score", "chain.csv", "--with", "drift_chain").refused(2, "line 3", "turn 1 twice")


# The way back.


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("out/{origin}.png", ["no field {turn}"]),
        ("out/{turn}.png", ["two frames have one path", "{run}"]),
        ("out/{origin}/{turn}.jpg", ["coded again with loss", "{turn}.*"]),
        ("out/{seed}/{turn}", ["nothing is known of {seed}"]),
        ("there/{origin}/{turn}.png", ["has other bytes"]),
    ],
)
def test_an_export_that_would_lose_something_is_refused(
    turngate: Turngate, tmp_path: Path, pattern: str, words: list[str]
) -> None:
    for name in "ab":
        chain(tmp_path / "x" / name, (10, 20))
    flat(tmp_path / "there/a/1.png", 99)
    assert turngate("import", "x/{origin}/{turn}", *QUICK).code == 0
    turngate("export", "runs/x", "--as", pattern).refused(2, *words)
    assert not (tmp_path / "out").exists()


def test_a_run_of_the_loop_is_written_too(turngate: Turngate, tmp_path: Path) -> None:
    """Rejected turns have no file; a width pads the numbers; every image keeps its bytes with `.*`."""
    (tmp_path / "run.yaml").write_text(
        "{origin: {image: 'skimage:coffee', size: 48}, scenario: replicate, turns: 6, seed: 4, evaluators: [],\n"
        "editor: {type: codec, quality: 30, resize_jitter: 0.05}, gate: {type: random, accept_rate: 0.5}}"
    )
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 0
    assert turngate("export", "r", "--as", "out/{origin}/{turn:03}.*").code == 0
    view = RunView.load(tmp_path / "r")
    kept = {f"{one.row.turn:03}.jpg": one.row.image for one in view.attempts if one.taken}
    assert 0 < len(kept) < 6
    files = {file.name: Picture.from_file(file).sha256 for file in (tmp_path / "out/coffee").iterdir()}
    assert files == {"000.png": view.info.origin.image, **kept}
