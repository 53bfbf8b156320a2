"""Tables and sentences of an answer, as wide as the terminal; elsewhere as wide as they are. Time left in words."""

from __future__ import annotations

import json
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from turngate.errors import one_line

__all__ = ["TimeLeft", "Visible", "duration", "plain", "print_rows", "print_titled", "print_words"]


# Text from models, files and prompts, made harmless for a terminal.


def plain(text: str, limit: int = 300) -> str:
    """One line without control, format or bidirectional characters, cut to `limit` characters."""
    line = "".join(character if _harmless(character) else " " for character in text)
    line = one_line(line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


class Visible:
    """A text file for data whose texts come from models and files: a terminal shows what it must not obey.

    Characters that steer a terminal, or turn text around, are written as JSON escapes (`\\u001b`); line ends stay.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write `text`, made harmless; returns its own length."""
        lines = text.replace("\r\n", "\n").split("\n")
        self._terminal.write("\n".join("".join(map(_visible, line)) for line in lines))
        return len(text)


def _visible(character: str) -> str:
    return character if _harmless(character) else json.dumps(character)[1:-1]


_GAP = 2

_NARROWEST = 8
"""Cells that a column keeps on the narrowest terminal."""


def print_rows(rows: Sequence[dict[str, str]], left: Collection[str] = ()) -> None:
    """A table; the first column and those called in `left` are on the left.

    On a terminal the first column is folded between words where that makes the others fit; else columns that do not fit
    follow in a table beneath. A cell that is too wide is folded between words; only a word that is wider than the
    terminal is broken. Elsewhere nothing is folded: each row is one line.
    """
    if not rows:
        return
    cells = [{plain(name): plain(cell) for name, cell in row.items()} for row in rows]
    sizes = {name: max(cell_len(text) for text in (name, *(row[name] for row in cells))) for name in cells[0]}
    console = Console(highlight=False)
    first = next(iter(sizes))
    room = sum(sizes.values()) + _GAP * len(sizes)
    if console.is_terminal:
        room = min(room, console.width - 1)
        spare = room - sum(size + _GAP for name, size in sizes.items() if name != first) - _GAP
        words = {name: max(_longest_word(text) for text in (name, *(row[name] for row in cells))) for name in sizes}
        beside = max((words[name] for name in sizes if name != first), default=0)
        whole = min(words[first], max(room - beside - 2 * _GAP, room // 2))  # a name is not broken: columns go beneath
        narrow = spare if spare >= max(2 * _NARROWEST, whole) else max(_NARROWEST, whole, room // 2)
        sizes[first] = min(sizes[first], narrow)
        most = max(_NARROWEST, room - sizes[first] - 2 * _GAP)
        sizes |= {name: min(size, most) for name, size in sizes.items() if name != first}
    wide = Console(highlight=False, width=room + 1)
    for number, names in enumerate(_parts(sizes, room)):
        if number:
            wide.print()
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
        for name in names:
            side: JustifyMethod = "left" if name in (first, *left) else "right"
            table.add_column(Text(name), justify=side, width=sizes[name], overflow="fold")
        for row in cells:
            table.add_row(*(Text(row[name]) for name in names))
        wide.print(table)


_TITLE = 12
"""Cells of a title before its sentence."""


def print_titled(lines: Sequence[tuple[str, str]]) -> None:
    """Short titles with a sentence each; on a terminal broken between words, each line beneath the first word."""
    console = Console(highlight=False)
    for title, text in lines:
        sentence = Text(plain(text, 2000))
        room = max(_NARROWEST, console.width - 1 - _TITLE)
        for number, line in enumerate(sentence.wrap(console, room) if console.is_terminal else [sentence]):
            line.rstrip()
            console.print(Text("" if number else title).append(" " * _TITLE)[:_TITLE] + line, soft_wrap=True)


def print_words(text: str, *, error: bool = False) -> None:
    """Sentences, broken between words on a terminal and not at all elsewhere."""
    console = Console(stderr=error, highlight=False)
    console.print(Text(plain(text, 2000)), soft_wrap=not console.is_terminal)


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _parts(sizes: dict[str, int], room: int) -> Iterator[list[str]]:
    """Columns of each table: the first one is in all."""
    first, *others = sizes
    part, used = [first], sizes[first] + _GAP
    for name in others:
        if len(part) > 1 and used + sizes[name] > room:
            yield part
            part, used = [first], sizes[first] + _GAP
        part.append(name)
        used += sizes[name] + _GAP
    yield part


# How long the rest takes, judged by how long the last steps took.

_STEPS = 20
"""A loop gets slower as attempts are rejected, and its first step loads models: only the last steps count."""


class TimeLeft:
    """Tell it of steps as they are done."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._done = 0
        self._clock = clock
        self._began = clock()
        self._marks = deque([(0, self._began)], maxlen=_STEPS + 1)

    def begin_at(self, done: int) -> None:
        """Set the number of steps that were done before the beginning."""
        self._done = done
        self._marks[0] = (done, self._began)

    def reached(self, done: int) -> None:
        """Set the number of steps that are done."""
        if done > self._done:
            self._done = done
            self._marks.append((done, self._clock()))

    @property
    def seconds(self) -> float | None:
        """Seconds that are left, never negative; None before the first step is done."""
        (first, began), (last, ended) = self._marks[0], self._marks[-1]
        if last == first:
            return None
        owed = (ended - began) / (last - first) * (self._total - last)
        return max(0.0, owed - (self._clock() - ended))

    @property
    def text(self) -> str:
        """`, about 3 min left`, or nothing while nobody can tell."""
        left = self.seconds
        return "" if left is None or self._done >= self._total else f", about {duration(left)} left"


def duration(seconds: float) -> str:
    """Rounded, for people."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
