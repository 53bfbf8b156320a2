"""How much of a number comes from a simulator, whose damage is written by hand."""

from __future__ import annotations

from typing import Literal

__all__ = ["how_simulated"]


def how_simulated(simulated: int, runs: int) -> Literal["", "partly simulated", "simulated"]:
    """In words: `simulated` of `runs` runs are of a simulator."""
    if not simulated:
        return ""
    return "simulated" if simulated == runs else "partly simulated"
