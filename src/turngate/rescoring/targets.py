"""What is to be scored: the images of one run, folder or manifest, and the file that keeps their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turngate.evaluators import Need
from turngate.evaluators.bulk.item import Item
from turngate.traces.rescored.records import Role

__all__ = ["Place", "Target"]


@dataclass(frozen=True)
class Place:
    """Where an image stands in its run."""

    turn: int | None = None
    attempt: int | None = None
    role: Role = "image"


@dataclass(frozen=True)
class Target:
    """Images that belong together."""

    name: str
    """Run id, or path."""
    table: Path
    """File of the scores."""
    items: tuple[Item, ...]
    """Images that are to be scored."""
    images: int
    """Images that there are."""
    offers: frozenset[Need]
    """What at least one image can be shown with."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Id of an item -> where it stands; those of no run are not in it."""
    selection: Mapping[str, Any] = field(default_factory=dict)
    """How `items` were chosen; empty when they are all images."""
