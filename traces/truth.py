"""Damaged or not: the one place where a value of the truth is held against its threshold."""

from __future__ import annotations

from turngate.component import Direction

__all__ = ["is_damaged"]


def is_damaged(value: float | None, damaged_at: float, better: Direction) -> bool | None:
    """Whether `value` is at or beyond the threshold on the bad side; None when the value is not known."""
    if value is None:
        return None
    return value <= damaged_at if better == "higher" else value >= damaged_at
