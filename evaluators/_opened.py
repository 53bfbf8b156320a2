"""One item while it is worked on: hashed at once, decoded when the first evaluator wants to see it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from turngate.errors import TurngateError
from turngate.evaluators.bulk.item import Item
from turngate.evaluators.evaluator import Facts, Need, Sample
from turngate.evaluators.image_source import Shelf
from turngate.evaluators.score_key import Inputs
from turngate.picture import Picture

__all__ = ["Opened"]


@dataclass
class Opened:
    """An item, the hashes of what it shows, and its picture."""

    item: Item
    inputs: Inputs
    shelf: Shelf
    data: bytes | None = None
    problem: TurngateError | None = None
    """Why it cannot be shown to anyone."""

    @classmethod
    def of(cls, item: Item, needs: frozenset[Need], shelf: Shelf) -> Opened:
        """Hash what is not known by its hash; of the references those that are in `needs`."""
        try:
            if item.candidate.sha256 is not None:
                return cls(item, _inputs(item, item.candidate.sha256, needs, shelf), shelf)
            data = item.candidate.read()
            return cls(item, _inputs(item, hashlib.sha256(data).hexdigest(), needs, shelf), shelf, data)
        except TurngateError as error:
            return cls(item, Inputs(item.candidate.sha256 or ""), shelf, problem=error)

    @cached_property
    def picture(self) -> Picture:
        """The decoded candidate; raises `BadImage` or `DamagedRun`."""
        data = self.item.candidate.read() if self.data is None else self.data
        return Picture.from_bytes(data, str(self.item.candidate.path))

    def sample(self, facts: Facts) -> Sample:
        """What this evaluator is shown; raises `BadImage` or `DamagedRun`."""
        if self.problem is not None:
            raise self.problem
        item, shown = self.item, self.shelf.picture
        return Sample(
            self.picture,
            origin=shown(item.origin) if item.origin and "origin" in facts.needs else None,
            first=shown(item.first) if item.first and "first" in facts.needs else None,
            previous=shown(item.previous) if item.previous and "previous" in facts.needs else None,
            history=tuple(map(shown, item.history)) if "history" in facts.needs else (),
            instruction=item.instruction if "instruction" in facts.needs else None,
        )


def _inputs(item: Item, candidate: str, needs: frozenset[Need], shelf: Shelf) -> Inputs:
    known = shelf.hash_of
    return Inputs(
        candidate,
        origin=known(item.origin) if item.origin and "origin" in needs else None,
        first=known(item.first) if item.first and "first" in needs else None,
        previous=known(item.previous) if item.previous and "previous" in needs else None,
        history=tuple(map(known, item.history)) if "history" in needs else (),
        instruction=item.instruction if "instruction" in needs else None,
    )
