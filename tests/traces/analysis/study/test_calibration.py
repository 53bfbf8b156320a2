"""A limit from clean edits: known answers, left-out origins against the gate itself, baselines of charts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.runs import Writer, degraded

from turngate.agent.gate import Past, Reading
from turngate.agent.gates import GATES
from turngate.errors import UserError
from turngate.picture import encode_png
from turngate.traces.analysis.run import RunView, calibration_origins, origin_identity
from turngate.traces.analysis.study import CleanEdit, calibrate, chart_baseline, clean_edits, limit_of

Way = Literal["higher", "lower"]
value = st.floats(-100, 100).map(lambda one: round(one, 2))
way: st.SearchStrategy[Way] = st.sampled_from(["higher", "lower"])


def edits(groups: dict[str, list[float]], direction: Way = "lower", editor: str = "codec") -> list[CleanEdit]:
    """Edits of origins, one run each; the origin's own score is 10."""
    return [
        CleanEdit(
            run=f"run-{origin}", turn=turn, attempt=1, origin=origin, origin_name=origin, editor=editor, score=score,
            from_origin=score - 10, from_first=None if turn == 1 else score - scores[0],
            direction=direction, known=True,
        )
        for origin, scores in groups.items()
        for turn, score in enumerate(scores, 1)
    ]  # fmt: skip


def test_two_origins_by_hand() -> None:
    """Of nine scores 1..9 the worst is the limit at 0.1: it rejects 3 of 9 of the other origin, which rejects none."""
    found = calibrate(edits({"low": [*map(float, range(1, 10))], "high": [4, 5, 6, 7, 8, 9, 10, 11, 12]}), "q", 0.1)
    assert {one.name: (one.limit, one.rejected) for one in found.origins} == {"low": (12, 0), "high": (9, 3)}
    assert [one.rate for one in found.origins] == pytest.approx([0, 1 / 3])
    assert found.out_of_sample == pytest.approx(1 / 6)
    assert found.worst is not None and found.worst.name == "high"
    assert (found.limit, found.in_sample) == (12, 0)
    assert [(one.origins, one.edits) for one in found.editors] == [(2, 18)]
    assert found.editors[0].rate == pytest.approx(1 / 6)
    kinds = [gate.as_mapping() for gate in found.gates]
    assert [gate["type"] for gate in kinds] == ["conformal", "threshold"]
    assert kinds[1]["at"] == 12
    assert all(gate["calibrated_on"] == ["low", "high"] for gate in kinds)


def test_editors_are_told_apart() -> None:
    """Both origins have both editors; only the second editor's edits are beyond what the other origin gives."""
    calm = edits({"a": [1, 2, 3], "b": [1, 2, 3]}, editor="calm")
    wild = edits({"a": [9], "b": [8]}, editor="wild")
    found = calibrate([*calm, *wild], "q", 0.25)
    assert {one.editor: (one.edits, one.rate) for one in found.editors} == {"calm": (6, 0), "wild": (2, 0.5)}


def test_one_origin_says_nothing_out_of_sample() -> None:
    found = calibrate(edits({"a": [1, 2, 3]}), "q", 0.25)
    assert (found.out_of_sample, found.worst) == (None, None)
    assert (found.origins[0].limit, found.origins[0].rate) == (None, None)


def test_what_is_too_little() -> None:
    with pytest.raises(UserError, match="at least 9 are needed"):
        calibrate(edits({"a": [1, 2, 3]}), "q", 0.1)
    with pytest.raises(UserError, match="no score of 'q'"):
        calibrate([], "q", 0.1)
    unscored = [edit.model_copy(update={"from_origin": None}) for edit in edits({"a": [1, 2, 3]})]
    with pytest.raises(UserError, match="no score of their origin image"):
        calibrate(unscored, "q", 0.25, reference="origin")


def gate_rejects(gate: Any, score: float, direction: Way) -> bool:
    found = gate.decide({"q": Reading("q", score, direction)}, Past(1, 1, 0))
    return str(found.verdict) == "reject"


@given(
    st.lists(st.lists(value, min_size=1, max_size=8), min_size=2, max_size=4), way, st.sampled_from([0.1, 0.25, 0.4])
)
def test_a_left_out_origin_is_judged_as_the_gate_would(groups: list[list[float]], direction: Way, alpha: float) -> None:
    """The rate is that of a conformal gate that was given the other origins' scores, and nothing of its own."""
    named = {f"o{number}": group for number, group in enumerate(groups)}
    if limit_of([score for group in groups for score in group], direction, alpha) is None:
        return
    for one in calibrate(edits(named, direction), "q", alpha).origins:
        others = [score for name, group in named.items() if name != one.name for score in group]
        if one.rate is None:
            assert limit_of(others, direction, alpha) is None
            continue
        raw = {"type": "conformal", "evaluator": "q", "calibration": others, "alpha": alpha}
        gate = GATES.build(GATES.configure(raw, "gate"))
        assert one.rejected == sum(gate_rejects(gate, score, direction) for score in named[one.name])


@given(st.lists(value, min_size=4, max_size=30), way, st.sampled_from([0.2, 0.5]))
def test_the_plain_gate_rejects_what_the_conformal_one_does(scores: list[float], direction: Way, alpha: float) -> None:
    found = calibrate(edits({"a": scores}, direction), "q", alpha)
    gates = [GATES.build(GATES.configure(gate.as_mapping(), "gate")) for gate in found.gates]
    assert [sum(gate_rejects(gate, score, direction) for score in scores) for gate in gates] == [
        round(found.in_sample * len(scores))
    ] * 2


def test_relative_limits_are_margins_and_a_gain_has_none() -> None:
    worse = calibrate(edits({"a": [11, 12, 13]}), "q", 0.25, reference="origin")
    assert worse.gates[1].as_mapping() | {"calibrated_on": None} == {
        "type": "relative", "evaluator": "q", "reference": "origin", "margin": 3, "calibrated_on": None,
    }  # fmt: skip
    better = calibrate(edits({"a": [7, 8, 9]}), "q", 0.25, reference="origin")
    assert [gate.type for gate in better.gates] == ["conformal"]
    assert any("no margin for that" in note for note in better.notes)


def test_a_baseline_by_hand() -> None:
    """Within: variance 1 in each; between: means 2 and 6, variance 8."""
    found = chart_baseline([[1, 2, 3], [5, 6, 7]])
    assert found is not None
    assert (found.mean, found.sd) == (4, 3)
    assert found.between == pytest.approx(8 / 9)
    alone = chart_baseline([[1, 2, 3]])
    assert alone is not None and (alone.mean, alone.sd, alone.between) == (2, 1, None)
    assert chart_baseline([[2], []]) is None


@given(st.lists(st.lists(value, min_size=1, max_size=6), min_size=2, max_size=5), value)
def test_a_baseline_moves_with_the_scores(groups: list[list[float]], by: float) -> None:
    found, moved = chart_baseline(groups), chart_baseline([[one + by for one in group] for group in groups])
    if found is None or moved is None or found.sd < 1e-6:
        return
    assert moved.mean == pytest.approx(found.mean + by, abs=1e-9)
    assert moved.sd == pytest.approx(found.sd, rel=1e-6)


def test_a_baseline_covers_new_origins() -> None:
    """2000 new origins beside 8 known ones, both spreads 1: about 94 % are within 2 SDs."""
    rng = np.random.default_rng(5)
    inside = []
    for _ in range(2000):
        groups = rng.normal(rng.normal(size=(9, 1)), 1, size=(9, 6))
        found = chart_baseline(groups[:8].tolist())
        assert found is not None
        inside.append(abs(groups[8, 0] - found.mean) < 2 * found.sd)
    assert np.mean(inside) == pytest.approx(0.94, abs=0.02)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., RunView]:
    """A run of two sound edits and a damaged one, whose gate says what it was calibrated on."""

    def do(name: str, calibrated_on: list[str], seed: int = 1) -> RunView:
        inner = {"type": "threshold", "evaluator": "brisque", "at": 40.0, "calibrated_on": calibrated_on}
        gate = {
            "type": "all",
            "evaluator": "brisque",
            "gates": [inner, {"type": "vote", "gates": [{"type": "oracle"}]}],
        }
        writer = Writer(tmp_path / name, name=name, gate=gate)
        for turn, damage in ((1, 0.0), (2, 0.1), (3, 0.9)):
            image = encode_png(degraded(writer.origin, 0.1 * turn, 10 * seed + turn))
            writer.attempt(turn, image=image, scores={"brisque": 20.0 + turn}, damage=damage)
        return RunView.load(writer.close())

    return do


def test_edits_know_their_origin_by_pixels(run: Callable[..., RunView]) -> None:
    runs = [run("one", []), run("two", [], seed=2)]
    found = clean_edits(runs, "brisque", 5)
    assert [(edit.turn, edit.score, edit.from_origin) for edit in found[:2]] == [(1, 21, 1), (2, 22, 2)]
    assert {edit.origin for edit in found} == {origin_identity(runs[0])}
    assert len(found) == 4, "the damaged one is no clean edit"
    assert found[0].editor == "sharpen · amount 1.5"


def test_what_a_gate_was_calibrated_on_is_found_inside_other_gates(run: Callable[..., RunView]) -> None:
    known = ["c" * 64, "d" * 64]
    assert calibration_origins(run("calibrated", known)) == set(known)
    assert calibration_origins(run("not", [])) == frozenset()


def test_a_margin_to_the_first_accepted_image_leaves_that_image_out() -> None:
    """Differences to the first are 1, 2, 3 and 2: the worst of four is the margin, and no conformal gate reads it."""
    found = calibrate(edits({"a": [5, 6, 7, 8], "b": [1, 3]}), "q", 0.2, reference="first")
    assert (found.edits, found.limit) == (4, 3)
    assert [(gate.type, gate.settings["reference"], gate.settings["margin"]) for gate in found.gates] == [
        ("relative", "first", 3)
    ]
