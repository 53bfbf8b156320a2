"""Failures of the taxonomy: what is measured, what a label file adds, and what stays unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.traces.runs import Writer

from turngate import parse_config, start_run
from turngate.picture import Picture, encode_png
from turngate.traces.analysis.failures import LABEL_FILE, RunFailures, find_failures
from turngate.traces.analysis.labels import read_labels
from turngate.traces.analysis.run import RunView
from turngate.traces.analysis.study import LoadedRun, StudyRun, answer_failures
from turngate.traces.analysis.taxonomy import FAILURES, FailureName
from turngate.traces.recorded import RecordedScenario


class Chain:
    """A run of accepted images whose sizes, scores and records are given turn by turn."""

    def __init__(self, path: Path, scenario: str = "replicate", ideal: str | None = "origin", **settings: Any) -> None:
        self.writer = Writer(path, size=40, **settings)
        self.scenario, self.ideal = scenario, ideal
        self.turn = 0

    def add(self, size: tuple[int, int] = (40, 40), **fields: Any) -> Chain:
        self.turn += 1
        width, height = size
        picture = Picture.from_rgb(self.writer.origin[:height, :width] // (self.turn + 1))
        self.writer.attempt(self.turn, image=encode_png(picture.rgb), **{"scores": {}, **fields})
        return self

    def view(self) -> RunView:
        """The run, as that of its scenario."""
        run = RunView.load(self.writer.close())
        config = {**run.info.config, "scenario": {"type": self.scenario}}
        resolved = run.info.resolved.model_copy(update={"scenario": RecordedScenario(ideal=self.ideal)})
        return replace(run, info=run.info.model_copy(update={"config": config, "resolved": resolved}))

    def failures(self) -> RunFailures:
        return find_failures(self.view())


def scored(**components: float) -> dict[str, Any]:
    return {"status": "scored", "value": 1.0, "components": components}


def turned(mirrored: int, rotation: int) -> dict[str, dict[str, Any]]:
    parts = {"crop_x": 0.0, "crop_y": 0.0, "stretch": 0.0}
    return {"geometry": scored(mirrored=mirrored, rotation=rotation, **parts)}


def test_an_aspect_ratio_is_that_of_the_image_that_was_edited(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r").add((40, 40)).add((40, 30)).add((40, 30)).add((20, 15)).add((30, 30))
    found = chain.failures()
    assert found.measured("aspect_ratio") == {(n, 1): n in (2, 5) for n in range(1, 6)}
    assert [(one.source, one.evidence) for one in found.found("aspect_ratio")] == [
        ("size", "40x30 from 40x40"),
        ("size", "30x30 from 20x15"),
    ]


def test_a_rotation_may_swap_the_sides_and_one_that_was_not_carried_out_is_another_failure(tmp_path: Path) -> None:
    chain = (
        Chain(tmp_path / "r", "rotate_four_times", "operations").add((40, 30)).add((30, 40)).add((30, 40)).add((40, 20))
    )
    found = chain.failures()
    assert found.measured("aspect_ratio") == {(1, 1): True, (2, 1): False, (3, 1): False, (4, 1): True}
    assert found.measured("rotation") == {}, "nothing says how the content lies"


@pytest.mark.parametrize(("crop_x", "crop_y", "stretch"), [(1.0, 0, 0), (0, 3.0, 0), (0, 0, -1.2)])
def test_a_crop_or_a_stretch_is_read_from_a_geometry_evaluator(
    tmp_path: Path, crop_x: float, crop_y: float, stretch: float
) -> None:
    still = {"geometry": scored(crop_x=0.2, crop_y=-3.0, stretch=0.4)}
    moved = {"geometry": scored(crop_x=crop_x, crop_y=crop_y, stretch=stretch)}
    chain = Chain(tmp_path / "r", evaluators={"geometry": "lower"}).add(scores=still).add(scores=moved)
    found = chain.add(scores={"geometry": {"status": "unscored", "why": "undefined"}}).failures()
    assert [(one.turn, one.source) for one in found.found("aspect_ratio")] == [(2, "geometry geometry")]
    assert "stretched" in found.found("aspect_ratio")[0].evidence


def test_of_free_edits_the_frame_is_not_known(tmp_path: Path) -> None:
    found = Chain(tmp_path / "r", "custom", None).add((40, 20)).failures()
    assert found.judgements == []
    assert found.unknown() == list(FAILURES)


def test_mirroring_is_judged_against_the_image_that_was_edited(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "mirror_twice", "operations", evaluators={"geometry": "lower"})
    for mirrored, rotation in ((1, 0), (1, 0), (0, 0), (1, 90)):
        chain.add(scores=turned(mirrored, rotation))
    view = chain.view()
    assert find_failures(view).measured("mirroring") == {(1, 1): False, (2, 1): True, (3, 1): False, (4, 1): True}
    previous = {"geometry": {"type": "geometry", "against": "previous"}}
    config = {**view.info.config, "evaluators": previous}
    against = replace(view, info=view.info.model_copy(update={"config": config}))
    assert [one.turn for one in find_failures(against).found("mirroring")] == [3, 4], "each was to be mirrored once"


def test_rotation_goes_on_from_where_the_edited_image_was(tmp_path: Path) -> None:
    """After mirroring, a turn clockwise is still a turn clockwise."""
    chain = Chain(tmp_path / "r", "rotate_four_times", "operations", evaluators={"geometry": "lower"})
    for mirrored, rotation in ((0, 90), (0, 180), (0, 180), (0, 270), (0, 0), (1, 90)):
        chain.add(scores=turned(mirrored, rotation))
    found = chain.failures()
    assert [one.turn for one in found.found("rotation")] == [3, 6]
    assert found.found("rotation")[0].evidence == "rotated by 180 where it should be rotated by 270"


def test_without_a_score_of_the_edited_image_nothing_is_judged(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "mirror_twice", "operations", evaluators={"geometry": "lower"})
    chain.add(scores={"geometry": {"status": "unscored", "why": "undefined"}}).add(scores=turned(1, 0))
    assert chain.failures().measured("mirroring") == {}


def test_a_simulator_tells_what_it_did(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "add_apple", None)
    for failure in ("none", "nothing_added", "replaced", "row_too_many"):
        chain.add(object_failure=failure)
    found = chain.add().failures()
    assert found.measured("counting") == {(1, 1): False, (2, 1): True, (3, 1): False, (4, 1): True}
    assert [(one.turn, one.evidence) for one in found.found("replacement")] == [(3, "replaced")]
    assert {one.source for one in found.found("counting")} == {"simulator"}


def test_what_no_simulator_says_is_no_record(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "mirror_twice", "operations", simulated=False)
    found = chain.add(operation_failed=True, object_failure="replaced").failures()
    assert found.measured("mirroring") == found.measured("replacement") == {}


def test_noise_is_persistent_when_it_was_there_before(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "denoise", evaluators={"drift": "lower"})
    for noise in (0.5, 3.0, 3.1, 1.0, 2.6):
        chain.add(scores={"drift": scored(noise=noise)})
    view = chain.view()
    assert find_failures(view).measured("persistent_noise") == {(n, 1): n == 3 for n in range(2, 6)}, (
        "turn 1: not known"
    )
    baseline = {"drift": view.baseline["drift"].model_copy(update={"components": {"noise": 0.0}})}
    found = find_failures(replace(view, baseline=baseline))
    assert found.measured("persistent_noise")[1, 1] is False
    assert found.found("persistent_noise")[0].evidence == "noise 3.0, then 3.1 grey levels, asked to remove it"


def test_noise_is_compared_only_where_the_content_stays_in_its_place(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r", "mirror_twice", "operations", evaluators={"drift": "lower"})
    chain.add(scores={"drift": scored(noise=9)}).add(scores={"drift": scored(noise=9)})
    assert chain.failures().measured("persistent_noise") == {}


def test_clean_context_is_about_a_damaged_image_beside_a_sound_origin(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r")
    for damage in (0.2, 0.9, 0.95, 0.1, 0.9):
        chain.add(damage=damage, history="anchor")
    found = chain.add(damage=0.9, history="previous").failures()
    assert found.measured("clean_context") == {(3, 1): True, (4, 1): False}, "turn 4 was mended, turn 6 saw no origin"
    assert found.found("clean_context")[0].source == "truth simulator"


def test_a_label_file_adds_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "r").add().add()
    (tmp_path / "l.csv").write_text("run,turn,labels,failure,by\nr,2,background_decay;simplification,two eyes,anna\n")
    found = find_failures(chain.view(), read_labels(tmp_path / "l.csv"))
    assert [(one.turn, one.name, one.level, one.source, one.evidence) for one in found.judgements if one.turn == 2] == [
        (2, "simplification", "sub-object", LABEL_FILE, "by anna two eyes"),
        (2, "background_decay", "object", LABEL_FILE, "by anna two eyes"),
        (2, "aspect_ratio", "image", "size", "40x40 from 40x40"),
    ]
    assert found.measured("background_decay") == {}, "that others are not labelled does not make them free of it"


def measured(origin: str, view: RunView) -> LoadedRun:
    run = StudyRun("arm", False, origin, "", "", 1, view.folder.path)
    return LoadedRun(run, view, run.origin, run.origin)


def test_an_arm_adds_up_its_runs(tmp_path: Path) -> None:
    """By hand: 2 of 3 candidates of origin a, 0 of 2 of origin b."""
    a = Chain(tmp_path / "a").add((40, 20)).add((40, 30)).add((40, 30)).view()
    b = Chain(tmp_path / "b").add().add().view()
    (tmp_path / "l.csv").write_text("run,turn,labels\nb,2,counting\nb,7,counting\n")
    answer = answer_failures("arm", [measured("a", a), measured("b", b)], read_labels(tmp_path / "l.csv"))
    by_name = {one.name: one for one in answer.failures}
    assert list(by_name) == list(FAILURES)
    aspect, counting = by_name["aspect_ratio"], by_name["counting"]
    assert (aspect.measured, aspect.found, aspect.runs, aspect.first_turns, aspect.sources) == (5, 2, 1, [1], ["size"])
    assert aspect.share.by_origin == {"a": pytest.approx(2 / 3), "b": 0.0}
    assert (counting.measured, counting.found, counting.labelled, counting.first_turns) == (0, 0, 1, [2])
    assert counting.share.value is None, "not measured is not absent"
    assert answer.remarks == [f"{tmp_path / 'l.csv'}, line 3: the run has no turn 7"]
    assert answer.simulated_runs == answer.runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "name", "failures"),
    [("mirror_twice", "mirroring", 2), ("rotate_four_times", "rotation", 1), ("add_apple", "counting", 2)],
)
def test_a_simulated_run_is_judged_and_registration_agrees_with_its_record(
    tmp_path: Path, scenario: str, name: FailureName, failures: float
) -> None:
    config = {
        "origin": {"image": "skimage:coffee", "size": 160}, "scenario": scenario, "turns": 12, "driver": "loop",
        "seed": 3, "editor": {"type": "simulated", "failures": failures}, "evaluators": ["geometry"],
        "gate": "always_accept", "telemetry": {"exporter": "none"},
    }  # fmt: skip
    start_run(parse_config(config, "test"), tmp_path / "run")
    found = find_failures(RunView.load(tmp_path / "run"))
    told = {(one.turn, one.found) for one in found.judgements if one.name == name and one.source == "simulator"}
    seen = {(one.turn, one.found) for one in found.judgements if one.name == name and one.source.startswith("geometry")}
    assert len(told) == 12
    assert {True, False} == {found for _, found in told}
    assert seen <= told
    assert len(seen) == (0 if scenario == "add_apple" else 12)
