"""Recorded frames on the way to chains: which belong together, in what order, and what is wrong with them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from turngate.agent.editors.replay import MOST_TURNS
from turngate.component import Box
from turngate.decoding import looks_like_image
from turngate.errors import counted
from turngate.image_files import natural

__all__ = ["FoundChain", "FoundFrame", "FoundTree", "chains_of", "turn_ranges"]

_OWN = ("origin", "setting", "repeat", "editor", "model", "instruction", "turn")
"""Fields with a meaning of their own; every other one is part of the setting."""


@dataclass(frozen=True)
class FoundFrame:
    """One recorded image, and what is known of it."""

    file: Path
    fields: Mapping[str, str]
    """What its path or row says of its chain: the same in all frames of it."""
    turn: int
    """As recorded, 0 or above."""
    turn_text: str
    """The same as it was written, leading zeros included."""
    part: int | None = None
    """Which frame of an animated file it is, from 0."""
    digest: str = ""
    """SHA-256 of the animated file."""
    instruction: str | None = None
    reasoning: str | None = None
    model: str | None = None
    damaged: bool | None = None
    box: Box | None = None
    """Where the instruction means to change something."""


@dataclass(frozen=True)
class FoundChain:
    """Frames that one editor made one after the other, from one origin."""

    origin: str
    setting: str
    editor: str
    repeat: int
    fields: Mapping[str, str]
    start: FoundFrame
    """The image before turn 1."""
    first_turn: int
    """Recorded number of `start`; turns are counted from it."""
    frames: tuple[FoundFrame, ...]
    """In order of turns, one for each, from turn 1 on; `turn` is counted from `start`."""
    turn_digits: int
    doubles: tuple[FoundFrame, ...] = ()
    """Files of a turn that has one already; they are left out."""
    unreadable: tuple[FoundFrame, ...] = ()
    """Frames whose file is no image, as far as its first bytes tell."""
    regions: tuple[Box, ...] = ()
    """Rectangles that no instruction touches, where they are known."""
    shared_instruction: str | None = None
    """What was asked for at every turn that says nothing of its own."""

    @property
    def turns(self) -> int:
        """Number of turns, those without a frame included."""
        return self.frames[-1].turn

    @property
    def gaps(self) -> list[int]:
        """Turns without a frame, counted from `start`."""
        there = {frame.turn for frame in self.frames}
        return [turn for turn in range(1, self.turns) if turn not in there]

    @property
    def label(self) -> str:
        """In words."""
        return _words(self.origin, self.setting, self.editor, self.fields)

    def problems(self) -> Iterator[str]:
        """One line for each thing that is wrong, with turns as recorded."""
        if self.gaps:
            lost = turn_ranges(turn + self.first_turn for turn in self.gaps)
            yield f"{self.label}: no frame of turn {lost}: not on record, and the chain goes on after it"
        for frame in self.doubles:
            yield f"{self.label}: turn {frame.turn + self.first_turn} has two files, {frame.file.name} is left out"
        for frame in self.unreadable:
            yield f"{self.label}: {frame.file} is no image that can be read: recorded as `no_image: undecodable`"


@dataclass(frozen=True)
class FoundTree:
    """What an import would take in."""

    chains: tuple[FoundChain, ...]
    problems: tuple[str, ...] = ()
    """What was left out, one line each."""
    notes: tuple[str, ...] = ()
    """What was decided, one line each."""

    def all_problems(self) -> list[str]:
        """What was left out, and what is wrong with the chains."""
        return [*self.problems, *(line for chain in self.chains for line in chain.problems())]


OriginOf = Callable[[Mapping[str, str]], Path | None]
"""The origin of the chain with these fields; None where it is not there."""


def chains_of(
    frames: Iterable[FoundFrame],
    name: str,
    origin_of: OriginOf | None = None,
    renumber: bool = False,
    regions_of: Callable[[Mapping[str, str]], tuple[Box, ...]] = lambda fields: (),
) -> FoundTree:
    """Put frames into chains, in natural order of their fields; `name` names the origin where no field does.

    The origin is what `origin_of` gives, otherwise the frame with the smallest turn. With `renumber` the frames after
    it are turns 1, 2, 3, whatever their numbers. Chains without an origin or without a turn are left out and told.
    """
    groups: dict[tuple[tuple[str, str], ...], list[FoundFrame]] = defaultdict(list)
    for frame in frames:
        groups[tuple(sorted(frame.fields.items()))].append(frame)
    ordered = sorted(groups.values(), key=lambda group: [natural(text) for text in group[0].fields.values()])
    repeats = _repeats(ordered)
    chains, problems, late = [], [], 0
    for group, repeat in zip(ordered, repeats, strict=True):
        made = _chain(group, name, repeat, origin_of, renumber)
        if isinstance(made, str):
            problems.append(made)
            continue
        late += made.first_turn > 0
        chains.append(replace(made, regions=regions_of(made.fields)))
    notes = []
    if late:
        notes.append(
            f"{late} of {counted(len(chains), 'chain')} without frame 0: the first frame is taken as the origin, and "
            "turns are counted from it; give the origin with --origin where it lies elsewhere"
        )
    return FoundTree(tuple(chains), tuple(problems), tuple(notes))


def _chain(
    group: list[FoundFrame], name: str, repeat: int, origin_of: OriginOf | None, renumber: bool
) -> FoundChain | str:
    fields = group[0].fields
    origin = fields.get("origin") or name
    setting, editor = _setting(fields), fields.get("editor") or fields.get("model") or ""
    label = _words(origin, setting, editor, fields)
    ordered = sorted(group, key=lambda frame: (frame.turn, natural(frame.file.name), frame.file.name))
    kept: dict[int, FoundFrame] = {}
    doubles = []
    for frame in ordered:
        if kept.setdefault(frame.turn, frame) is not frame:
            doubles.append(frame)
    if origin_of is not None:
        file = origin_of(fields)
        if file is None:
            return f"{label}: its origin is missing: the chain is left out"
        start, first = FoundFrame(file, fields, 0, "0"), 0
        kept.pop(0, None)
    else:
        start = kept.pop(min(kept))
        first = start.turn
    if not kept:
        return f"{label}: one frame is no chain ({group[0].file.name}): it is left out"
    if not looks_like_image(start.file):
        return f"{label}: its origin {start.file} is no image that can be read: the chain is left out"
    if not renumber and max(kept) - first > MOST_TURNS:
        return f"{label}: turns up to {max(kept)}: is that number a turn? The chain is left out; see --renumber"
    numbers = dict(zip(kept, range(1, len(kept) + 1) if renumber else (turn - first for turn in kept), strict=True))
    frames = tuple(replace(frame, turn=numbers[turn]) for turn, frame in kept.items())
    widths = {len(frame.turn_text) for frame in kept.values()}
    return FoundChain(
        origin=origin,
        setting=setting,
        editor=editor,
        repeat=repeat,
        fields=fields,
        start=start,
        first_turn=first,
        frames=frames,
        turn_digits=widths.pop() if len(widths) == 1 else 1,
        doubles=tuple(replace(frame, turn=frame.turn - first) for frame in doubles),
        unreadable=tuple(frame for frame in frames if frame.part is None and not looks_like_image(frame.file)),
        shared_instruction=fields.get("instruction"),
    )


def _setting(fields: Mapping[str, str]) -> str:
    """The setting in words; fields of other names are told with theirs."""
    more = [f"{name} {text}" for name, text in fields.items() if name not in _OWN]
    return ", ".join(filter(None, [fields.get("setting", ""), fields.get("instruction", ""), *more]))


def _words(origin: str, setting: str, editor: str, fields: Mapping[str, str]) -> str:
    repeat = fields.get("repeat", "")
    return " ".join(part for part in (origin, setting, editor, f"r{repeat}" if repeat else "") if part)


def _repeats(groups: list[list[FoundFrame]]) -> list[int]:
    """Number of every chain among those that differ in the repeat alone: its own, or counted where it has none."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for group in groups:
        alike[_without_repeat(group[0].fields)].append(group[0].fields.get("repeat", "1"))
    found = []
    for group in groups:
        texts = alike[_without_repeat(group[0].fields)]
        text = group[0].fields.get("repeat", "1")
        numbers = [int(one) if re.fullmatch(r"[0-9]{1,9}", one) else -1 for one in texts]
        plain = min(numbers) >= 0 and len(set(numbers)) == len(numbers)
        found.append(int(text) if plain else texts.index(text) + 1)
    return found


def _without_repeat(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, text) for name, text in fields.items() if name != "repeat"))


def turn_ranges(turns: Iterable[int]) -> str:
    """`3, 7-9` of 3, 7, 8, 9; long lists are cut."""
    spans: list[list[int]] = []
    for turn in sorted(turns):
        if spans and turn == spans[-1][1] + 1:
            spans[-1][1] = turn
        else:
            spans.append([turn, turn])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    return ", ".join(words[:8]) + (f" and {len(words) - 8} more gaps" if len(words) > 8 else "")
