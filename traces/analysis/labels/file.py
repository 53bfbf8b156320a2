"""Reads and appends to label files: CSV, one row per label, safe for several processes at once."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from turngate.errors import MachineError, UserError
from turngate.registry import nearest
from turngate.traces.analysis.labels.labels import LabelRow, Labels
from turngate.traces.analysis.taxonomy import FAILURES
from turngate.whole_file import write_whole

__all__ = ["COLUMNS", "append_label", "append_labels", "read_labels"]

COLUMNS = tuple(LabelRow.model_fields)
"""Columns of a new file; one's own may have them in another order, and all but run and turn may be missing."""

_VERDICTS = {"yes": True, "no": False, "": None}


def read_labels(path: Path, by: str | None = None) -> Labels:
    """Read a label file, or only what one person wrote; raises `UserError` that names line and column."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            text = file.read().decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"no labels at {path}: check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a UTF-8 text file'}") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    try:
        columns = _columns(next(reader, []), path)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                row = _row(cells, columns, f"{path}, line {reader.line_num}")
                if by is None or row.by == by:
                    rows.append((reader.line_num, row))
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: not valid CSV: {error}") from None
    return Labels(path, tuple(rows))


def append_label(path: Path, row: LabelRow) -> None:
    """Append one row, whole or not at all, with a header when the file is new.

    Several processes may append to one file. Raises `UserError` when the file is no label file, `MachineError` when it
    cannot be written.
    """
    append_labels(path, [row])


def append_labels(path: Path, rows: Sequence[LabelRow]) -> None:
    """Append many rows at once, all or none; otherwise as `append_label`."""
    if not rows:
        return
    try:
        with _locked(path) as descriptor:
            size = os.fstat(descriptor).st_size
            before = os.pread(descriptor, size, 0).decode("utf-8-sig")
            columns = _columns(next(csv.reader(io.StringIO(before, newline="")), []), path) if before else list(COLUMNS)
            is_older = "image" not in columns and any(row.image for row in rows)
            for row in rows:
                _check_room([*columns, "image"] if is_older else columns, row, path)
            if is_older:
                columns.append("image")
                _rewrite(path.resolve(), before, rows, columns)
                return
            text = "\n" if before and not before.endswith("\n") else ""
            lines = [] if before else [columns]
            text += _as_csv([*lines, *([_cells(row)[name] for name in columns] for row in rows)])
            _write(descriptor, text.encode(), size)
    except OSError as error:
        raise MachineError(f"cannot write to {path}: {error.strerror}: choose a place you can write to") from error
    except UnicodeDecodeError:
        raise UserError(f"{path} is not a UTF-8 text file: choose another file") from None


def _rewrite(path: Path, before: str, rows: Sequence[LabelRow], columns: list[str]) -> None:
    """A file of an older turngate, with the column `image` and the new rows, put in the place of the file."""
    header, *old = [cells for cells in csv.reader(io.StringIO(before, newline="")) if cells]
    lines = [[*header, "image"], *([*cells, ""] for cells in old)]
    write_whole(path, _as_csv([*lines, *([_cells(row)[name] for name in columns] for row in rows)]), sync=True)


def _columns(header: list[str], path: Path) -> list[str]:
    columns = [name.strip().lower() for name in header]
    for name in columns:
        if name not in COLUMNS:
            raise UserError(f"{path}: no column is called {name!r}{nearest(name, list(COLUMNS))}")
    for name in ("run", "turn"):
        if name not in columns:
            raise UserError(f"{path}: the column {name} is missing; the first line names the columns, with commas")
    if len(set(columns)) < len(columns):
        raise UserError(f"{path}: a column appears twice in the first line")
    return columns


def _row(cells: list[str], columns: list[str], where: str) -> LabelRow:
    if len(cells) != len(columns):
        raise UserError(f"{where}: {len(cells)} cells under {len(columns)} columns: quote cells that hold commas")
    given = {name: cell.strip() for name, cell in zip(columns, cells, strict=True)}
    verdict = given.get("damaged", "").lower()
    if verdict not in _VERDICTS:
        raise UserError(f"{where}, damaged: write yes, no or nothing, not {given['damaged']!r}")
    names = [name.strip() for name in given.get("labels", "").split(";") if name.strip()]
    for name in names:
        if name not in FAILURES:
            raise UserError(f"{where}, labels: no failure is called {name!r}{nearest(name, list(FAILURES))}")
    fields = {
        **given, "attempt": given.get("attempt") or None, "damaged": _VERDICTS[verdict],
        "labels": tuple(dict.fromkeys(names)),
    }  # fmt: skip
    try:
        return LabelRow.model_validate(fields)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        message = problem["msg"].removeprefix("Value error, ")
        column = ".".join(str(step) for step in problem["loc"])
        raise UserError(f"{where}, {column}: {message[:1].lower()}{message[1:]}, not {problem['input']!r}") from None


def _cells(row: LabelRow) -> dict[str, str]:
    verdict = next(word for word, damaged in _VERDICTS.items() if damaged is row.damaged)
    return {
        "run": row.run, "turn": str(row.turn), "attempt": "" if row.attempt is None else str(row.attempt),
        "damaged": verdict, "labels": ";".join(row.labels), "failure": row.failure, "by": row.by, "at": row.at,
        "image": row.image,
    }  # fmt: skip


def _check_room(columns: list[str], row: LabelRow, path: Path) -> None:
    missing = [name for name, cell in _cells(row).items() if cell and name not in columns]
    if missing:
        raise UserError(f"{path} has no column {missing[0]}: add it to the first line, or choose another file")


def _as_csv(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, open and locked; again when another process put a new file in its place meanwhile."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _write(descriptor: int, data: bytes, size: int) -> None:
    """All of `data`, or the file as it was."""
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, data[written:])
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
