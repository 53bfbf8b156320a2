"""Moments that never run backwards, for everything that is recorded with a time."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """The time of day when it was made, carried on by the monotonic clock.

    The system's own time of day jumps: a machine that wakes up, a server that corrects it, a person who sets it. Two
    moments of one clock always differ by the time that really passed between them.
    """

    def __init__(self, not_before_ns: int = 0) -> None:
        """The clock begins no earlier than `not_before_ns` (Unix nanoseconds), the latest moment that is recorded."""
        self._began_ns = max(time.time_ns(), not_before_ns)
        self._mark_ns = time.monotonic_ns()

    def now_ns(self) -> int:
        """Unix nanoseconds."""
        return self._began_ns + time.monotonic_ns() - self._mark_ns
