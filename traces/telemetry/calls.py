"""The calls to a provider that failed within one attempt, with their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turngate.traces.records import AttemptRow

__all__ = ["FailedCall", "answered_at", "failed_calls"]


@dataclass(frozen=True)
class FailedCall:
    """A call that failed and was made again."""

    number: int
    """1-based within the attempt."""
    why: str
    """Kind of failure: `per_minute`, `timeout`, ..."""
    seconds: float
    """How long the call took."""
    waited: float
    """Pause after it, seconds."""
    ended_ns: int
    """Unix nanoseconds, from the attempt's start and what the calls before it took."""
    again_ns: int
    """When the next call began."""


def failed_calls(row: AttemptRow) -> Iterator[FailedCall]:
    """All failed calls but the one that the attempt itself ended with."""
    tries, at = row.tries, row.started_ns
    answered = row.outcome != "no_image" or row.response_id is not None or row.finish_reason is not None
    if tries and not answered and not tries[-1]["waited"]:
        tries = tries[:-1]
    for number, one in enumerate(tries, start=1):
        ended = min(at + round(1e9 * one["seconds"]), row.ended_ns)
        again = min(ended + round(1e9 * one["waited"]), row.ended_ns)
        yield FailedCall(number, str(one["why"]), one["seconds"], one["waited"], ended, again)
        at = again


def answered_at(row: AttemptRow) -> int:
    """When the last call of an attempt began, Unix nanoseconds."""
    return max((call.again_ns for call in failed_calls(row)), default=row.started_ns)
