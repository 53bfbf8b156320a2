"""Tags and notes of people about runs and studies: lines of JSON, the latest one about a thing counts."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from turngate.errors import MachineError, one_line
from turngate.frozen import FrozenModel, StrictModel

__all__ = ["NO_NOTE", "Note", "NoteBook", "NoteInput"]

Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40, pattern=r"^[^,\n]+$")]


class NoteInput(StrictModel):
    """What a page sends; nothing in it takes an earlier note back."""

    tags: tuple[Tag, ...] = Field(default=(), max_length=20)
    note: str = Field(default="", max_length=4000)


class Note(FrozenModel):
    """One line of the file."""

    of: str
    """Place of the run or study, relative to the viewer's folder."""
    tags: tuple[str, ...] = ()
    note: str = ""
    by: str = ""
    at: str = ""
    """ISO 8601, UTC."""

    @property
    def text(self) -> str:
        """What a filter looks at, in small letters."""
        return " ".join([*self.tags, self.note]).lower()


NO_NOTE = Note(of="")


@dataclass
class NoteBook:
    """`notes.jsonl` in the viewer's folder."""

    path: Path
    by: str
    _read: tuple[int, int] | None = None
    """Time and size of the file when it was read."""
    _notes: dict[str, Note] | None = None

    def all(self) -> dict[str, Note]:
        """Place -> its note; lines that are none of ours are left out."""
        try:
            state = self.path.stat()
            if self._notes is None or self._read != (state.st_mtime_ns, state.st_size):
                self._read = (state.st_mtime_ns, state.st_size)
                self._notes = _latest(self.path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return {}
        return self._notes

    def put(self, place: str, given: NoteInput) -> None:
        """Keep a note; raises `MachineError` when the file cannot be written."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        tags = tuple(dict.fromkeys(one_line(tag) for tag in given.tags))
        line = Note(of=place, tags=tags, note=given.note.strip(), by=self.by, at=now).model_dump_json() + "\n"
        try:
            with self.path.open("ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                size = file.seek(0, os.SEEK_END)
                if size:
                    file.seek(-1, os.SEEK_END)
                    line = line if file.read(1) == b"\n" else f"\n{line}"  # what a full disk cut off
                file.write(line.encode())
        except OSError as error:
            raise MachineError(
                f"cannot write to {self.path}: {error.strerror}: choose a place you can write to"
            ) from error


def _latest(text: str) -> dict[str, Note]:
    found: dict[str, Note] = {}
    for line in text.splitlines():
        try:
            note = Note.model_validate(json.loads(line))
        except (ValueError, ValidationError):
            continue
        found.pop(note.of, None)
        if note.tags or note.note:
            found[note.of] = note
    return found
