"""Labels by people: the file, whom they mean, and what they do to the measures of a run."""

from __future__ import annotations

import csv
import multiprocessing
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.runs import Writer, degraded

from turngate.errors import MachineError, UserError
from turngate.picture import encode_png
from turngate.traces.analysis.labels import (
    COLUMNS,
    LabelRow,
    agreements,
    append_label,
    label_queue,
    read_labels,
    verdicts_of,
    with_labels,
)
from turngate.traces.analysis.run import (
    RunView,
    seen_by,
    stretch_of,
    summarise,
    truth_direction,
    truth_seen_by_gate,
    turn_results,
)
from turngate.traces.analysis.taxonomy import FAILURES
from turngate.traces.records import CompositeRow


def labelled(path: Path, *lines: str, header: str = ",".join(COLUMNS[:-1])) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path) -> RunView:
    """Four turns: accepted, rejected once then accepted, rejected twice and skipped, no image."""
    writer = Writer(tmp_path / "run", size=32, turns=4, evaluators={})
    pictures = [encode_png(degraded(writer.origin, 0.1 * number, number)) for number in range(1, 6)]
    writer.attempt(1, image=pictures[0], scores={})
    writer.attempt(2, 1, image=pictures[1], scores={}, verdict="reject", action="retry")
    writer.attempt(2, 2, image=pictures[2], scores={}, damage=0.9)
    writer.attempt(3, 1, image=pictures[3], scores={}, verdict="reject", action="retry")
    writer.attempt(3, 2, image=pictures[4], scores={}, verdict="reject", action="skip")
    writer.attempt(4, image=None, scores={}, verdict="reject", action="skip", status_after="complete")
    return RunView.load(writer.close())


@pytest.mark.slow
def test_a_row_is_read_cell_by_cell(tmp_path: Path) -> None:
    path = labelled(
        tmp_path / "l.csv", 'r1, 3 ,2,YES,counting; mirroring;counting,"two, not one",anna,2026-11-30T10:00:00'
    )
    ((line, row),) = read_labels(path).rows
    assert line == 2
    assert row == LabelRow(
        run="r1", turn=3, attempt=2, damaged=True, labels=("counting", "mirroring"), failure="two, not one", by="anna",
        at="2026-11-30T10:00:00",
    )  # fmt: skip


def test_columns_may_be_few_and_in_another_order_as_a_spreadsheet_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_bytes("\ufeffTurn,Damaged,Run\r\n1,no,r1\r\n\r\n,,\r\n2,,r1\r\n".encode())
    rows = [row for _, row in read_labels(path).rows]
    assert [(row.run, row.turn, row.damaged) for row in rows] == [("r1", 1, False), ("r1", 2, None)]


@pytest.mark.parametrize(
    ("lines", "header", "message"),
    [
        (["r1,x"], "run,turn", "line 2, turn: .*integer.*'x'"),
        (["r1,-1"], "run,turn", "line 2, turn"),
        ([",1"], "run,turn", "line 2, run"),
        (["r1,1", "r1,1,maybe"], "run,turn,damaged", "line 2: 2 cells under 3 columns"),
        (["r1,1,", "r1,1,maybe"], "run,turn,damaged", "line 3, damaged: write yes, no or nothing, not 'maybe'"),
        (
            ["r1,1,counted"],
            "run,turn,labels",
            "line 2, labels: no failure is called 'counted'; did you mean 'counting'",
        ),
        (["r1,1,yesterday"], "run,turn,at", "line 2, at: .*'yesterday'"),
        (["r1,1"], "run,turns", "no column is called 'turns'; did you mean 'turn'"),
        (["1"], "turn", "the column run is missing"),
        (["r1,1,1"], "run,turn,turn", "a column appears twice"),
        (['r1,"1'], "run,turn", "not valid CSV"),
        (["r1;1"], "run;turn", "no column is called 'run;turn'"),
        ([], "", "the column run is missing"),
    ],
)
def test_a_mistake_is_told_with_line_and_column(tmp_path: Path, lines: list[str], header: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_labels(labelled(tmp_path / "l.csv", *lines, header=header))
    assert "l.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no labels at"):
        read_labels(tmp_path / "none.csv")
    (tmp_path / "l.csv").write_bytes(b"run,turn\n\xff,1\n")
    with pytest.raises(UserError, match="not a UTF-8 text file"):
        read_labels(tmp_path / "l.csv")
    with pytest.raises(UserError, match="not a UTF-8 text file"):
        append_label(tmp_path / "l.csv", LabelRow(run="r1", turn=1))


def test_a_run_is_named_by_its_id_or_its_path(tmp_path: Path, run: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path.parent)
    names = [run.info.run, str(tmp_path / "run"), "run", f"{tmp_path.name}/run"]
    for name in names:
        labels = read_labels(labelled(tmp_path / "l.csv", f"{name},1,,yes,,,,"))
        assert list(labels.of(run).candidates) == [(1, 1)], name
        assert labels.strangers([run]) == []
    strange = read_labels(labelled(tmp_path / "l.csv", "another,1,,yes,,,,"))
    assert strange.of(run).candidates == {}
    assert "line 2: none of the runs is 'another'" in strange.strangers([run])[0]


def test_without_an_attempt_the_image_of_the_turn_is_meant(tmp_path: Path, run: RunView) -> None:
    rows = [f"run,{turn},,yes,,,," for turn in (0, 1, 2, 3, 4, 5)]
    found = read_labels(labelled(tmp_path / "l.csv", *rows)).of(run)
    assert found.origin is not None
    assert list(found.candidates) == [(1, 1), (2, 2)]
    told = "\n".join(found.remarks)
    assert "line 5: turn 3 ended without a new image and has 2 candidates: name the attempt" in told
    assert "line 6: turn 4, attempt 1 has no image" in told
    assert "line 7: the run has no turn 5" in told


def test_attempts_that_are_not_there_are_told(tmp_path: Path, run: RunView) -> None:
    found = read_labels(labelled(tmp_path / "l.csv", "run,3,3,yes,,,,", "run,0,1,yes,,,,", "run,3,1,no,,,,")).of(run)
    assert list(found.candidates) == [(3, 1)]
    assert "turn 3 has no attempt 3" in found.remarks[0]
    assert "turn 0 is the origin" in found.remarks[1]


def test_a_persons_later_row_counts_and_people_who_disagree_are_told(tmp_path: Path, run: RunView) -> None:
    path = labelled(
        tmp_path / "l.csv",
        "run,1,1,yes,,,anna,", "run,1,,no,,,anna,", "run,2,2,yes,,,anna,", f"{run.info.run},2,2,no,,,ben,",
        "run,3,1,yes,,,anna,", "run,3,1,,,,ben,",
    )  # fmt: skip
    found = read_labels(path).of(run)
    assert {place: row.damaged for place, row in found.candidates.items()} == {
        (1, 1): False,
        (2, 2): None,
        (3, 1): True,
    }
    (told,) = found.remarks
    assert told.startswith(f"{path}: people disagree about 1 image of a run (first turn 2, attempt 2: anna damaged,")
    assert told.endswith("ben sound); the majority counts, a tie is no verdict")
    append_label(path, LabelRow(run="run", turn=2, attempt=2, damaged=True, labels=("counting",), by="cleo"))
    third = read_labels(path).of(run).candidates[2, 2]
    assert (third.damaged, third.labels, third.by) == (True, ("counting",), "anna, ben, cleo")
    annas = read_labels(path, by="anna").of(run)
    assert {place: row.damaged for place, row in annas.candidates.items()} == {
        (1, 1): False,
        (2, 2): True,
        (3, 1): True,
    }


def fates(run: RunView) -> dict[str | None, int]:
    """Candidates by what happened to them."""
    return dict(Counter(attempt.outcome for attempt in run.attempts))


def test_human_truth_replaces_the_measured_one_in_every_measure(tmp_path: Path, run: RunView) -> None:
    """Measured: turn 2's image is damaged (0.9). People: the origin is sound, turn 1 damaged, a rejected one too."""
    before = summarise(run)
    assert (before.answer.turns.propagated_fresh, before.answer.turns.progressed) == (1, 1)
    assert fates(run) == {"propagated": 1, "passed": 1, "false_alarm": 3, None: 1}
    path = labelled(tmp_path / "l.csv", "run,0,,no,,,,", "run,1,,yes,,,,", "run,2,1,yes,,,,", "run,2,2,,counting,,,")
    seen = with_labels(run, read_labels(path))
    after = summarise(seen)
    assert after.truth == "labels, damaged at 1"
    assert fates(seen) == {"propagated": 1, "caught": 1, None: 4}
    assert after.truth_unknown == 3, "without a verdict truth is not known, whatever was measured"
    turns = turn_results(stretch_of(seen))
    assert [turn.damaged for turn in turns] == [True, None, None, None]
    assert [turn.result for turn in turns] == ["propagated", "unknown", "unknown", "unknown"]
    assert after.answer.exposure == 1.0, "what is not known is in no rate"
    assert after.answer.delays == [1]
    assert truth_direction(seen) == "lower"
    assert [attempt.decision for attempt in seen.attempts] == [attempt.decision for attempt in run.attempts]


def test_what_was_measured_stands_among_the_other_truths(tmp_path: Path, run: RunView) -> None:
    """The answer can be given for both, and where they disagree."""
    seen = with_labels(run, read_labels(labelled(tmp_path / "l.csv", "run,0,,no,,,,", "run,1,,yes,,,,")))
    assert (run.truths, seen.truths) == (("truth",), ("labels", "truth"))
    assert not truth_seen_by_gate(seen)
    back = seen_by(seen, "truth")
    assert back.truths == ("truth", "labels")
    assert [one.truth for one in back.attempts] == [one.truth for one in run.attempts]
    assert (back.baseline_truth, truth_direction(back)) == (run.baseline_truth, truth_direction(run))
    assert summarise(back) == summarise(run)
    assert seen_by(back, "labels").attempts == seen.attempts


def test_without_labels_nothing_is_known(tmp_path: Path, run: RunView) -> None:
    seen = with_labels(run, read_labels(labelled(tmp_path / "l.csv")))
    assert summarise(seen).truth is None
    assert seen.baseline_truth is None


def test_a_composite_is_meant_without_an_attempt_and_the_candidate_with_one(tmp_path: Path, run: RunView) -> None:
    masked = replace(
        run.attempts[0], composite=CompositeRow(turn=1, attempt=1, base="1" * 64, candidate="2" * 64, image="0" * 64)
    )
    run = replace(run, attempts=[masked, *run.attempts[1:]])
    both = with_labels(run, read_labels(labelled(tmp_path / "a.csv", "run,1,,no,,,,", "run,1,1,yes,,,,")))
    assert both.attempts[0].outcome == "caught", "the damaged candidate was kept out by masking"
    one = with_labels(run, read_labels(labelled(tmp_path / "b.csv", "run,1,,no,,,,")))
    assert one.attempts[0].outcome is None
    assert one.attempts[0].standing is not None
    assert one.attempts[0].standing.damaged is False


def test_rows_are_appended_under_the_header_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    first = LabelRow(run="r,1", turn=1, damaged=True, labels=("counting", "rotation"), failure='a "b"\nc', by="anna")
    append_label(path, first)
    append_label(path, LabelRow(run="r1", turn=2, attempt=1, damaged=False))
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert read_labels(path).rows[0][1] == first
    own = tmp_path / "own.csv"
    own.write_text("turn,run,damaged\n1,r1,no")  # no newline at the end
    append_label(own, LabelRow(run="r1", turn=2, damaged=True))
    assert own.read_text() == "turn,run,damaged\n1,r1,no\n2,r1,yes\n"
    with pytest.raises(UserError, match="has no column by"):
        append_label(own, LabelRow(run="r1", turn=3, by="anna"))
    append_label(own, LabelRow(run="r1", turn=3, damaged=False, image="0" * 64))  # the column is new
    assert own.read_text() == f"turn,run,damaged,image\n1,r1,no,\n2,r1,yes,\n3,r1,no,{'0' * 64}\n"
    with pytest.raises(UserError, match="no column is called 'a'"):
        other = tmp_path / "other.csv"
        other.write_text("a,b\n1,2\n")
        append_label(other, LabelRow(run="r1", turn=1))
    assert other.read_text() == "a,b\n1,2\n"


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot write to"):
        append_label(tmp_path / "nowhere" / "l.csv", LabelRow(run="r1", turn=1))


def append_many(path: Path, name: str) -> None:
    for turn in range(1, 26):
        append_label(path, LabelRow(run="r1", turn=turn, damaged=True, failure="x" * 200, by=name))


@pytest.mark.slow
def test_several_processes_lose_nothing_and_write_one_header(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=append_many, args=(path, f"p{number}")) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    rows = [row for _, row in read_labels(path).rows]
    assert sorted((row.by, row.turn) for row in rows) == [(f"p{n}", turn) for n in range(4) for turn in range(1, 26)]
    with path.open(newline="") as file:
        assert sum(line[0] == "run" for line in csv.reader(file)) == 1


texts = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=' ,;"\n'), max_size=20).map(str.strip)


@pytest.mark.slow
@given(
    st.builds(
        LabelRow, run=texts.filter(bool), turn=st.integers(0, 999), attempt=st.none() | st.integers(0, 9),
        damaged=st.none() | st.booleans(), labels=st.lists(st.sampled_from(list(FAILURES)), unique=True).map(tuple),
        failure=texts, by=texts, image=st.sampled_from(["", "0" * 64, "9af" + "1" * 61]),
        at=st.just("") | st.datetimes().map(lambda at: at.isoformat()),
    )
)  # fmt: skip
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, row: LabelRow) -> None:
    path = tmp_path_factory.mktemp("labels") / "l.csv"
    append_label(path, row)
    assert [found for _, found in read_labels(path).rows] == [row]


def test_a_row_with_an_image_means_its_bytes_in_every_run(tmp_path: Path, run: RunView) -> None:
    """Two arms took the same image; the label names the one in which it was seen."""
    writer = Writer(tmp_path / "other", size=32, turns=2, evaluators={})
    same = encode_png(degraded(writer.origin, 0.1, 1))
    writer.attempt(1, image=same, scores={})
    writer.attempt(2, image=same, scores={}, status_after="complete")
    other = RunView.load(writer.close())
    image = other.attempts[0].row.image
    assert image is not None and run.attempts[0].row.image == image
    append_label(tmp_path / "l.csv", LabelRow(run="other", turn=1, attempt=1, damaged=True, by="anna", image=image))
    labels = read_labels(tmp_path / "l.csv")
    assert list(labels.of(other).candidates) == [(1, 1), (2, 1)]
    assert list(labels.of(run).candidates) == [(1, 1)]
    assert labels.strangers([run]) == [] and labels.of(run).remarks == ()
    gone = LabelRow(run="other", turn=1, attempt=1, damaged=True, by="anna", image="f" * 64)
    append_label(tmp_path / "l.csv", gone)
    assert "line 3: the run has no image with this SHA-256" in read_labels(tmp_path / "l.csv").of(other).remarks[0]


def test_people_who_judge_one_image_in_two_runs_agree_about_one_image(tmp_path: Path, run: RunView) -> None:
    images = [str(run.attempts[number].row.image) for number in range(5)]
    for number, (anna, ben) in enumerate([(True, True), (True, True), (False, False), (True, False), (False, True)]):
        for by, damaged in (("anna", anna), ("ben", ben)):
            append_label(tmp_path / "l.csv", LabelRow(run="run", turn=1, image=images[number], damaged=damaged, by=by))
    verdicts = verdicts_of(read_labels(tmp_path / "l.csv"), [run, run])
    (found,) = agreements(verdicts)
    assert (found.images, found.both_damaged, found.both_sound, found.only_a, found.only_b) == (5, 2, 1, 1, 1)
    assert found.kappa == pytest.approx((0.6 - 0.52) / 0.48)
    assert found.words == "anna and ben agree about 3 of 5 images that both judged (kappa 0.17)"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_kappa_is_that_of_the_textbook(pairs: list[tuple[bool, bool]]) -> None:
    """1 for perfect agreement, at most 1, the same either way round, and scipy's correlation for equal shares."""
    verdicts = {str(number): {"a": a, "b": b} for number, (a, b) in enumerate(pairs)}
    found = agreements(verdicts)
    if not pairs:
        assert found == []
        return
    (one,) = found
    (turned,) = agreements({image: {"a": said["b"], "b": said["a"]} for image, said in verdicts.items()})
    both_one = len({verdict for pair in pairs for verdict in pair}) == 1
    assert (one.kappa is None) == both_one
    if one.kappa is not None:
        assert one.kappa <= 1 and turned.kappa == pytest.approx(one.kappa)
        assert (one.kappa == 1) == all(a == b for a, b in pairs)
        if sum(a for a, _ in pairs) == sum(b for _, b in pairs):
            assert one.kappa == pytest.approx(float(np.corrcoef(np.array(pairs, float).T)[0, 1]))


def test_the_queue_has_each_image_once_and_what_stands_near_the_limit_first(tmp_path: Path) -> None:
    """Distances from 0.5 are 0.4, 0.01 and 0.4: their lower quartile is 0.205."""
    writer = Writer(tmp_path / "run", size=32, turns=5, evaluators={})
    often, near, far = (encode_png(degraded(writer.origin, 0.1 * number, number)) for number in (1, 2, 3))
    writer.attempt(1, image=often, scores={}, damage=0.1)
    writer.attempt(2, image=near, scores={}, damage=0.49)
    writer.attempt(3, image=far, scores={}, damage=0.9)
    writer.attempt(4, image=often, scores={}, damage=0.1)
    writer.attempt(5, image=encode_png(writer.origin), scores={}, status_after="complete")
    view = RunView.load(writer.close())
    queue = label_queue([view, view])
    by_image = {one.image: (one.turn, one.places, one.stands) for one in queue}
    first, second, third = (str(view.attempts[number].row.image) for number in range(3))
    assert by_image == {first: (1, 4, 4), second: (2, 2, 2), third: (3, 2, 2)}, "the origin is not asked about"
    assert [one.image for one in queue] == [second, first, third]
    nearness = [1 / (1 + (distance / 0.205) ** 2) for distance in (0.01, 0.4, 0.4)]
    expected = [np.log2(1 + places) * nearby for places, nearby in zip((4, 8, 4), nearness, strict=True)]
    assert [one.usefulness for one in queue] == pytest.approx(expected)
