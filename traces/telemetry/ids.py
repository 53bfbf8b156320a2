"""Trace and span ids made from run, turn and attempt: whoever sends a span again sends it under the same id."""

from __future__ import annotations

import hashlib

__all__ = [
    "edit_span_id",
    "evaluate_span_id",
    "gate_span_id",
    "run_span_id",
    "trace_id",
    "try_span_id",
    "turn_span_id",
    "turn_trace_id",
]


def trace_id(run: str) -> int:
    """128-bit trace id of a run: the first 16 bytes of the SHA-256 of its run id."""
    return _trace_id(run)


def turn_trace_id(run: str, turn: int) -> int:
    """128-bit trace id of a turn that has a trace of its own."""
    return _trace_id(run, turn, "turn")


def run_span_id(run: str) -> int:
    """Span id of the run itself, the root."""
    return _span_id(run, "run")


def turn_span_id(run: str, turn: int) -> int:
    """Span id of a turn."""
    return _span_id(run, turn, "turn")


def edit_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of an editor call."""
    return _span_id(run, turn, attempt, "edit")


def try_span_id(run: str, turn: int, attempt: int, number: int) -> int:
    """Span id of a call to the provider that failed and was made again, 1-based within the attempt."""
    return _span_id(run, turn, attempt, "try", number)


def evaluate_span_id(run: str, turn: int, attempt: int, evaluator: str) -> int:
    """Span id of an evaluation; `evaluator` is its name in the run's configuration."""
    return _span_id(run, turn, attempt, "evaluate", evaluator)


def gate_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of a gate's decision."""
    return _span_id(run, turn, attempt, "gate")


def _trace_id(*path: str | int) -> int:
    return int.from_bytes(_hash(path)[:16])


def _span_id(*path: str | int) -> int:
    return int.from_bytes(_hash(path)[:8])


def _hash(path: tuple[str | int, ...]) -> bytes:
    return hashlib.sha256("/".join(str(step) for step in path).encode()).digest()
