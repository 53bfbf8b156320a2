"""Runs side by side: what stands after the same turns, the numbers, and the settings in which they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turngate.errors import UserError
from turngate.pages.report import Shot, as_data, edge_for
from turngate.pages.report.run import StripPicture, strip_picture
from turngate.pages.viewer.pictures import linked_shots
from turngate.traces.analysis.run import RunView, Standing, VerdictKind, standings, summarise

__all__ = ["MOST_COMPARED", "compare_values"]

MOST_COMPARED = 6
"""Runs on one page: more are too small to be looked at, a study's page is for them."""
_TURNS = (0, 1, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class ComparedRun:
    """One column of the page."""

    key: str
    place: str
    verdict: str
    kind: VerdictKind
    pictures: list[StripPicture | None]
    """What stood after each of the page's turns; None where the run did not come so far."""
    numbers: list[str]
    settings: list[str]


def compare_values(runs: Sequence[tuple[str, str, RunView]], base: str) -> dict[str, Any]:
    """What the template shows of `runs`: key in addresses, place, run.

    Raises `UserError` for fewer than 2 or more than `MOST_COMPARED`.
    """
    if not 2 <= len(runs) <= MOST_COMPARED:
        raise UserError(f"choose 2 to {MOST_COMPARED} runs to compare, not {len(runs)}")
    stands = [{one.turn: one for one in standings(view)} for _, _, view in runs]
    last = max(max(found) for found in stands)
    turns = [turn for turn in _TURNS if turn < last] + [last]
    edge = edge_for(len(turns) * len(runs))
    shots = [
        linked_shots(view.folder.images, {one.image for one in found.values()}, base, key, edge)
        for (key, _, view), found in zip(runs, stands, strict=True)
    ]
    settings = [dict(_flat(view.info.config)) for _, _, view in runs]
    fields = sorted(
        {name for one in settings for name in one if any(other.get(name) != one[name] for other in settings)}
    )
    compared = [
        _column(key, place, view, [found.get(turn) for turn in turns], pictures, [known.get(name) for name in fields])
        for (key, place, view), found, pictures, known in zip(runs, stands, shots, settings, strict=True)
    ]
    flip = [
        {"key": key, "images": [found[turn].image for turn in sorted(found)]}
        for (key, _, _), found in zip(runs, stands, strict=True)
    ]
    return {
        "runs": compared, "turns": turns, "number_names": _NUMBERS, "fields": fields, "last": last,
        "tools_json": as_data(json.dumps({"runs": flip})), "shots": [shot for one in shots for shot in one.values()],
    }  # fmt: skip


_NUMBERS = (
    "sound progress per 100 turns", "damage exposure", "last new image", "episodes: caught / stalled / propagated",
    "turns closed", "editor calls", "US $",
)  # fmt: skip


def _column(
    key: str, place: str, view: RunView, wanted: Sequence[Standing | None], shots: Mapping[str, Shot],
    settings: Sequence[Any],
) -> ComparedRun:  # fmt: skip
    summary = summarise(view)
    answer = summary.answer
    began, stalled = summary.turns > 0, answer.last_new_turn and answer.stalled_since is not None
    last_new = f"turn {answer.last_new_turn}" if answer.last_new_turn else "never"
    return ComparedRun(
        key=key,
        place=place,
        verdict=summary.verdict.words,
        kind=summary.verdict.kind,
        pictures=[
            None
            if stand is None
            else strip_picture(view, stand, f"turn {stand.turn}" if stand.turn else "origin", shots)
            for stand in wanted
        ],
        numbers=[
            "-" if answer.progress is None or not began else f"{answer.progress:.3g}",
            "-" if answer.exposure is None or not began else f"{100 * answer.exposure:.0f} %",
            f"{last_new}, nothing new after it" if stalled else last_new,
            f"{answer.episodes.caught} / {answer.episodes.stalled} / {answer.episodes.propagated}",
            f"{summary.turns} of {summary.turns_planned}",
            str(summary.attempts),
            "-" if summary.cost_usd is None else f"{summary.cost_usd:.4f}",
        ],
        settings=["-" if value is None else json.dumps(value, ensure_ascii=False) for value in settings],
    )


def _flat(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Every field by its dotted path."""
    found: list[tuple[str, Any]] = []
    for name, value in config.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", value))
    return found
