"""The images of a run, each beside the references that it had when it was made: a fold of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from turngate.evaluators import Need
from turngate.evaluators.bulk.item import Item
from turngate.evaluators.image_source import ImageSource
from turngate.graphs.history import Position, advance
from turngate.rescoring.targets import Place, Target
from turngate.traces.images import ImageStore
from turngate.traces.records import AttemptRecord
from turngate.traces.rescored.records import Role
from turngate.traces.rescored.table import FILE_NAME
from turngate.traces.run_folder import RunFolder

__all__ = ["run_target"]

_Source = Callable[[str], ImageSource]


def run_target(path: Path, turns: frozenset[int] | None = None, with_history: bool = True) -> Target:
    """Origin, candidates and composites of the run at `path`, or those of some turns (0 for the origin).

    Without history a run of n turns takes n steps, with it n^2. Raises `NoSuchRun` or `DamagedRun`.
    """
    folder = RunFolder.existing(path)
    info, ledger = folder.info(), folder.ledger()
    try:
        records = ledger.records()
    finally:
        ledger.close()
    found = list(_images(_sources(folder.images), str(info.origin["image"]), records, with_history))
    return Target(
        info.run,
        folder.path / FILE_NAME,
        tuple(item for item, place in found if turns is None or place.turn in turns),
        len(found),
        frozenset(get_args(Need)),
        {item.id: place for item, place in found},
        {} if turns is None else {"turns": sorted(turns)},
    )


def _images(
    source: _Source, origin: str, records: list[AttemptRecord], with_history: bool
) -> Iterator[tuple[Item, Place]]:
    start = source(origin)
    yield Item("0/0/origin", start, start, start, start, instruction=""), Place(0, 0, "origin")
    position = Position.start(origin)
    for record in records:
        for role, image in _made(record):
            attempt = record.attempt
            item = Item(
                f"{attempt.turn}/{attempt.attempt}/{role}",
                source(image),
                origin=start,
                first=source(position.lineage[0][1] if position.lineage else image),
                previous=source(position.image),
                history=tuple(source(one) for _, one in position.lineage) if with_history else (),
                instruction=attempt.instruction,
            )
            yield item, Place(attempt.turn, attempt.attempt, role)
        position = advance(position, record.decision)


def _made(record: AttemptRecord) -> Iterator[tuple[Role, str]]:
    if record.attempt.image is not None:
        yield "candidate", record.attempt.image
    composite = record.decision.composite
    if composite and composite["image"] is not None:
        yield "composite", composite["image"]


def _sources(store: ImageStore) -> _Source:
    @cache
    def source(sha256: str) -> ImageSource:
        # A missing file costs the scores of that image, not those of all.
        return ImageSource(store.find(sha256) or store.root / sha256[:2] / sha256, sha256)

    return source
