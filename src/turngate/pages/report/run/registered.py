"""Where each candidate lies on the origin, as far as a measure of the run registered it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

from turngate.traces.analysis.run import RunView

__all__ = ["Frame", "Registered", "registered"]

Numbers = Mapping[str, float]
_Place = tuple[int, int]


@dataclass(frozen=True)
class Frame:
    """What is at `u` of the origin is at `scale * u + offset` of the candidate, in shares of each side."""

    scale: tuple[float, float]
    offset: tuple[float, float]


@dataclass(frozen=True)
class Registered:
    """The registrations of one measure."""

    by: str
    """Which measure, in words."""
    frames: Mapping[_Place, Frame]
    """Turn and attempt -> where the candidate lies; those that were not registered are not in it."""


def registered(run: RunView, rescored: RunView) -> Registered | None:
    """The best registration to the origin that was recorded: with a scale before a shift alone, the truth's first.

    `rescored` is the run with the scores that were made after it. None when nothing registered anything; mirrored and
    turned candidates are not laid on the origin.
    """
    found = [*_of_truth(run), *_of_evaluators(run), *_of_evaluators(rescored)]
    for align in (("crop", "full"), ("shift",)):
        for how, one in found:
            if how in align and one.frames:
                return one
    return None


def _of_truth(run: RunView) -> Iterator[tuple[str, Registered]]:
    truth = run.config.truth
    measure = truth.measure if truth is not None else "simulator"
    if measure != "simulator" and run.info.resolved.scenario.ideal == "origin":
        numbers = {
            (attempt.row.turn, attempt.row.attempt): attempt.truth.components
            for attempt in run.attempts
            if attempt.truth and _is_upright(attempt.truth.components)
        }
        how = str(measure.settings.get("align"))
        yield how, Registered(f"the truth, {measure.type} with align {how}", _frames(run, numbers))


def _of_evaluators(run: RunView) -> Iterator[tuple[str, Registered]]:
    for name, config in run.config.evaluators.items():
        if config.settings.get("against") != "origin":
            continue
        numbers = {
            (attempt.row.turn, attempt.row.attempt): score.components
            for attempt in run.attempts
            if (score := attempt.scores.get(name)) and _is_upright(score.components)
        }
        how = str(config.settings.get("align"))
        yield how, Registered(f"{name} with align {how}", _frames(run, numbers))


def _is_upright(components: Numbers) -> bool:
    return "shift_x" in components and not components.get("mirrored") and not components.get("rotation")


def _frames(run: RunView, numbers: Mapping[_Place, Numbers]) -> dict[_Place, Frame]:
    found = {place: _frame(run, one) for place, one in numbers.items()}
    return {place: frame for place, frame in found.items() if frame is not None}


def _frame(run: RunView, numbers: Numbers) -> Frame | None:
    """From `crop_x`, `crop_y` (%) and `shift_x`, `shift_y` (pixels of the origin); None where they make no sense."""
    scales, offsets = [], []
    for axis, side in (("x", run.info.origin.width), ("y", run.info.origin.height)):
        crop = numbers.get(f"crop_{axis}", 0.0)
        if not crop < 100 or not isfinite(crop + numbers.get(f"shift_{axis}", 0.0)):  # an evaluator from elsewhere
            return None
        scale = 1 / (1 - crop / 100)
        moved = numbers.get(f"shift_{axis}", 0.0) / side
        scales.append(scale)
        offsets.append(0.5 - scale * (moved + 0.5))
    return Frame((scales[0], scales[1]), (offsets[0], offsets[1]))
