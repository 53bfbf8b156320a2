"""Where the spans of one run stand: in which trace, below whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from turngate.traces.telemetry import ids
from turngate.traces.telemetry.trace_context import TraceContext

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """Ids of the run and of its turns under derived ids."""

    run: str
    trace_per: Literal["run", "turn"] = "run"
    started_under: TraceContext | None = None
    """Whose child the run is; its spans are part of that trace then."""

    @property
    def trace(self) -> int:
        """Trace of the run's own span."""
        return self.started_under.trace if self.started_under is not None else ids.trace_id(self.run)

    def turn_trace(self, turn: int) -> int:
        """Trace of a turn and of all that happens in it."""
        return self.trace if self.trace_per == "run" else ids.turn_trace_id(self.run, turn)

    def edit(self, turn: int, attempt: int) -> TraceContext:
        """The span of an editor call, known before it is made."""
        return self._within(turn, ids.edit_span_id(self.run, turn, attempt))

    def evaluate(self, turn: int, attempt: int, evaluator: str) -> TraceContext:
        """The span of an evaluation, known before it is made; for the origin (turn 0), which has none, the run's."""
        if turn == 0:
            return self._context(self.trace, ids.run_span_id(self.run), self.started_under)
        return self._within(turn, ids.evaluate_span_id(self.run, turn, attempt, evaluator))

    def _within(self, turn: int, span: int) -> TraceContext:
        return self._context(self.turn_trace(turn), span, self.started_under if self.trace_per == "run" else None)

    def _context(self, trace: int, span: int, joined: TraceContext | None) -> TraceContext:
        """`joined` is whose trace it is, if it is not ours."""
        state = self.started_under.state if self.started_under is not None else ""
        return TraceContext(trace, span, 1 if joined is None else joined.flags, state)
