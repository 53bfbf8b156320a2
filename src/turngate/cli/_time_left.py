"""How long the rest takes, judged by how long the last steps took."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

__all__ = ["TimeLeft", "duration"]

_STEPS = 20
"""A loop gets slower as attempts are rejected, and its first step loads models: only the last steps count."""


class TimeLeft:
    """Tell it of steps as they are done."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._done = 0
        self._clock = clock
        self._began = clock()
        self._marks = deque([(0, self._began)], maxlen=_STEPS + 1)

    def begin_at(self, done: int) -> None:
        """So many steps were done before the beginning."""
        self._done = done
        self._marks[0] = (done, self._began)

    def reached(self, done: int) -> None:
        """So many steps are done."""
        if done > self._done:
            self._done = done
            self._marks.append((done, self._clock()))

    @property
    def seconds(self) -> float | None:
        """Seconds that are left, never negative; None before the first step is done."""
        (first, began), (last, ended) = self._marks[0], self._marks[-1]
        if last == first:
            return None
        owed = (ended - began) / (last - first) * (self._total - last)
        return max(0.0, owed - (self._clock() - ended))

    @property
    def text(self) -> str:
        """`, about 3 min left`, or nothing while nobody can tell."""
        left = self.seconds
        return "" if left is None or self._done >= self._total else f", about {duration(left)} left"


def duration(seconds: float) -> str:
    """Rounded, for people."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
