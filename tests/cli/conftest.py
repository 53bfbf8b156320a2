"""The program in an empty folder."""

from __future__ import annotations

from .program import environment, program, turngate, write

__all__ = ["environment", "program", "turngate", "write"]
