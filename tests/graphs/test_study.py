"""Studies: the plan, the controls, isolation, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from turngate import RunView
from turngate.errors import ConfigError
from turngate.graphs.session import Observer
from turngate.graphs.study import Finished, Study, read_study, run_study
from turngate.traces.analysis.study import StudyAnswer, StudyView, answer_study, load_study

GRAYS = {"1": 0.2, "2": 0.3, "3": 0.6, "4": 0.7, "5": 0.8}
DAMAGE = {"1": 0.0, "2": 1.0, "3": 5.0, "4": 6.0, "5": 7.0}
RUN: dict[str, Any] = {
    "origin": "skimage:astronaut",
    "scenario": "replicate",
    "turns": 5,
    "driver": "loop",
    "editor": {"type": "scripted", "script": GRAYS, "damage": DAMAGE},
    "evaluators": {"gray": {"type": "scripted"}},
    "truth": {"measure": "simulator", "damaged_at": 5},
    "telemetry": {"exporter": "none"},
}
STRICT = {"gate": {"type": "threshold", "evaluator": "gray", "at": 0.65}}


@contextmanager
def nobody(name: str, path: Path) -> Iterator[Sequence[Observer]]:
    yield []


def study(tmp_path: Path, **fields: Any) -> Study:
    raw = {"name": "s", "question": "Does it?", "run": RUN, "arms": {"strict": STRICT}, **fields}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    return read_study(path)


def run(tmp_path: Path, study: Study, **options: Any) -> list[Finished]:
    return list(run_study(study, tmp_path / "out", nobody, **options))


def answer(tmp_path: Path) -> StudyAnswer:
    return answer_study(load_study(StudyView.load(tmp_path / "out")))


def test_controls_are_added_unless_they_are_refused(tmp_path: Path) -> None:
    added = study(tmp_path)
    assert [job.arm for job in added.jobs] == ["strict", "no-gate", "always-reject", "oracle", "random"]
    assert [job.control for job in added.jobs] == [False, True, True, True, True]
    assert [job.arm for job in study(tmp_path, controls="none").jobs] == ["strict"]
    assert [job.arm for job in study(tmp_path, controls=["branch"]).jobs] == ["strict", "branch"]
    assert len(study(tmp_path, controls="all").jobs) == 7


def test_without_a_truth_there_is_no_oracle(tmp_path: Path) -> None:
    blind = {key: value for key, value in RUN.items() if key != "truth"}
    assert "oracle" not in [job.arm for job in study(tmp_path, run=blind).jobs]


def test_every_arm_runs_on_every_cell_with_the_same_random_numbers(tmp_path: Path) -> None:
    editors = {"plain": RUN["editor"], "other": {**RUN["editor"], "size": 48}}
    planned = study(tmp_path, origins=["skimage:coffee", "skimage:chelsea"], editors=editors, repeats=2)
    assert len(planned.jobs) == 5 * 2 * 2 * 2
    seeds: dict[tuple[str, int], set[int]] = {}
    for job in planned.jobs:
        seeds.setdefault((job.origin, job.repeat), set()).add(job.config.seed)
    assert all(len(same) == 1 for same in seeds.values())
    assert len({seed for same in seeds.values() for seed in same}) == 4
    assert planned.jobs[0].path == Path("strict", "coffee--plain--r1")
    assert len({job.path for job in planned.jobs}) == len(planned.jobs)


def test_an_arm_with_an_editor_of_its_own_runs_once_per_origin(tmp_path: Path) -> None:
    editors = {"a": RUN["editor"], "b": RUN["editor"]}
    planned = study(tmp_path, origins=["skimage:coffee", "skimage:chelsea"], editors=editors, controls=["codec-only"])
    assert sum(job.arm == "codec-only" for job in planned.jobs) == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"arms": {"a b": STRICT}}, "arms.a b"),
        ({"arms": {"a--b": STRICT}}, "arms.a--b"),
        ({"controls": ["oracel"]}, "oracel"),
        ({"origins": ["a/x.png", "b/x.png"]}, "'x' is in the list twice"),
        ({"arms": {"a": {"gate": {"type": "random", "like": "b"}}}}, "arms.a.gate.like"),
        ({"arms": {"a": {"gate": {"type": "treshold"}}}}, "arm a: gate.type"),
        ({"repeat": 3}, "repeats"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_a_mistake_names_its_place_before_anything_runs(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=r"study\.yaml") as caught:
        study(tmp_path, **fields)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_answer_counts_what_happened_by_hand(tmp_path: Path) -> None:
    """Damage 0, 1, 5, 6, 7, damaged from 5 on; the strict gate takes gray up to 0.65, so one damaged image of three."""
    assert {one.status for one in run(tmp_path, study(tmp_path, sensitivity=[6]))} == {"complete"}
    arms = {arm.arm: arm for arm in answer(tmp_path).arms}
    strict = arms["strict"]
    assert (strict.progress.value, strict.exposure.value, strict.last_new_turn) == (40.0, 3 / 5, 3.0)
    assert (strict.turns.progressed, strict.turns.propagated_fresh, strict.turns.held_damaged) == (2, 1, 2)
    assert (strict.episodes.caught, strict.episodes.stalled, strict.episodes.propagated) == (0, 0, 1)
    assert (strict.delay, strict.never_detected) == (1.0, 0), "damaged at turn 3, all refused at turn 4"
    assert (strict.collapse_turns, strict.recovered) == ([4], 0), "one damaged image was let in, and stays"
    assert strict.progress_per_100_calls.value == 40.0
    assert (strict.end_truth, strict.end_damaged) == (5.0, 1)
    assert (strict.first_damage.turns, strict.first_damage.share) == ([3], [0.0])
    assert (strict.alarms.alarmed, strict.alarms.inputs) == (0, 2)

    assert (arms["no-gate"].exposure.value, arms["no-gate"].collapse_turns) == (3 / 5, [4])
    assert arms["no-gate"].turns.propagated_inherited == 2
    assert arms["no-gate"].never_detected == 1
    assert (arms["oracle"].progress.value, arms["oracle"].exposure.value) == (40.0, 0.0)
    assert (arms["oracle"].delay, arms["oracle"].episodes.stalled) == (0.0, 1)
    idle = arms["always-reject"]
    assert (idle.progress.value, idle.exposure.value, idle.stalled, idle.end_untouched) == (0.0, 0.0, 1, 1)
    assert idle.verdict.words == "stalls: no new image in 5 turns, the origin stands untouched"
    assert (idle.end_truth, idle.alarms.alarmed, idle.alarms.inputs) == (None, 1, 1)


def test_arms_are_held_against_no_gate_and_evaluators_against_truth(tmp_path: Path) -> None:
    run(tmp_path, study(tmp_path, sensitivity=[6]))
    found = answer(tmp_path)
    pairs = {pair.arm: pair for pair in found.pairs}
    assert (pairs["strict"].progress.value, pairs["strict"].exposure.value) == (0.0, 0.0), "blind too late is no gate"
    assert (pairs["oracle"].progress.value, pairs["oracle"].exposure.value) == (0.0, -3 / 5)
    assert pairs["strict"].progress_p is None, "one origin proves nothing"
    (gray,) = found.evaluators
    (scripted,) = gray.editors
    assert (gray.arm, gray.candidates) == ("no-gate", 5)
    assert (scripted.auc.value, scripted.damaged, scripted.sound) == (1.0, 3, 2)
    assert gray.counts.scored == 25
    strict = next(row for row in found.sensitivity if row.arm == "strict")
    assert (strict.damaged_at, strict.progress, strict.exposure) == (6.0, 60.0, 0.0)


@pytest.mark.slow
def test_the_random_arm_is_matched_to_the_gated_arms_and_takes_as_many_images(tmp_path: Path) -> None:
    """Its acceptance rate is that of the strict arm, and so many candidates it takes, damaged or not."""
    script = {str(turn): 0.2 if turn % 2 else 0.9 for turn in range(1, 201)}
    damage = {str(turn): 9.0 if turn % 4 < 2 else 0.0 for turn in range(1, 201)}
    busy = {**RUN, "turns": 200, "editor": {"type": "scripted", "size": 16, "script": script, "damage": damage}}
    run(tmp_path, study(tmp_path, run=busy))
    view = RunView.load(tmp_path / "out" / "random")
    assert view.info.config["gate"]["accept_rate"] == 0.5
    random = next(arm for arm in answer(tmp_path).arms if arm.arm == "random")
    assert random.new_images / 200 == pytest.approx(0.5, abs=0.11), "3 SD of 200 coin throws"
    fates = [attempt.outcome for attempt in view.attempts]
    assert fates.count("caught") / 100 == pytest.approx(0.5, abs=0.15), "3 SD of 100 coin throws"
    assert fates.count("false_alarm") / 100 == pytest.approx(0.5, abs=0.15)


@pytest.mark.slow
def test_a_finished_study_is_left_alone(tmp_path: Path) -> None:
    """C18."""
    planned = study(tmp_path)
    run(tmp_path, planned)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("ledger.sqlite")}
    again = run(tmp_path, planned)
    assert [one.worked for one in again] == [False] * 5
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("ledger.sqlite")} == before


def test_what_fails_in_one_run_does_not_touch_the_others(tmp_path: Path) -> None:
    mark = tmp_path / "broken"
    mark.touch()
    bad = {**STRICT, "editor": {"type": "scripted", "script": {"3": "raise:machine"}, "raise_while": str(mark)}}
    planned = study(tmp_path, arms={"bad": bad, "strict": STRICT}, controls="none")
    found = {one.job.arm: one for one in run(tmp_path, planned)}
    assert (found["bad"].status, found["bad"].exit_code) == ("failed", 4)
    assert found["strict"].status == "complete"

    mark.unlink()
    left = {one.job.arm: one for one in run(tmp_path, planned)}
    assert (left["bad"].status, left["bad"].worked) == ("failed", False)
    assert "--retry-failed" in (left["bad"].reason or "")
    mended = {one.job.arm: one for one in run(tmp_path, planned, retry_failed=True)}
    assert mended["bad"].status == "complete"
    assert len(RunView.load(tmp_path / "out" / "bad").attempts) == 5


def test_a_run_that_cannot_begin_is_told_and_missing_from_the_answer(tmp_path: Path) -> None:
    gone = {**STRICT, "origin": str(tmp_path / "gone.png")}
    found = run(tmp_path, study(tmp_path, arms={"gone": gone, "strict": STRICT}, controls="none"))
    assert [(one.status, one.exit_code) for one in found] == [("failed", 2), ("complete", None)]
    assert answer(tmp_path).missing == ["gone r1"]


@pytest.mark.slow
def test_side_by_side_gives_the_same_ledgers(tmp_path: Path) -> None:
    planned = study(tmp_path, origins=["skimage:coffee", "skimage:chelsea"])
    list(run_study(planned, tmp_path / "one", nobody))
    list(run_study(planned, tmp_path / "two", nobody, jobs=2))
    for job in planned.jobs:
        views = [RunView.load(tmp_path / folder / job.path) for folder in ("one", "two")]
        rows = [[(a.row.comparable(), a.decision.comparable()) for a in view.attempts] for view in views]
        assert rows[0] == rows[1]
        assert len(rows[0]) == 5
