"""What lies at a path: runs, a folder of images, one image, or a manifest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from turngate.errors import ConfigError, UserError
from turngate.evaluators import Need
from turngate.rescoring.folder_target import folder_target
from turngate.rescoring.manifest_target import manifest_target
from turngate.rescoring.run_target import run_target
from turngate.rescoring.targets import Target
from turngate.traces.run_folder import find_runs

__all__ = ["Found", "find", "turns_in"]


@dataclass(frozen=True)
class Found:
    """Runs, or one other target."""

    runs: tuple[Path, ...] = ()
    other: Target | None = None

    @property
    def offers(self) -> frozenset[Need]:
        """What images can be shown with; a run knows everything."""
        return self.other.offers if self.other is not None else frozenset(get_args(Need))

    def targets(self, turns: frozenset[int] | None, limit: int | None, with_history: bool) -> Iterator[Target]:
        """Open what was found; of each the given turns only, and at most `limit` images."""
        if self.other is not None:
            yield _first(self.other, limit)
        for run in self.runs:
            yield _first(run_target(run, turns, with_history), limit)


def find(path: Path, origin: Path | None = None, table: Path | None = None) -> Found:
    """Look at `path`; `origin` and `table` (file of the scores) are for images outside runs only.

    Raises `UserError` when there is nothing to score, `ConfigError` or `BadImage` for what cannot be read.
    """
    if not path.exists():
        raise UserError(f"nothing at {path}: give a run, a study, a folder of images or a CSV manifest")
    runs = _runs(path)
    if runs:
        given = "--origin" if origin else "--out" if table else None
        if given is not None:
            raise ConfigError(f"{given}: a run has its own: it is for folders of images and manifests")
        return Found(runs)
    if path.is_file() and path.suffix.lower() in (".csv", ".txt"):
        if origin is not None:
            raise ConfigError("--origin: a manifest says so itself, in a column origin")
        return Found(other=manifest_target(path, table))
    return Found(other=folder_target(path, origin, table))


def turns_in(text: str) -> frozenset[int]:
    """Turns from `1-10,20`; 0 is the origin. Raises `ConfigError`."""
    turns: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ConfigError(f"--turns {text}: write turns and ranges, for instance 0,1,5-20")
        turns.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(turns)


def _runs(path: Path) -> tuple[Path, ...]:
    if path.name == "run.json":
        return (path.parent,)
    return tuple(find_runs(path)) if path.is_dir() else ()


def _first(target: Target, limit: int | None) -> Target:
    if limit is None or limit >= len(target.items):
        return target
    return replace(target, items=target.items[:limit], selection={**target.selection, "limit": limit})
