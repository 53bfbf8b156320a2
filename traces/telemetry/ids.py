"""Trace and span ids made from run, turn and attempt: whoever sends a span again sends it under the same id."""

from __future__ import annotations

import hashlib

__all__ = ["edit_span_id", "evaluate_span_id", "gate_span_id", "run_span_id", "trace_id", "turn_span_id"]


def trace_id(run: str) -> int:
    """128-bit trace id of a run: the first 16 bytes of the SHA-256 of its run id."""
    return int.from_bytes(hashlib.sha256(run.encode()).digest()[:16])


def run_span_id(run: str) -> int:
    """Span id of the run itself, the root."""
    return _span_id(run, "run")


def turn_span_id(run: str, turn: int) -> int:
    """Span id of a turn."""
    return _span_id(run, turn, "turn")


def edit_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of an editor call."""
    return _span_id(run, turn, attempt, "edit")


def evaluate_span_id(run: str, turn: int, attempt: int, evaluator: str) -> int:
    """Span id of an evaluation; `evaluator` is its name in the run's configuration."""
    return _span_id(run, turn, attempt, "evaluate", evaluator)


def gate_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of a gate's decision."""
    return _span_id(run, turn, attempt, "gate")


def _span_id(*path: str | int) -> int:
    text = "/".join(str(step) for step in path)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
