"""Several truths in one run: measured, recorded, resumed, forked, exported, and looked at one by one."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, continue_run, fork_run, frames
from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.runner import Ended
from turngate.traces.analysis.run import AttemptView, seen_by, summarise, truth_direction, truth_seen_by_gate
from turngate.traces.exports import attempt_objects, write_csv
from turngate.traces.records import TruthRow

from . import opinion, stamp

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Ended, RunView]]

CORNERS = {"type": "control_regions", "regions": [[0, 0, 0.25, 0.25], [0.75, 0.75, 1, 1]]}
FIELDS: dict[str, Any] = {
    "origin": {"image": "skimage:coffee", "size": 96},
    "editor": {"type": "simulated", "severity": 3},
    "evaluators": {"near": "psnr"},
    "gate": {"type": "threshold", "evaluator": "near", "min": 24},
    "turns": 8,
    "truth": {"measure": {"type": "psnr", "align": "shift"}, "damaged_at": 24},
    "more_truths": {
        "recorded": {"measure": "simulator", "damaged_at": 1},
        "corners": {"measure": CORNERS, "damaged_at": 6},
    },
}
NAMES = ("truth", "recorded", "corners")


def truths_of(attempt: AttemptView) -> dict[str, float | None]:
    assert attempt.truth is not None
    rows: dict[str, TruthRow] = {attempt.truth.name: attempt.truth, **attempt.more_truths}
    return {name: row.value for name, row in rows.items()}


def ledger_rows(view: RunView) -> dict[str, Any]:
    ledger = view.folder.ledger()
    try:
        return {
            "attempts": [row.comparable() for row in ledger.attempts()],
            "scores": [row.comparable() for row in ledger.scores()],
            "truths": [row.comparable() for row in ledger.truths()],
            "decisions": [row.comparable() for row in ledger.decisions()],
            "composites": [row.comparable() for row in ledger.composites()],
        }
    finally:
        ledger.close()


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_every_truth_is_measured_on_every_candidate_and_on_the_origin(driver: str, config: Config, run: Run) -> None:
    _, view = run(config(**FIELDS, driver=driver))
    assert view.truths == NAMES
    assert view.baseline_truth is not None
    origin = {"truth": view.baseline_truth, **view.baseline_more_truths}
    assert {name: row.value for name, row in origin.items()} == {"truth": 80.0, "recorded": 0.0, "corners": 0.0}
    assert all(row.untouched for row in origin.values())
    for attempt in view.attempts:
        values = truths_of(attempt)
        assert tuple(values) == NAMES and None not in values.values()
        assert values["recorded"] == attempt.row.damage
        assert not any(row.untouched for row in attempt.more_truths.values())
    facts = view.info.resolved
    assert facts.truth is not None and facts.truth.name == "psnr"
    assert facts.more_truths["recorded"] is None
    corners = facts.more_truths["corners"]
    assert corners is not None and (corners.direction, corners.inputs) == ("lower", ["candidate", "origin"])


def test_more_truths_change_nothing_else(config: Config, run: Run) -> None:
    """One truth: the rows of a run that has more, but for theirs."""
    _, several = run(config(**FIELDS), "several")
    _, one = run(config(**{**FIELDS, "more_truths": {}}), "one")
    more, less = ledger_rows(several), ledger_rows(one)
    more["truths"] = [row for row in more["truths"] if row["name"] == "truth"]
    assert more == less
    assert (one.truths, len(one.attempts[0].more_truths)) == (("truth",), 0)


def test_a_run_seen_by_another_truth_speaks_of_it_everywhere(config: Config, run: Run) -> None:
    _, view = run(config(**FIELDS))
    seen = seen_by(view, "corners")
    assert (seen.truths, seen.seen) == (("corners", "recorded", "truth"), "corners")
    assert (truth_direction(view), truth_direction(seen)) == ("higher", "lower")
    assert seen.config.truth is not None and seen.config.truth.damaged_at == 6
    assert seen.config.more_truths["truth"].damaged_at == 24
    assert summarise(view).truth == "psnr, damaged at 24 dB"
    assert summarise(seen).truth == "control_regions, damaged at 6 levels"
    for before, after in zip(view.attempts, seen.attempts, strict=True):
        assert after.truth == before.more_truths["corners"]
        assert after.more_truths["truth"] == before.truth
        assert after.decision == before.decision
    assert seen.baseline_truth == view.baseline_more_truths["corners"]
    assert truth_direction(seen_by(view, "recorded")) == "lower"
    assert seen_by(view, "truth") is view
    for path in (["corners", "truth"], ["corners", "recorded", "truth"], ["recorded", "corners", "recorded", "truth"]):
        again = view
        for name in path:
            again = seen_by(again, name)
        assert again.attempts == view.attempts and again.info.recorded == view.info.recorded
        assert (again.baseline_truth, again.baseline_more_truths) == (view.baseline_truth, view.baseline_more_truths)
        assert sorted(again.truths[1:]) == sorted(view.truths[1:]) and again.truths[0] == "truth"
    with pytest.raises(KeyError, match="no truth 'edges'"):
        seen_by(view, "edges")


def test_composites_have_all_truths_of_their_own(config: Config, run: Run) -> None:
    fields = {
        **FIELDS,
        "origin": {"image": "skimage:astronaut", "size": 128},
        "editor": {"type": f"{stamp.__name__}:Stamp"},
        "on_reject": {"attempts": 1, "then": "accept_masked"},
        "more_truths": {"corners": FIELDS["more_truths"]["corners"]},
        "gate": {"type": "threshold", "evaluator": "near", "min": 79},
    }
    _, view = run(config(**fields))
    made = [attempt for attempt in view.attempts if attempt.composite is not None]
    assert made
    for attempt in made:
        assert attempt.composite is not None
        corners = attempt.composite.more_truths["corners"]
        assert corners.name == "corners" and corners.value is not None
        seen = next(a for a in seen_by(view, "corners").attempts if a.row == attempt.row)
        assert seen.standing == corners and seen.made == seen.composite
    assert any(a.composite and a.composite.more_truths != a.more_truths for a in made)
    flat = list(csv.DictReader(io.StringIO(_csv(view))))
    written = [row["composite.truth.corners.value"] for row in flat]
    assert [bool(text) for text in written] == [a.made is not None and a.made.image is not None for a in view.attempts]


def _csv(view: RunView) -> str:
    text = io.StringIO()
    write_csv(view, text)
    return text.getvalue()


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_resume_and_fork_keep_them(driver: str, config: Config, run: Run, tmp_path: Path) -> None:
    _, whole = run(config(**FIELDS, driver=driver), "whole")
    run(config(**FIELDS, driver=driver, budgets={"attempts": 3}), "cut")
    _, resumed = run(config(**FIELDS, driver=driver), "cut")
    assert ledger_rows(resumed) == ledger_rows(whole)
    child = fork_run(whole.folder.path, 4, tmp_path / "child", config(**FIELDS, driver=driver))
    continue_run(child)
    theirs, ours = ledger_rows(RunView.load(child)), ledger_rows(whole)
    assert theirs["truths"] == ours["truths"]


def test_exports_and_frames_have_their_columns(config: Config, run: Run) -> None:
    _, view = run(config(**FIELDS))
    rows = list(csv.DictReader(io.StringIO(_csv(view))))
    for row, attempt in zip(rows, view.attempts, strict=True):
        corners = attempt.more_truths["corners"]
        assert float(row["truth.corners.value"]) == corners.value
        assert row["truth.corners.damaged"] == str(corners.damaged)
        assert "truth.truth.value" not in row
    objects = list(attempt_objects(view))
    assert [one["more_truths"]["recorded"]["value"] for one in objects] == [a.row.damage for a in view.attempts]
    table = frames(view.folder.path).truth
    assert table.group_by("name").len().sort("name").rows() == [(name, 1 + len(rows)) for name in sorted(NAMES)]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"more_truths": {"truth": FIELDS["truth"]}}, r"more_truths\.truth: .* name of another truth"),
        ({"more_truths": {"labels": FIELDS["truth"]}}, r"more_truths\.labels: .* name of another truth"),
        ({"truth": None}, "one of them must lead"),
        ({"more_truths": {"x": {"measure": "psnrr", "damaged_at": 1}}}, r"more_truths\.x\.measure\.type: .*'psnr'"),
        ({"more_truths": {"x": {"measure": "brisque", "damaged_at": 1}}}, r"more_truths\.x\.measure: .* reference"),
        (
            {"more_truths": {"x": {"measure": {**CORNERS, "regions": []}, "damaged_at": 1}}},
            r"more_truths\.x\.measure\.regions",
        ),
        (
            {"editor": {"type": "codec"}, "more_truths": {"x": {"measure": "simulator", "damaged_at": 1}}},
            r"more_truths\.x\.measure: editor 'codec' is no simulator",
        ),
        (
            {"on_reject": {"attempts": 1, "then": "accept_masked"}},
            r"more_truths\.recorded\.measure: a simulator does not know how damaged a composite is",
        ),
        (
            {"scenario": "add_apple", "truth": {"measure": "outside_edit", "damaged_at": 6}},
            r"truth\.measure: scenario 'add_apple' does not say where turn 1 changes the picture: give its `box`",
        ),
        (
            {"scenario": "mirror_twice", "evaluators": ["psnr", "outside_edit"], "gate": "always_accept"},
            r"evaluators\.outside_edit: scenario 'mirror_twice' does not say where turn 1",
        ),
    ],
)
def test_what_cannot_be_measured_is_said_before_the_run(
    fields: dict[str, Any], error: str, config: Config, run: Run
) -> None:
    with pytest.raises(ConfigError, match=error) as told:
        run(config(**{**FIELDS, **fields}))
    assert "\n" not in str(told.value)


# Truth where there is no ideal: what no instruction touches.


def test_control_regions_and_outside_edit_need_no_ideal(config: Config, run: Run) -> None:
    scenario = {"type": "add_apple", "place": "the table", "box": [0.3, 0.3, 0.9, 0.9]}
    outside = {"measure": "outside_edit", "damaged_at": 6}
    more = {"corners": {"measure": CORNERS, "damaged_at": 6}}
    _, view = run(config(**{**FIELDS, "scenario": scenario, "truth": outside, "more_truths": more}))
    assert all(None not in truths_of(attempt).values() for attempt in view.attempts)
    share = view.attempts[0].truth.components["looked_at"] if view.attempts[0].truth else 0
    assert share == pytest.approx(1 - 0.6 * 0.6, abs=0.03)


def test_the_boxes_of_all_turns_that_led_to_an_image_are_left_out(config: Config, run: Run) -> None:
    """A skipped turn's box is looked at again: nothing was to change there."""
    quarters = [[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1]]
    instructions = [{"text": f"Paint corner {number}", "box": box} for number, box in enumerate(quarters, 1)]
    fields = {
        **FIELDS,
        "scenario": {"type": "custom", "instructions": instructions},
        "turns": 3,
        "truth": {"measure": "outside_edit", "damaged_at": 255},
        "more_truths": {},
    }
    for name, gate in (("all", "always_accept"), ("none", "always_reject")):
        _, view = run(config(**{**fields, "gate": gate}), name)
        left = [attempt.truth.components["looked_at"] for attempt in view.attempts if attempt.truth]
        assert left == ([0.75, 0.5, 0.25] if name == "all" else [0.75, 0.75, 0.75])


def test_a_custom_instruction_without_a_box_is_known_by_its_turn(config: Config, run: Run) -> None:
    said = [{"text": "Paint the door", "box": [0, 0, 0.5, 0.5]}, "Paint the roof"]
    fields = {**FIELDS, "scenario": {"type": "custom", "instructions": said}, "turns": 2, "more_truths": {}}
    with pytest.raises(ConfigError, match="does not say where turn 2 changes"):
        run(config(**{**fields, "truth": {"measure": "outside_edit", "damaged_at": 6}}))
    with pytest.raises(ConfigError, match=r"instructions.*rectangle"):
        config(**{**fields, "scenario": {"type": "custom", "instructions": [{"text": "x", "box": [0.5, 0, 0.5, 1]}]}})


# What the gate knew of the truth.

SCALED = {"rule": "mean", "scale": "range"}


def beside(evaluator: dict[str, Any], **limit: float) -> dict[str, Any]:
    """A gate that reads this evaluator."""
    return {"evaluators": {"near": evaluator}, "gate": {"type": "threshold", "evaluator": "near", **limit}}


@pytest.mark.parametrize(
    ("fields", "name", "seen"),
    [
        ({}, "truth", True),  # psnr by another alignment is psnr
        ({}, "recorded", False),
        ({}, "corners", False),
        ({"evaluators": {"near": "ssim", "beside": "psnr"}, "gate": {"type": "always_accept"}}, "truth", False),
        ({"gate": {"type": "oracle"}}, "truth", True),
        ({"gate": {"type": "oracle"}}, "recorded", False),
        (beside(CORNERS, max=5), "corners", True),
        (beside({**CORNERS, "regions": [[0, 0, 1, 1]]}, max=5), "corners", False),
        (beside({"type": "ensemble", **SCALED, "members": {"a": "psnr", "b": "ssim"}}, min=0.1), "truth", True),
    ],
)
def test_a_truth_that_the_gate_reads_is_known(
    fields: dict[str, Any], name: str, seen: bool, config: Config, run: Run
) -> None:
    _, view = run(config(**{**FIELDS, "turns": 1, **fields}))
    assert truth_seen_by_gate(seen_by(view, name)) is seen
    older = view.info.model_copy(update={"resolved": view.info.resolved.model_copy(update={"gate": None})})
    without = RunView(view.folder, older, view.status, {}, None, [], [])
    assert truth_seen_by_gate(seen_by(without, name)) is seen, "read from the gate's settings in older runs"


# A judge as truth, which no gate reads.

OPINION = f"{opinion.__name__}:Opinion"


def test_a_judge_that_costs_nothing_is_a_truth_where_there_is_no_ideal(config: Config, run: Run) -> None:
    truth = {"measure": {"type": OPINION, "steady": True}, "damaged_at": 50}
    _, view = run(config(**{**FIELDS, "scenario": "add_apple", "truth": truth, "more_truths": {}}))
    assert all(attempt.truth is not None and attempt.truth.value is not None for attempt in view.attempts)
    assert not truth_seen_by_gate(view)
    dear = {"measure": {"type": OPINION, "paid": True}, "damaged_at": 50}
    with pytest.raises(ConfigError, match=r"more_truths\.said\.measure: 'opinion' costs money.*--labels"):
        run(config(**{**FIELDS, "more_truths": {"said": dear}}), "dear")


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_what_a_fickle_judge_said_is_kept(driver: str, config: Config, run: Run) -> None:
    """Its answer is stored before it is used: a truth that was asked for is not asked again on resume."""
    fields = {**FIELDS, "driver": driver, "turns": 4}
    fields["more_truths"] = {"said": {"measure": OPINION, "damaged_at": 0}}
    _, cut = run(config(**{**fields, "budgets": {"attempts": 2}}))
    before = [truths_of(attempt)["said"] for attempt in cut.attempts]
    assert len(set(before)) == 2
    _, view = run(config(**fields))
    assert [truths_of(attempt)["said"] for attempt in view.attempts][:2] == before
    ledger = view.folder.ledger()
    try:
        asked = [call for call in ledger.calls() if call.kind == "evaluate"]
    finally:
        ledger.close()
    assert len(asked) == len(view.attempts) + 1, "each candidate and the origin once"
