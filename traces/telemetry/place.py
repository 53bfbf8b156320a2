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
        flags = self.started_under.flags if self.started_under is not None and self.trace_per == "run" else 1
        state = self.started_under.state if self.started_under is not None else ""
        return TraceContext(self.turn_trace(turn), ids.edit_span_id(self.run, turn, attempt), flags, state)
