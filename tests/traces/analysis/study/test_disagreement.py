"""More than one truth: the answer of each, and where they disagree."""

from __future__ import annotations

from pathlib import Path

from tests.traces.analysis.worlds import Chain, study
from tests.traces.runs import Writer, degraded, study_of

from turngate.picture import encode_png
from turngate.traces.analysis.labels import read_labels
from turngate.traces.analysis.run import run_verdict
from turngate.traces.analysis.study import StudyView, answer_study, load_study


def both(*damages: tuple[float, float], origin: str = "origin") -> Chain:
    """Takes everything; each image's damage by the leading truth and by `people`."""
    chain = Chain(len(damages), origin=origin)
    for turn, (lead, other) in enumerate(damages, 1):
        chain.add(f"{origin}-{turn}", lead, more_truths={"people": other})
    return chain


def test_the_answer_is_given_for_each_truth() -> None:
    chain = both((0.0, 0.0), (0.0, 0.9), (0.9, 0.9), (0.9, 0.1))
    answer = answer_study(study([("no-gate", "a", "", chain)], controls=("no-gate",)))
    [other] = answer.more_truths
    assert (answer.truth_name, other.truth_name) == ("truth", "people")
    lead_arm, other_arm = answer.arms[0], other.arms[0]
    assert (lead_arm.progress.value, lead_arm.exposure.value) == (50.0, 0.5)
    assert (other_arm.progress.value, other_arm.exposure.value) == (50.0, 0.5)
    assert (lead_arm.first_damage.turns, other_arm.first_damage.turns) == ([3], [2])


def test_they_disagree_on_candidates_and_on_verdicts() -> None:
    """Candidates: sound by both, damaged by people alone, by both, by the leading one alone."""
    apart = both((0.0, 0.0), (0.0, 0.9), (0.9, 0.9), (0.9, 0.1), origin="a")
    alike = both((0.0, 0.0), (0.0, 0.1), origin="b")
    saved = both((0.0, 0.0), (0.9, 0.1), origin="c")
    rows = [("x", "a", "", apart), ("x", "b", "", alike), ("y", "c", "", saved)]
    [found] = answer_study(study(rows)).disagreements
    assert (found.truth_name, found.other, found.candidates) == ("truth", "people", 8)
    assert (found.both_damaged, found.both_sound, found.only_leading, found.only_other) == (1, 4, 2, 1)
    assert (found.runs, found.of_runs) == (["y c r1: propagates / goes_on"], 3)
    assert found.words == (
        "truth and people disagree on 3 of 8 candidates (2 damaged by truth alone, 1 by people alone); "
        "the verdict differs in 1 of 3 runs."
    )


def test_a_candidate_of_several_runs_counts_once() -> None:
    rows = [(arm, "a", "", both((0.0, 0.9))) for arm in ("x", "y", "z")]
    [found] = answer_study(study(rows)).disagreements
    assert (found.candidates, found.only_other, len(found.runs)) == (1, 1, 3)


def test_a_truth_that_only_some_runs_have_is_answered_on_those() -> None:
    plain = Chain(2).add("a").add("b", 0.9)
    answer = answer_study(study([("x", "a", "", both((0.0, 0.9))), ("y", "b", "", plain)]))
    [other] = answer.more_truths
    assert [one.arm for one in other.arms] == ["x"]
    assert answer.disagreements[0].of_runs == 1


def test_people_lead_and_the_measured_truth_stands_beside_them(tmp_path: Path) -> None:
    """Measured: damaged from turn 3 on. People call turn 2 damaged already, and say nothing of the origin or turn 4."""
    writer = Writer(tmp_path / "run", size=16, turns=4, name="people", simulated=False)
    for turn in range(1, 5):
        image = encode_png(degraded(writer.origin, 0.1 * turn, turn))
        writer.attempt(turn, image=image, scores={"brisque": 30.0, "psnr": 30.0}, damage=0.2 * turn)
    writer.close()
    labels = tmp_path / "labels.csv"
    labels.write_text("run,turn,damaged\nrun,1,no\nrun,2,yes\nrun,3,yes\n", encoding="utf-8")
    view = StudyView.load(study_of(tmp_path / "study", {"own": tmp_path / "run"}))
    answer = answer_study(load_study(view, read_labels(labels)))
    assert (answer.truth_name, [one.truth_name for one in answer.more_truths]) == ("labels", ["truth"])
    assert answer.sensitivity == []
    arm, measured = answer.arms[0], answer.more_truths[0].arms[0]
    assert (arm.turns.progressed, arm.turns.propagated, arm.turns.unknown) == (1, 2, 1)
    assert (measured.turns.progressed, measured.turns.propagated, measured.turns.unknown) == (2, 2, 0)
    [found] = answer.disagreements
    assert (found.candidates, found.only_leading, found.only_other) == (3, 1, 0)
    assert found.runs == []
    run = load_study(view, read_labels(labels)).runs[0]
    assert run_verdict(run.answer, "complete").words == (
        "propagates: a damaged image stands after 2 of 4 turns, from turn 2 on, none after turn 3; "
        "1 new sound image; the truth after 1 turn is not known"
    )
