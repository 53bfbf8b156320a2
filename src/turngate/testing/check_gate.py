"""Conformance of gates."""

from __future__ import annotations

import json
from copy import deepcopy
from math import isfinite

from turngate.agent.gate import Accepted, Decision, Gate, Past, Reading, Readings
from turngate.evaluators import Direction

__all__ = ["check_gate"]


def check_gate(gate: Gate) -> None:
    """Raise `AssertionError` when a gate breaks its contract.

    It must declare what it reads, decide from its arguments alone (the same arguments give the same decision, in any
    order, and are left as they were), give a reason of one line, evidence that is plain JSON and finite thresholds of
    evaluators that it reads, and survive every past that a run can have: an empty one, an origin or an accepted image
    without a score, and many equal scores.
    """
    assert isinstance(gate.reads, frozenset), "`reads` must be a frozenset of evaluator names"
    assert isinstance(gate.reads_truth, bool), "`reads_truth` must be True or False"
    directions: tuple[Direction, ...] = ("lower", "higher")
    cases = [
        (_scores(gate, value, direction, label), past)
        for direction in directions
        for value, label in ((-9.8, None), (0.0, "pass"), (34.1, "fail"), (1e9, ""), (-1.7e308, None))
        for past in _pasts(gate, direction)
    ]
    before = deepcopy(cases)
    first = [_decide(gate, scores, past) for scores, past in cases]
    second = [_decide(gate, scores, past) for scores, past in reversed(cases)][::-1]
    assert first == second, "a gate must keep no state: the same arguments gave another decision later"
    assert cases == before, "a gate must not change the scores and the past that it is shown"
    for decision in first:
        assert decision.verdict in ("accept", "reject", "accept_masked"), f"unknown verdict {decision.verdict!r}"
        assert decision.reason.strip() and "\n" not in decision.reason, "a decision needs a reason of one line"
        json.dumps(dict(decision.evidence), allow_nan=False)
        assert decision.thresholds.keys() <= gate.reads, "`thresholds` names an evaluator that the gate does not read"
        assert all(isfinite(value) for value in decision.thresholds.values()), "a threshold must be finite"


def _decide(gate: Gate, scores: Readings, past: Past) -> Decision:
    decision = gate.decide(scores, past)
    assert isinstance(decision, Decision), f"`decide` must return a Decision, not {type(decision).__name__}"
    return decision


def _scores(gate: Gate, value: float, direction: Direction, label: str | None = None) -> dict[str, Reading]:
    return {name: Reading(name, value, direction, label) for name in sorted(gate.reads)}


def _pasts(gate: Gate, direction: Direction) -> list[Past]:
    origin = _scores(gate, 10.0, direction)
    lineages = [
        [],
        [Accepted(turn, _scores(gate, 10.0 + turn, direction)) for turn in (1, 2)],
        [Accepted(1, {}), Accepted(2, _scores(gate, 1.7e308, direction)), Accepted(4, {})],
        [Accepted(turn, origin) for turn in range(1, 40)],
    ]
    return [
        Past(len(accepted) + 1, attempt, 7 + attempt, start, accepted, truth)
        for accepted in lineages
        for start in ({}, origin)
        for attempt, truth in ((1, None), *(((2, True), (3, False)) if gate.reads_truth else ()))
    ]
