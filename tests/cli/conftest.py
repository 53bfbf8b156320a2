"""The program in an empty folder."""

from __future__ import annotations

from .program import environment, turngate, write

__all__ = ["environment", "turngate", "write"]
