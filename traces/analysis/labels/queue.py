"""Which images of some runs people should label, the most useful ones first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turngate.traces.analysis.run import RunView, standings
from turngate.traces.records import TruthRow

__all__ = ["QueuedImage", "label_queue"]


@dataclass(frozen=True)
class QueuedImage:
    """One image, whatever the number of its places."""

    image: str
    """SHA-256."""
    run: RunView
    """The first run that holds it."""
    turn: int
    """Turn of its first place there."""
    attempt: int
    edited_from: str
    """SHA-256 of the image that was edited there."""
    instruction: str
    places: int
    """Candidates that have these bytes, in all runs."""
    stands: int
    """Planned turns after which it stands, over all runs."""
    usefulness: float
    """`log2(1 + places + stands) * nearness`. Nearness is `1 / (1 + (d / q)^2)`: `d` is how far its truth is from
    `damaged_at`, `q` the lower quartile of these distances; 1 where no truth was measured."""


def label_queue(runs: Sequence[RunView]) -> list[QueuedImage]:
    """Candidates of the runs, each image once: what truth is least sure of comes first, and what stands often.

    Images with the pixels of the origin are left out, for there is nothing to judge. Even ones are in the order of
    their SHA-256, which says nothing of arms and turns.
    """
    places: dict[str, list[tuple[RunView, int, int]]] = {}
    distances: dict[str, float | None] = {}
    for run in runs:
        for attempt in run.attempts:
            row = attempt.row
            untouched = attempt.truth is not None and attempt.truth.untouched
            if row.image is None or row.image == run.info.origin.image or untouched:
                continue
            places.setdefault(row.image, []).append((run, row.turn, row.attempt))
            distances.setdefault(row.image, _distance(attempt.truth))
    known = [distance for distance in distances.values() if distance is not None]
    scale = float(np.percentile(known, 25)) if known else 0.0
    stands = dict.fromkeys(places, 0)
    for run in runs:
        for standing in standings(run)[1:]:
            if standing.image in stands:
                stands[standing.image] += 1
    queue = [_queued(image, found, stands[image], distances[image], scale) for image, found in places.items()]
    return sorted(queue, key=lambda one: (-one.usefulness, one.image))


def _queued(
    image: str, places: list[tuple[RunView, int, int]], stands: int, distance: float | None, scale: float
) -> QueuedImage:
    run, turn, number = places[0]
    row = next(one.row for one in run.attempts if (one.row.turn, one.row.attempt) == (turn, number))
    nearness = 1 / (1 + (distance / scale) ** 2) if distance is not None and scale else 1.0
    usefulness = math.log2(1 + len(places) + stands) * nearness
    return QueuedImage(image, run, turn, number, row.input_image, row.instruction, len(places), stands, usefulness)


def _distance(truth: TruthRow | None) -> float | None:
    return None if truth is None or truth.value is None else abs(truth.value - truth.damaged_at)
