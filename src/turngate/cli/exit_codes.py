"""Exit codes of the command line, by who is at fault and by how a run ended."""

from __future__ import annotations

import signal

__all__ = ["CODES", "code_for"]

CODES = {
    0: "done: the run is complete, or the command found nothing wrong",
    1: "`validate` found something wrong",
    2: "the user is at fault: configuration, file, missing extra, key or weights, wrong usage",
    3: "a provider is at fault: rate limit, refusal, time-out",
    4: "the machine is at fault: disk, memory, permissions, damaged run",
    5: "another process works on the run",
    10: "the run ended before its last turn: stopped, attempts_exhausted or budget_exhausted",
    11: "the run waits for a person",
    70: "turngate or a part is at fault: please report it",
    130: "interrupted (SIGINT); the run can be resumed",
    143: "terminated (SIGTERM); the run can be resumed",
}
"""Exit code -> meaning."""

_BY_STATUS = {
    "complete": 0,
    "stopped": 10,
    "attempts_exhausted": 10,
    "budget_exhausted": 10,
    "waiting": 11,
}


def code_for(status: str, reason: str | None = None) -> int:
    """Exit code for a run's status; an interrupted run takes the signal's, which its reason names."""
    if status == "interrupted":
        return 128 + (signal.SIGTERM if reason == "SIGTERM" else signal.SIGINT)
    return _BY_STATUS.get(status, 70)
