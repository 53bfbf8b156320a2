"""What lies in the viewer's folder: runs and studies, told from their small files alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from turngate.traces.redact import redact
from turngate.traces.report.inert import visible

__all__ = ["Entry", "Kind", "Spot", "read_entry", "walk"]

Kind = Literal["run", "study"]
_FILES: dict[str, Kind] = {"run.json": "run", "study.json": "study"}
_LARGEST = 4_000_000
"""Bytes of a run.json or study.json; anything larger is none."""


@dataclass(frozen=True)
class Spot:
    """Where a run or a study lies; nothing of it was read yet."""

    key: str
    """Names it in addresses; made from its place, so it is the same in every session."""
    kind: Kind
    path: Path
    place: str
    """Relative to the viewer's folder."""
    changed_ns: int
    """When its file was written, Unix nanoseconds."""
    size: int
    """Bytes of its file."""


@dataclass(frozen=True)
class Entry:
    """One run or study in the list."""

    spot: Spot
    created: str = ""
    """ISO 8601, UTC; of a study when its file was written."""
    editor: str = ""
    gate: str = ""
    scenario: str = ""
    question: str = ""
    """Of a study."""
    planned: int = 0
    """Planned turns of a run, runs of a study."""
    simulated: bool = False
    problem: str = ""
    """Why it cannot be read."""

    @property
    def text(self) -> str:
        """What a filter looks at, in small letters."""
        simulated = "simulated" if self.simulated else ""
        return f"{self.spot.place} {self.editor} {self.gate} {self.scenario} {self.question} {simulated}".lower()


def walk(root: Path) -> Iterator[Spot]:
    """Studies and runs below `root`; hidden folders, links, and what lies beside a ledger are left alone."""
    pending = [str(root)]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as found:
                items = {item.name: item for item in found}
        except OSError:
            continue
        for file, kind in _FILES.items():
            if file in items and items[file].is_file(follow_symlinks=False):
                yield _spot(root, kind, folder, items[file].stat(follow_symlinks=False))
        if "ledger.sqlite" not in items:  # a file called run.json may be anybody's
            inner = [item for name, item in items.items() if not name.startswith(".")]
            pending += [item.path for item in inner if item.is_dir(follow_symlinks=False)]


def read_entry(spot: Spot) -> Entry:
    """Read the small file of a run or a study; what cannot be read says why."""
    try:
        if spot.size > _LARGEST:
            return Entry(spot, problem=f"{spot.kind}.json is too large for one of turngate's")
        raw = from_json((spot.path / f"{spot.kind}.json").read_bytes())
    except OSError as error:
        return Entry(spot, problem=f"{spot.kind}.json cannot be read: {error.strerror}")
    except ValueError:
        return Entry(spot, problem=f"{spot.kind}.json is damaged: it is no JSON")
    try:
        return _run(spot, raw) if spot.kind == "run" else _study(spot, raw)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Entry(spot, problem=f"{spot.kind}.json is not turngate's, or damaged")


def _spot(root: Path, kind: Kind, folder: str, state: os.stat_result) -> Spot:
    place = os.path.relpath(folder, root)
    key = hashlib.sha256(f"{kind} ".encode() + os.fsencode(place)).hexdigest()[:16]
    shown = root.name if place == "." else place
    readable = shown.encode("utf-8", "replace").decode()
    return Spot(key, kind, Path(folder), readable, state.st_mtime_ns, state.st_size)


def _run(spot: Spot, raw: dict[str, Any]) -> Entry:
    config, resolved = raw["config"], raw["resolved"]
    return Entry(
        spot,
        created=str(raw["created"]),
        editor=visible(str((resolved.get("editor") or {}).get("model") or config["editor"]["type"])),
        gate=visible(str(config["gate"]["type"])),
        scenario=visible(str(config["scenario"]["type"])),
        planned=int(config["turns"]),
        simulated=bool(resolved.get("simulated")),
    )


def _study(spot: Spot, raw: dict[str, Any]) -> Entry:
    written = datetime.fromtimestamp(spot.changed_ns / 1e9, UTC).isoformat(timespec="seconds")
    question = redact(str(raw["study"].get("question") or ""))
    return Entry(spot, created=written, question=question, planned=len(raw["runs"]))
