"""Tables and sentences of an answer, as wide as the terminal; elsewhere as wide as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from turngate.cli._text import plain

__all__ = ["print_rows", "print_words"]

_GAP = 2


def print_rows(rows: Sequence[dict[str, str]]) -> None:
    """A table, the first column on the left; what does not fit the terminal follows in a table beneath."""
    if not rows:
        return
    cells = [{plain(name): plain(cell) for name, cell in row.items()} for row in rows]
    sizes = {name: max(cell_len(text) for text in (name, *(row[name] for row in cells))) for name in cells[0]}
    console = Console(highlight=False)
    room = console.width - 1 if console.is_terminal else sum(sizes.values()) + _GAP * len(sizes)
    wide = Console(highlight=False, width=max(room, *sizes.values()) + 1)
    for number, names in enumerate(_parts(sizes, room)):
        if number:
            wide.print()
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
        for name in names:
            right = name != names[0]
            table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
        for row in cells:
            table.add_row(*(Text(row[name]) for name in names))
        wide.print(table)


def print_words(text: str, *, error: bool = False) -> None:
    """Sentences, broken between words on a terminal and not at all elsewhere."""
    console = Console(stderr=error, highlight=False)
    console.print(Text(plain(text, 2000)), soft_wrap=not console.is_terminal)


def _parts(sizes: dict[str, int], room: int) -> Iterator[list[str]]:
    """Columns of each table: the first one stands in all."""
    first, *others = sizes
    part, used = [first], sizes[first] + _GAP
    for name in others:
        if len(part) > 1 and used + sizes[name] > room:
            yield part
            part, used = [first], sizes[first] + _GAP
        part.append(name)
        used += sizes[name] + _GAP
    yield part
