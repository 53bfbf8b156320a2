"""A whole study: what its pictures are, what must be said before the numbers, and one that is really run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.traces.analysis.worlds import Chain, no_gate, rolls_back, stalls, study
from tests.traces.runs import Writer, degraded, study_of

from turngate.graphs.session import Observer
from turngate.graphs.study import read_study, run_study
from turngate.picture import encode_png
from turngate.traces.analysis.study import StudyAnswer, StudyView, answer_study, load_study, truth_curve
from turngate.traces.records import RunStatus


def written(folder: Path, damages: list[float], name: str, **more: Any) -> Path:
    writer = Writer(folder / name, size=16, turns=len(damages), name=name, **more)
    for turn, damage in enumerate(damages, 1):
        image = encode_png(degraded(writer.origin, 0.1 + 0.1 * damage, turn))
        writer.attempt(turn, image=image, scores={"brisque": 30.0, "psnr": 30.0}, damage=damage)
    return writer.close()


def test_two_names_of_one_picture_are_one_origin(tmp_path: Path) -> None:
    rows = [
        {"arm": "own", "origin": name, "path": written(tmp_path, [0.0, 0.9], f"run-{name}")} for name in ("cat", "copy")
    ]
    loaded = load_study(StudyView.load(study_of(tmp_path / "study", rows)))
    answer = answer_study(loaded)
    assert [one.cluster for one in loaded.runs] == ["cat", "cat"]
    assert answer.origins == 1
    assert answer.remarks[0] == "Origins cat, copy are one picture, pixel for pixel: they count as one origin."
    assert answer.arms[0].progress.by_origin == {"cat": 50.0}


def test_a_picture_that_was_replaced_under_its_name_is_another_origin(tmp_path: Path) -> None:
    """The second run of origin `cat` began with a larger picture."""
    rows = [
        {"arm": arm, "origin": "cat", "path": path}
        for arm, path in (
            ("no-gate", written(tmp_path, [0.9, 0.9], "one", gate={"type": "always_accept"})),
            ("own", _larger(tmp_path)),
        )
    ]
    loaded = load_study(StudyView.load(study_of(tmp_path / "study", rows)))
    answer = answer_study(loaded)
    assert [one.cluster for one in loaded.runs] == ["cat", "cat (2)"]
    assert (answer.origins, answer.base, answer.pairs[0].cells) == (2, "no-gate", 0)


def _larger(folder: Path) -> Path:
    writer = Writer(folder / "two", size=24, turns=1, name="two")
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": 30.0}, damage=0.0)
    return writer.close()


def test_runs_whose_images_are_gone_are_answered_all_the_same(tmp_path: Path) -> None:
    rows = [{"arm": "own", "origin": name, "path": written(tmp_path, [0.0, 0.9], f"run-{name}")} for name in "ab"]
    whole = answer_study(load_study(StudyView.load(study_of(tmp_path / "study", rows))))
    for row in rows:
        shutil.rmtree(Path(str(row["path"])) / "images")
    bare = answer_study(load_study(StudyView.load(tmp_path / "study")))
    assert bare.arms == whole.arms


def test_a_study_without_a_begun_run_answers_nothing(tmp_path: Path) -> None:
    view = StudyView.load(study_of(tmp_path / "study", {"own": tmp_path / "nowhere"}))
    found = answer_study(load_study(view))
    assert (found.arms, found.pairs, found.unbeaten, found.origins, found.base) == ([], [], [], 0, None)
    assert found.missing == ["own r1"]


def test_what_a_reader_must_know_comes_with_the_numbers() -> None:
    diverged = Chain(10).add("a").add("x", 0.9, "skip").add("y", 0.9, beyond=True)
    stopped = Chain(10).add("x", 0.9, "stop")
    loaded = study([("chain", "a", "", diverged), ("stop", "a", "", stopped), ("long", "a", "", no_gate(20, 3))])
    assert answer_study(loaded).remarks == [
        (
            "stop: 1 run ended before the last planned turn (attempts exhausted): the turns not reached count, with "
            "the image that stood at the end."
        ),
        "Runs plan different numbers of turns (10, 20): differences to no gate are over equal turns.",
        (
            "chain: in 1 run the recorded chain diverged; 8 turns beyond that point are unknown and in no rate: its "
            "numbers are over the other 2 of 10 turns."
        ),
        "Rates of arms that diverged are over different turns: no arm is named as unbeaten.",
    ]
    assert answer_study(loaded).unbeaten == []


@pytest.mark.parametrize("status", ["running", "interrupted"])
def test_a_run_that_can_go_on_is_told_so_far_and_said_to_be(status: RunStatus) -> None:
    loaded = study([("x", "a", "", no_gate(10, 3))])
    working = Chain(10).add("a").add("b", 0.9).view(status=status)
    [one] = loaded.runs
    loaded.runs[0] = one.__class__(one.run, working, one.picture, one.cluster)
    answer = answer_study(loaded)
    assert (answer.arms[0].planned, answer.arms[0].progress.value) == (2, 50.0)
    assert truth_curve(loaded.runs).turns == [0, 1, 2]
    assert answer.remarks == ["1 run still at work or interrupted: counted as far as it got, not comparable yet."]


def test_a_run_that_ended_stands_still_in_the_answer_and_in_the_curve() -> None:
    chain = Chain(10).add("a", 0.2)
    loaded = study([("x", "a", "", chain)])
    assert loaded.runs[0].answer.turns.not_reached == 9
    assert truth_curve(loaded.runs).values[1:] == [0.2] * 10


def test_every_planned_turn_of_many_runs_is_counted() -> None:
    makers = {"no-gate": no_gate, "strict": stalls, "back": rolls_back}
    rows = [
        (arm, f"o{number}", "", make(30, number % 5, f"o{number}"))
        for arm, make in makers.items()
        for number in range(100)
    ]
    answer = answer_study(study(rows, controls=("no-gate",)))
    assert [sum(one.turns.model_dump().values()) for one in answer.arms] == [100 * 30] * 3
    assert answer.origins == 100


STUDY = """
name: axes
question: Which gate keeps working without damage?
origins:
  astronaut: {image: "skimage:astronaut", size: 64}
  coffee: {image: "skimage:coffee", size: 64}
run:
  scenario: replicate
  turns: 16
  driver: loop
  editor: {type: codec, format: jpeg, quality: 30, resize_jitter: 0.1}
  evaluators:
    psnr-origin: {type: psnr, against: origin}
    ssim-step: {type: ssim, against: previous}
  truth: {measure: {type: psnr, against: origin}, damaged_at: 22.75}
  on_reject: {attempts: 1, then: rollback}
  telemetry: {exporter: none}
arms:
  stop: {gate: &psnr {type: threshold, evaluator: psnr-origin, at: 22.75}, on_reject: {attempts: 1, then: stop}}
  back: {gate: *psnr}
  few: {gate: always_reject, on_reject: {attempts: 3, then: skip}, budgets: {attempts: 4}}
  force: {gate: always_reject, on_reject: {attempts: 1, then: accept}}
controls: [no-gate, always-reject, oracle]
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> StudyAnswer:
    """A codec at 64 pixels whose truth falls slowly: after a few turns every further one is damaged."""

    @contextmanager
    def nobody(name: str, path: Path) -> Iterator[Sequence[Observer]]:
        yield []

    folder = tmp_path_factory.mktemp("axes")
    (folder / "axes.yaml").write_text(STUDY, encoding="utf-8")
    list(run_study(read_study(folder / "axes.yaml"), folder / "out", nobody))
    return answer_study(load_study(StudyView.load(folder / "out")))


def test_doing_nothing_is_a_stall(answer: StudyAnswer) -> None:
    arm = {one.arm: one for one in answer.arms}["always-reject"]
    assert (arm.progress.value, arm.exposure.value, arm.stalled, arm.end_untouched) == (0.0, 0.0, 2, 2)
    assert arm.verdict.words == "stalls in all 2 runs: no new image, the origin stands untouched"
    assert arm.episodes.total == 0, "the first candidates are sound: what it refused was no damage"
    assert (arm.alarms.alarmed, arm.alarms.inputs) == (2, 2)


def test_no_gate_propagates_and_so_does_one_that_forces_what_it_refused(answer: StudyAnswer) -> None:
    arms = {one.arm: one for one in answer.arms}
    bare, forced = arms["no-gate"], arms["force"]
    assert (bare.verdict.runs, bare.episodes.propagated, bare.forced) == ({"propagates": 2}, 2, 0)
    assert (bare.progress, bare.exposure) == (forced.progress, forced.exposure)
    assert forced.forced == forced.new_images == 32 - forced.turns.no_change > 20
    assert forced.turns == bare.turns


def test_stopping_at_damage_costs_the_progress_that_going_back_keeps(answer: StudyAnswer) -> None:
    arms = {one.arm: one for one in answer.arms}
    stop, back, bare = arms["stop"], arms["back"], arms["no-gate"]
    assert (stop.exposure.value, back.exposure.value) == (0.0, 0.0)
    assert stop.progress.value == bare.progress.value, "it stops where damage would have begun"
    assert stop.statuses == {"attempts_exhausted": 2}
    assert (stop.episodes.stalled, stop.turns.not_reached) == (2, 32 - stop.calls)
    assert back.progress.value is not None
    assert stop.progress.value is not None
    assert back.progress.value > stop.progress.value
    assert back.episodes.caught >= 2
    assert (back.stalled, back.episodes.propagated, back.verdict.runs) == (0, 0, {"goes_on": 2})


def test_a_budget_of_four_attempts_leaves_the_rest_unreached(answer: StudyAnswer) -> None:
    """Three calls close turn 1 without an image, the fourth leaves turn 2 open."""
    few = {one.arm: one for one in answer.arms}["few"]
    assert (few.statuses, few.calls, few.planned) == ({"budget_exhausted": 2}, 8, 32)
    assert (few.turns.held_sound, few.turns.not_reached, few.stalled) == (2, 30, 2)


def test_nothing_beats_the_oracle_on_both_axes(answer: StudyAnswer) -> None:
    arms = {one.arm: (one.progress.value or 0.0, one.exposure.value or 0.0) for one in answer.arms}
    progress, exposure = arms["oracle"]
    assert exposure == 0.0
    assert not [name for name, (more, less) in arms.items() if more > progress and less <= exposure]
    assert answer.unbeaten == ["back"]


def test_no_gate_is_what_the_others_are_held_against(answer: StudyAnswer) -> None:
    pairs = {one.arm: one for one in answer.pairs}
    assert (answer.base, answer.origins, answer.smallest_p) == ("no-gate", 2, None)
    assert set(pairs) == {"stop", "back", "few", "force", "always-reject", "oracle"}
    assert (pairs["force"].progress.value, pairs["force"].exposure.value) == (0.0, 0.0)
    assert pairs["stop"].turns == [16]
    assert set(pairs["back"].exposure.by_origin) == {"astronaut", "coffee"}


def test_what_says_less_is_marked(answer: StudyAnswer) -> None:
    marks = {one.evaluator: (one.given_origin, one.like_truth) for one in answer.evaluators}
    assert marks == {"psnr-origin": (True, True), "ssim-step": (False, False)}
    assert set(answer.seen_by_gate) == {"stop", "back", "oracle"}
    assert answer.remarks[-1] == "stop, back: the gate reads what the truth is measured by: judged by its own ruler."
    assert (answer.truth, answer.truth_unit, answer.truth_better) == (["psnr, damaged at 22.75 dB"], "dB", "higher")
