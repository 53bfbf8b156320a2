"""A chain of recorded answers: what was answered at which turn and attempt, and what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from turngate.agent.editor import EditUsage, NoImage
from turngate.component import NOT_ON_RECORD, ObjectFailure
from turngate.errors import ConfigError

__all__ = ["MOST_TURNS", "Chain", "Recorded"]

MOST_TURNS = 100_000
"""Most turns of a chain: a larger number in a name is a date or an id."""


@dataclass(frozen=True)
class Recorded:
    """One recorded answer: an image, or the reason for none."""

    turn: int
    """1-based; 0 is the origin."""
    attempt: int = 1
    """1-based within the turn."""
    file: Path = Path()
    """Where the image lies."""
    image: str = ""
    """SHA-256 of its bytes; empty when there is none."""
    no_image: NoImage | None = None
    """The whole answer, when there is no image."""
    made_from: frozenset[str] = frozenset()
    """SHA-256 of the images that it can have been made from: one, or several of which one is it; empty where that is
    not known."""
    instruction: str | None = None
    """What was asked for; None where that is not known."""
    reasoning: str | None = None
    model: str | None = None
    usage: EditUsage = field(default_factory=EditUsage)
    damage: float | None = None
    flags: tuple[str, ...] = ()
    operation_failed: bool | None = None
    object_failure: ObjectFailure | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extras: tuple[tuple[Path, str, str], ...] = ()
    """Images that came along: file, SHA-256, role."""


@dataclass(frozen=True)
class Chain:
    """Recorded answers, in order of turn and attempt, without a gap."""

    recorded: tuple[Recorded, ...]
    simulated: bool
    """Some of it was made by a simulator."""
    origin: Recorded | None = None
    """The image before turn 1; None where it is not known."""
    left_out: str = ""
    """Which files of its folder are not in it, in one line; empty for none."""

    @classmethod
    def of_frames(
        cls, frames: Iterable[Recorded], source: str, simulated: bool = False, incomplete: bool = False
    ) -> Chain:
        """A chain of numbered images: turn 0 is the origin, each answer was made from one of the turn before.

        What turn 1 was made from is not known when there is no turn 0. With `incomplete` a turn without an image is one
        that is not on record; what came after it was made from the last image before it, by way of one that is lost.
        Raises `ConfigError` as `of` does.
        """
        given = list(frames)
        if incomplete:
            given += _lost_turns(given)
        origins = [one for one in given if one.turn == 0]
        if len({one.image for one in origins}) > 1:
            both = f"{origins[0].file.name} and {origins[1].file.name}"
            raise ConfigError(f"editor.source: {source} has turn 0, the origin, twice: {both}")
        images: dict[int, set[str]] = {}
        for one in given:
            if one.image:
                images.setdefault(one.turn, set()).add(one.image)
        inputs: dict[int, frozenset[str]] = {}
        latest, latest_turn = frozenset[str](), -1
        for turn in sorted({one.turn for one in given}):
            inputs[turn] = latest if incomplete or latest_turn == turn - 1 else frozenset()
            if turn in images:
                latest, latest_turn = frozenset(images[turn]), turn
        answers = (replace(one, made_from=inputs[one.turn]) for one in given if one.turn)
        return cls.of(answers, source, simulated, origins[0] if origins else None)

    @classmethod
    def of(
        cls, recorded: Iterable[Recorded], source: str, simulated: bool = False, origin: Recorded | None = None
    ) -> Chain:
        """Put in order and check; raises `ConfigError` that names `source` when a turn or an attempt is missing."""
        ordered = sorted(recorded, key=lambda one: (one.turn, one.attempt))
        turn, attempt, before = 0, 0, ""
        for one in ordered:
            if (one.turn, one.attempt) == (turn, attempt):
                both = f"{before} and {one.file.name}"
                raise ConfigError(f"editor.source: {source} has turn {turn}, attempt {attempt} twice: {both}")
            turn, attempt = (turn, attempt + 1) if one.turn == turn else (turn + 1, 1)
            before = one.file.name
            if (one.turn, one.attempt) != (turn, attempt):
                lacks = f"attempt {attempt} of turn {turn}" if one.turn == turn else f"turn {turn}"
                raise ConfigError(
                    f"editor.source: {source} has turn {one.turn}, attempt {one.attempt} but not {lacks}: "
                    "a chain has no gaps"
                )
        return cls(tuple(ordered), simulated, origin)

    @cached_property
    def by_place(self) -> dict[tuple[int, int], Recorded]:
        """(turn, attempt) -> what was answered."""
        return {(one.turn, one.attempt): one for one in self.recorded}

    @property
    def length(self) -> int:
        """Number of turns."""
        return self.recorded[-1].turn

    @property
    def names_models(self) -> bool:
        """Some answer says which model gave it."""
        return any(one.model for one in self.recorded)

    @property
    def retried(self) -> bool:
        """Some turn has more than one attempt."""
        return any(one.attempt > 1 for one in self.recorded)

    @property
    def sha256(self) -> str:
        """What the chain says, as one hash: turn, attempt, image and what is reported with it, whatever the file."""
        lines = [
            [one.turn, one.attempt, one.image, one.no_image and one.no_image.why, one.reasoning, one.model, one.damage]
            for one in self.recorded
        ]
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()


def _lost_turns(frames: Iterable[Recorded]) -> Iterator[Recorded]:
    """An answer without an image for every turn from 1 to the last one that has none of its own."""
    turns = {one.turn for one in frames}
    last = max(turns, default=0)
    if last > MOST_TURNS:
        raise ConfigError(f"editor.source: turn {last} is beyond {MOST_TURNS:,}: is that number a turn?")
    for turn in range(1, last):
        if turn not in turns:
            lost = NoImage("not_recorded", f"the record has no image for turn {turn}", retryable=False)
            yield Recorded(turn, no_image=lost, flags=(NOT_ON_RECORD,))
