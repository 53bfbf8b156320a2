"""One arm of a study as its page shows it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from turngate.traces.analysis.run_view import RunView
from turngate.traces.analysis.summary import RunSummary, summarise
from turngate.traces.report._lineage import Standing, standings
from turngate.traces.report._marks import Truth, truth_of
from turngate.traces.report._settings import gate_line
from turngate.traces.report._thumbnails import Shot, shots
from turngate.traces.report.headline import headline

__all__ = ["Arm", "Cell", "Look", "contact_row", "contact_turns", "load_arm"]

_TURNS = (0, 1, 5, 10, 20, 50, 100)
# Plotly's dash, the same for SVG, and its symbol with the name of the glyph that looks like it. Four, eight and five
# repeat at different steps, so that the first forty arms differ even where their colours do.
_DASHES = (("solid", ""), ("dash", "7 4"), ("dot", "2 3"), ("dashdot", "7 3 2 3"))
_SYMBOLS = (
    ("circle", "sound"),
    ("square", "unknown"),
    ("triangle-up", "damaged"),
    ("diamond", "unscored"),
    ("x", "failed"),
)
_COLOURS = 8
_EDGE = 176


@dataclass(frozen=True)
class Look:
    """How an arm is drawn: colour, dashes and symbol say the same."""

    colour: str
    dash: str
    strokes: str
    """The dashes as SVG writes them."""
    symbol: str
    glyph: str

    @classmethod
    def of(cls, place: int) -> Look:
        """The look of the arm in this place, counted from 0."""
        dash, strokes = _DASHES[place % len(_DASHES)]
        symbol, glyph = _SYMBOLS[place % len(_SYMBOLS)]
        return cls(f"var(--arm-{place % _COLOURS + 1})", dash, strokes, symbol, glyph)


@dataclass(frozen=True)
class Arm:
    """One run in a study."""

    name: str
    run: RunView
    summary: RunSummary
    answer: str
    gate: str
    stands: list[Standing]
    look: Look
    report: str
    """Address of its report, relative to the study's page."""


@dataclass(frozen=True)
class Cell:
    """The current image of an arm after one turn, in the contact sheet."""

    shot: Shot | None
    """None when the arm never closed that turn."""
    image_turn: int
    truth: Truth
    value: float | None


def load_arm(name: str, path: Path, place: int, page: Path) -> Arm:
    """Read one arm; `page` is the folder of the study's page."""
    run = RunView.load(path)
    summary = summarise(run)
    address = quote(Path(os.path.relpath(run.folder.report_file, page)).as_posix())
    return Arm(name, run, summary, headline(summary), gate_line(run), standings(run), Look.of(place), address)


def contact_turns(arms: Sequence[Arm]) -> list[int]:
    """Turns in the contact sheet: 0, 1, 5, 10, 20, 50, 100 as far as any arm got, and the last turn of all."""
    last = max(arm.stands[-1].turn for arm in arms)
    return sorted({turn for turn in _TURNS if turn <= last} | {last})


def contact_row(arm: Arm, turns: Sequence[int], page: Path) -> list[Cell]:
    """The arm's image after each of `turns`."""
    stands = {stand.turn: stand for stand in arm.stands}
    shown = [stands[turn].image for turn in turns if turn in stands]
    pictures = shots(arm.run.folder.images, shown, page, _EDGE)
    return [_cell(stands.get(turn), pictures) for turn in turns]


def _cell(stand: Standing | None, pictures: Mapping[str, Shot]) -> Cell:
    if stand is None:
        return Cell(None, 0, "none", None)
    value = stand.truth.value if stand.truth is not None else None
    return Cell(pictures[stand.image], stand.image_turn, truth_of(stand.truth), value)
