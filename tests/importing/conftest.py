"""Small trees of recorded frames: photographs that wear out, and the program in the same folder."""

from __future__ import annotations

from tests.cli.program import environment, turngate

__all__ = ["environment", "turngate"]
