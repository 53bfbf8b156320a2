"""Runs and studies in the viewer's folder, read from their small files, and a quick summary of each run."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from turngate.errors import TurngateError
from turngate.pages.report import visible
from turngate.traces._sqlite import LedgerReader, columns, connect
from turngate.traces.analysis.run import RunView, VerdictKind, attempt_views, summarise
from turngate.traces.progress import run_status
from turngate.traces.recorded import RecordedOrigin, Resolved
from turngate.traces.records import LEADING_TRUTH, AttemptRecord, AttemptRow, DecisionRow, EventRow, ScoreRow, TruthRow
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunFolder, RunInfo

__all__ = [
    "ListedFolder",
    "ListingKind",
    "QuickSummary",
    "RunListing",
    "Stamp",
    "quick_summary",
    "read_listing",
    "stamp",
    "walk",
]


ListingKind = Literal["run", "study"]
_FILES: dict[str, ListingKind] = {"run.json": "run", "study.json": "study"}
_LARGEST = 4_000_000
"""Bytes of a run.json or study.json; anything larger is none."""


@dataclass(frozen=True)
class ListedFolder:
    """Where a run or a study lies; nothing of it was read yet."""

    key: str
    """Names it in addresses; made from its place, so it is the same in every session."""
    kind: ListingKind
    path: Path
    place: str
    """Relative to the viewer's folder."""
    changed_ns: int
    """When its file was written, Unix nanoseconds."""
    size: int
    """Bytes of its file."""


@dataclass(frozen=True)
class RunListing:
    """One run or study in the list."""

    folder: ListedFolder
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
        return f"{self.folder.place} {self.editor} {self.gate} {self.scenario} {self.question} {simulated}".lower()


def walk(root: Path) -> Iterator[ListedFolder]:
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
                yield _listed(root, kind, folder, items[file].stat(follow_symlinks=False))
        if "ledger.sqlite" not in items:  # a file called run.json may be anybody's
            inner = [item for name, item in items.items() if not name.startswith(".")]
            pending += [item.path for item in inner if item.is_dir(follow_symlinks=False)]


def read_listing(listed: ListedFolder) -> RunListing:
    """Read the small file of a run or a study; what cannot be read says why."""
    try:
        if listed.size > _LARGEST:
            return RunListing(listed, problem=f"{listed.kind}.json is too large for one of turngate's")
        raw = from_json((listed.path / f"{listed.kind}.json").read_bytes())
    except OSError as error:
        return RunListing(listed, problem=f"{listed.kind}.json cannot be read: {error.strerror}")
    except ValueError:
        return RunListing(listed, problem=f"{listed.kind}.json is damaged: it is no JSON")
    try:
        return _run(listed, raw) if listed.kind == "run" else _study(listed, raw)
    except (KeyError, TypeError, ValueError, AttributeError):
        return RunListing(listed, problem=f"{listed.kind}.json is not turngate's, or damaged")


def _listed(root: Path, kind: ListingKind, folder: str, state: os.stat_result) -> ListedFolder:
    place = os.path.relpath(folder, root)
    key = hashlib.sha256(f"{kind} ".encode() + os.fsencode(place)).hexdigest()[:16]
    shown = root.name if place == "." else place
    readable = shown.encode("utf-8", "replace").decode()
    return ListedFolder(key, kind, Path(folder), readable, state.st_mtime_ns, state.st_size)


def _editor_of(info: RunInfo) -> str:
    """The editor's model; of a recorded chain what made it, for each chain has a hash of its own as its model."""
    editor = info.recorded.editor
    if editor.type != "replay":
        return info.resolved.editor.model or editor.type
    fields = (editor.as_mapping().get("recorded_as") or {}).get("fields") or {}
    return str(fields.get("editor") or fields.get("model") or editor.type)


def _run(listed: ListedFolder, raw: dict[str, Any]) -> RunListing:
    info = RunInfo.model_validate(raw)
    config = info.recorded
    return RunListing(
        listed,
        created=info.created,
        editor=visible(_editor_of(info)),
        gate=visible(config.gate.type),
        scenario=visible(config.scenario.type),
        planned=config.turns,
        simulated=info.resolved.simulated,
    )


def _study(listed: ListedFolder, raw: dict[str, Any]) -> RunListing:
    written = datetime.fromtimestamp(listed.changed_ns / 1e9, UTC).isoformat(timespec="seconds")
    question = redact(str(raw["study"].get("question") or ""))
    return RunListing(listed, created=written, question=question, planned=len(raw["runs"]))


# A run as far as its summary needs it, from a few columns of its ledger: many times faster than the whole of it.

_ATTEMPTS = ("turn", "attempt", "outcome", "input_image", "input_turn", "cost_usd", "flags")
_SCORES = ("turn", "attempt", "evaluator", "usage", "flags")
_TRUTHS = ("turn", "attempt", "measure", "value", "damaged_at", "damaged")
_DECISIONS = (
    "turn", "attempt", "verdict", "rule", "action", "taken_attempt", "closes_turn", "image_after", "image_turn_after",
    "status_after",
)  # fmt: skip
_EVENTS = ("kind", "data")

# Copies of a row without values: five times faster than filling in the defaults of every row.
_ATTEMPT, _SCORE, _TRUTH = AttemptRow.model_construct(), ScoreRow.model_construct(), TruthRow.model_construct()
_DECISION, _EVENT = DecisionRow.model_construct(), EventRow.model_construct()
_INFO = RunInfo(run="", created="", config={}, origin=RecordedOrigin(image=""), resolved=Resolved(), made_with={})

_Key = tuple[int, int]


def quick_view(folder: Path, planned: int = 0) -> RunView:
    """What `summarise` counts of the run in `folder`: no run.json, values of evaluators, texts or images.

    `planned` is the number of planned turns; without it the closed turns are all there are.

    Raises `sqlite3.Error`, `DamagedRun`, `ValueError`, `KeyError` or `TypeError` when the ledger cannot be read.
    """
    link = connect(folder / "ledger.sqlite", read_only=True, durable=False)
    try:
        attempts = [_attempt(row) for row in _rows(link, "attempts", _ATTEMPTS)]
        decisions = {_key(row): _DECISION.model_copy(update=row) for row in _rows(link, "decisions", _DECISIONS)}
        composites = {(row.turn, row.attempt): row for row in LedgerReader(link, folder).composites()}
        leading = f"name IS NULL OR name = '{LEADING_TRUTH}'" if "name" in columns(link, "truth") else "1"
        truths = {_key(row): _truth(row) for row in _rows(link, "truth", _TRUTHS, leading)}
        judged = _judged(link)
        events = [
            _EVENT.model_copy(update={**row, "data": json.loads(row["data"])})
            for row in _rows(link, "events", _EVENTS, "kind IN ('started', 'ended', 'telemetry')", "seq")
        ]
    finally:
        link.close()
    records = [
        AttemptRecord(row, tuple(judged.get(key, ())), truths.get(key), decisions[key], composites.get(key))
        for row in attempts
        if (key := (row.turn, row.attempt)) in decisions
    ]
    status = run_status(folder, list(decisions.values()), events)
    # The first attempt edits the origin, whatever it is called in run.json.
    origin = RecordedOrigin(image=attempts[0].input_image if attempts else "")
    info = _INFO.model_copy(update={"config": {"turns": planned}, "origin": origin})
    return RunView(RunFolder(folder), info, status, {}, truths.get((0, 0)), attempt_views(records), events)


def _rows(
    link: sqlite3.Connection, table: str, wanted: tuple[str, ...], where: str = "1", order: str = "turn, attempt"
) -> list[dict[str, Any]]:
    """The wanted columns of a table; without rows where an older turngate wrote no `usage`."""
    if "usage" in wanted and "usage" not in columns(link, table):
        return []
    found = link.execute(f"SELECT {', '.join(wanted)} FROM {table} WHERE {where} ORDER BY {order}")  # noqa: S608 - our own constants
    return [dict(zip(wanted, row, strict=True)) for row in found]


def _key(row: dict[str, Any]) -> _Key:
    return row["turn"], row["attempt"]


def _attempt(row: dict[str, Any]) -> AttemptRow:
    flags = row["flags"]
    return _ATTEMPT.model_copy(update={**row, "flags": [] if flags in ("[]", None) else json.loads(flags)})


def _truth(row: dict[str, Any]) -> TruthRow:
    damaged = row["damaged"]
    return _TRUTH.model_copy(update={**row, "damaged": None if damaged is None else bool(damaged)})


def _judged(link: sqlite3.Connection) -> dict[_Key, list[ScoreRow]]:
    """Scores that cost something, by attempt."""
    found: dict[_Key, list[ScoreRow]] = {}
    for row in _rows(link, "scores", _SCORES, "usage != '{}'"):
        read = {name: json.loads(row[name] or "[]") for name in ("usage", "flags")}
        score = _SCORE.model_copy(update={**row, **read})
        found.setdefault(_key(row), []).append(score)
    return found


Stamp = tuple[int, ...]
"""Changes whenever something is recorded: times and sizes of ledger, later scores and their write-ahead logs."""


@dataclass(frozen=True)
class QuickSummary:
    """A run in a list."""

    status: str
    """As in a summary, or `unreadable`; then nothing else is known."""
    turns: int | None = None
    """Closed turns."""
    verdict: VerdictKind | None = None
    """What the gate did."""
    progress: float | None = None
    """New and sound images per 100 planned turns; None when no truth was measured."""
    exposure: float | None = None
    """Share of planned turns after which a damaged image stands, 0..1; None when no truth was measured."""
    last_new: int | None = None
    """Last turn that took a new image; 0 when none did."""
    stalled: bool = False
    """Nothing new came at the end."""
    cost_usd: float | None = None
    """Of editor and all_series; None when no call reported one."""
    last: tuple[int, int] = (0, 0)
    """Turn and attempt of the last attempt; 0, 0 without one."""
    fake_server: bool = False
    """The shipped fake server answered for the editor or for a judge."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Evaluator -> its value of the last candidate that was taken as it came; without those that gave none."""


def stamp(folder: Path) -> Stamp:
    """What to compare to see whether the run went on."""
    found: list[int] = []
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "scores.sqlite", "scores.sqlite-wal"):
        try:
            state = (folder / name).stat()
        except OSError:
            found += [0, 0]
        else:
            found += [state.st_mtime_ns, state.st_size]
    return tuple(found)


def quick_summary(folder: Path, planned: int = 0) -> QuickSummary:
    """Look at the run in `folder`, of `planned` turns; one that cannot be read has the status `unreadable`."""
    if (folder / "ledger.sqlite").is_symlink():  # it may lead anywhere
        return QuickSummary("unreadable")
    try:
        view = quick_view(folder, planned)
        numbers, scores = summarise(view), _last_scores(folder, view)
    except (sqlite3.Error, TurngateError, OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return QuickSummary("unreadable")
    last = view.attempts[-1].row if view.attempts else None
    return QuickSummary(
        numbers.status,
        numbers.turns,
        numbers.verdict.kind,
        numbers.answer.progress,
        numbers.answer.exposure,
        numbers.answer.last_new_turn,
        numbers.answer.stalled_since is not None,
        numbers.cost_usd,
        (last.turn, last.attempt) if last else (0, 0),
        numbers.fake_server,
        scores,
    )


def _last_scores(folder: Path, view: RunView) -> dict[str, float]:
    """Evaluator -> value of the candidate that stands; nothing where a composite stands, which nobody scored."""
    taken = view.taken[max(view.taken)] if view.taken else None
    if taken is None or taken.composite is not None:
        return {}
    link = connect(folder / "ledger.sqlite", read_only=True, durable=False)
    try:
        found = link.execute(
            "SELECT evaluator, value FROM scores WHERE turn=? AND attempt=? AND status='scored' AND value IS NOT NULL",
            (taken.row.turn, taken.row.attempt),
        ).fetchall()
    finally:
        link.close()
    return {visible(str(name)): float(value) for name, value in found}
