"""How a run stands, told from its ledger alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turngate.traces.lock import holder
from turngate.traces.records import DecisionRow, EventRow, RunStatus

__all__ = ["run_status"]


def run_status(folder: Path, decisions: Sequence[DecisionRow], events: Sequence[EventRow]) -> RunStatus:
    """Status of the run in `folder`.

    The last decision wins when it ended the run, so a run whose process died after its last turn still counts as
    complete. Otherwise the last `ended` event does, unless a later `started` one shows that the run went on.
    """
    if decisions and decisions[-1].status_after != "running":
        return decisions[-1].status_after
    if holder(folder) is not None:
        return "running"
    turns = [event for event in events if event.kind in ("started", "ended")]
    if turns and turns[-1].kind == "ended":
        status: RunStatus = turns[-1].data["status"]
        return status
    return "interrupted"
