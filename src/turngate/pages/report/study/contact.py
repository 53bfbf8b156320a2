"""Contact sheets: the current image of every arm after some turns, one sheet per cell of the grid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from turngate.pages.report.charts import Arm, Truth, truth_of
from turngate.pages.report.thumbnails import Shot
from turngate.traces.analysis.run import Standing
from turngate.traces.analysis.study import LoadedRun

__all__ = ["Cell", "Sheet", "ShotsOf", "contact_sheets"]

ShotsOf = Callable[[LoadedRun, Iterable[str], int], Mapping[str, Shot]]
"""Makes the pictures (SHA-256 -> shot) of images of a run, at most so many pixels a side."""

_TURNS = (0, 1, 5, 10, 20, 50, 100)
_PICTURES = 700
"""So many pictures a page has at most: about 4 MB."""


@dataclass(frozen=True)
class Cell:
    """The current image of an arm after one turn."""

    shot: Shot | None
    """None when the arm never closed that turn."""
    image_turn: int
    truth: Truth
    value: float | None


@dataclass(frozen=True)
class Sheet:
    """One cell of the grid: arms by turns."""

    label: str
    rows: list[tuple[Arm, LoadedRun, list[Cell]]]


def contact_sheets(arms: Sequence[Arm], pictures: ShotsOf) -> tuple[list[int], list[Sheet], int]:
    """Turns, sheets, and how many sheets were left out because the page would be too large."""
    last = max(run.stands[-1].turn for arm in arms for run in arm.runs)
    turns = sorted({turn for turn in _TURNS if turn <= last} | {last})
    cells: dict[tuple[str, str, str, int], list[tuple[Arm, LoadedRun]]] = defaultdict(list)
    for arm in arms:
        for run in arm.runs:
            cells[run.run.cell].append((arm, run))
    room = max(1, _PICTURES // (len(arms) * len(turns)))
    kept = list(cells.values())[:room]
    edge = 176 if sum(map(len, kept)) * len(turns) <= 120 else 144
    sheets = [
        Sheet(members[0][1].run.label, [(arm, run, _row(run, turns, pictures, edge)) for arm, run in members])
        for members in kept
    ]
    return turns, sheets, len(cells) - len(kept)


def _row(run: LoadedRun, turns: Sequence[int], pictures: ShotsOf, edge: int) -> list[Cell]:
    stands = {stand.turn: stand for stand in run.stands}
    made = pictures(run, [stands[turn].image for turn in turns if turn in stands], edge)
    return [_cell(stands.get(turn), made) for turn in turns]


def _cell(stand: Standing | None, made: Mapping[str, Shot]) -> Cell:
    if stand is None:
        return Cell(None, 0, "none", None)
    value = stand.truth.value if stand.truth is not None else None
    return Cell(made[stand.image], stand.image_turn, truth_of(stand.truth), value)
