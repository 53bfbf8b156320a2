"""Conformance of gates."""

from __future__ import annotations

import json

from turngate.agent.gate import Accepted, Decision, Gate, Past, Reading, Readings

__all__ = ["check_gate"]


def check_gate(gate: Gate) -> None:
    """Raise `AssertionError` when a gate breaks its contract.

    It must declare what it reads, decide from its arguments alone (the same arguments give the same decision, in any
    order, and are left as they were), give a reason of one line and evidence that is plain JSON, and survive an empty
    past.
    """
    assert isinstance(gate.reads, frozenset), "`reads` must be a frozenset of evaluator names"
    assert isinstance(gate.reads_truth, bool), "`reads_truth` must be True or False"
    cases = [(_scores(gate, value), past) for value in (-9.8, 0.0, 34.1, 1e9) for past in _pasts(gate)]
    first = [_decide(gate, scores, past) for scores, past in cases]
    second = [_decide(gate, scores, past) for scores, past in reversed(cases)][::-1]
    assert first == second, "a gate must keep no state: the same arguments gave another decision later"
    for (scores, _), decision in zip(cases, first, strict=True):
        assert set(scores) == set(gate.reads), "a gate must not change the scores it is shown"
        assert decision.verdict in ("accept", "reject", "accept_masked"), f"unknown verdict {decision.verdict!r}"
        assert decision.reason.strip() and "\n" not in decision.reason, "a decision needs a reason of one line"
        json.dumps(dict(decision.evidence), allow_nan=False)


def _decide(gate: Gate, scores: Readings, past: Past) -> Decision:
    decision = gate.decide(scores, past)
    assert isinstance(decision, Decision), f"`decide` must return a Decision, not {type(decision).__name__}"
    return decision


def _scores(gate: Gate, value: float) -> dict[str, Reading]:
    return {name: Reading(name, value, "lower") for name in sorted(gate.reads)}


def _pasts(gate: Gate) -> list[Past]:
    damaged = (None, True, False) if gate.reads_truth else (None,)
    seen = [Accepted(turn, _scores(gate, 10.0 + turn)) for turn in (1, 2)]
    empty = [Past(1, 1, 7, damaged=truth) for truth in damaged]
    return [*empty, *(Past(3, 2, 8, _scores(gate, 10.0), seen, truth) for truth in damaged)]
