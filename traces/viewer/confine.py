"""Nothing outside the viewer's folder is read."""

from __future__ import annotations

from pathlib import Path

from turngate.errors import UserError

__all__ = ["confined"]


def confined(root: Path, path: Path) -> Path:
    """The real place of `path`; raises `UserError` when links lead out of `root`, which is itself resolved."""
    real = path.resolve()
    if not real.is_relative_to(root):
        raise UserError(f"{path.name} leads out of the folder that is viewed: view the folder that holds it")
    return real
