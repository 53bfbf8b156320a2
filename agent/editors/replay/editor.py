"""Recorded images served as if they had just been edited, so that a chain can be gated and scored again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from turngate.agent.editor import Edited, EditRequest, ExtraImage, NoImage
from turngate.agent.editors.replay.chain import Chain, Recorded
from turngate.agent.editors.replay.readers import read_folder, read_image, read_manifest, read_run
from turngate.component import BEYOND_DIVERGENCE, NOT_ON_RECORD, ComponentConfig
from turngate.errors import BadImage, ConfigError, counted
from turngate.frozen import StrictModel
from turngate.picture import Picture

__all__ = ["RecordedAs", "ReplayConfig", "ReplayEditor"]


class RecordedAs(StrictModel):
    """What the paths of a recorded chain said."""

    fields: dict[str, str] = {}
    """Field of the pattern -> its text, the same in all frames of the chain: `{origin: coffee, repeat: "02"}`."""
    first_turn: int = Field(default=0, ge=0)
    """Number of the frame that is the origin here: 1 where the record counts from 1."""
    turn_digits: int = Field(default=1, ge=1, le=9)
    """Digits of the turns' numbers, leading zeros included; 1 where they have none."""


class ReplayConfig(ComponentConfig):
    """What to serve."""

    paths: ClassVar[tuple[str, ...]] = ("source",)
    """Fields that are paths relative to the configuration file."""

    source: Path
    """A run folder, a folder of numbered images, or a CSV manifest with columns `turn`, `path` and perhaps `attempt`,
    `reasoning`, `model`, `damage`. Relative to the configuration file; a manifest's paths are relative to it or
    absolute, and may lead anywhere."""
    take: Literal["accepted", "all"] = "accepted"
    """Of a run: `accepted`, the images that led to its last one, as turns 1, 2, 3, ...; or `all` candidates, each at
    its own turn and attempt. A folder or manifest is always served as it is numbered."""
    pattern: str | None = None
    """Of a folder: regular expression with a group `turn` and perhaps `attempt`, searched in the path of every image
    below it: `table/run_2/step(?P<turn>\\d+)`. Without it the last number in a name is the turn."""
    incomplete: bool = False
    """Of a folder or manifest: turns may be missing and files may be no images. Both are turns without an image
    (`not_recorded`, `undecodable`) that are flagged `not_on_record`; otherwise they are errors."""
    recorded_as: RecordedAs | None = None
    """Where the frames came from, as `turngate import` read it; `turngate export --as` writes the same shape back."""
    simulated: bool = False
    """The damage in a folder or manifest was written by hand. A run that says so of itself is believed anyhow."""
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """The chain must still be this one: its hash over turns, attempts, images and what is reported with them."""

    @field_validator("pattern")
    @classmethod
    def _names_a_turn(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            groups = re.compile(pattern).groupindex
        except re.error as error:
            raise ValueError(f"no regular expression ({error})") from None
        if "turn" not in groups:
            raise ValueError("needs a group (?P<turn>\\d+)")
        return pattern

    def pinned(self) -> Self:
        """The configuration with the hash of the chain that is there now; what a run should record."""
        return self.model_copy(update={"sha256": _read(self).sha256})


class ReplayEditor:
    """Serves recorded images as if edited: an existing run, a folder of numbered images, or a CSV manifest.

    A recorded candidate was made from the recorded input, whatever the gate thinks of it now. Flags of an answer:

    - `beyond_divergence`: it would not have been given. The image to edit is none of those that it was made from (the
      gate decided otherwise than was decided then), an earlier answer of the run would not have been given, or the
      record has no such attempt.
    - `replay_origin_unknown`: the record does not say what turn 1 was made from.
    - `replay_input_uncertain`: the turn before has several images on record, and one of them was the input.
    - `replay_other_instruction`: another instruction was given.
    - `not_on_record`: there was an image, and the record lacks it or it cannot be read (`incomplete`).
    """

    Config: ClassVar[type[ComponentConfig]] = ReplayConfig
    requires: ClassVar[Mapping[str, str]] = {}
    paid = False

    def __init__(self, config: ReplayConfig) -> None:
        """Read the chain; raises `UserError` in one line for whatever is wrong with it."""
        self._source = config.source
        self._incomplete = config.incomplete
        self._chain = _read(config)
        if config.sha256 not in (None, self._chain.sha256):
            raise ConfigError(
                f"editor.source: {config.source} is not the chain of this configuration any more: an image, or what is "
                f"reported with it, was changed, added or removed (SHA-256 {self._chain.sha256})"
            )
        self.model = f"replay-{self._chain.sha256[:12]}"
        self.length = self._chain.length
        """Number of turns that can be served."""
        self.simulated = self._chain.simulated or config.simulated
        self.stochastic = self._chain.retried
        """Retries make sense where several attempts of a turn were recorded; the seed changes nothing."""
        self.left_out = self._chain.left_out
        """Which files of the folder are not served, in one line; empty for none."""
        self.knows_origin = self._chain.origin is not None
        """The record holds the picture before turn 1."""
        self._same_as_origin: dict[str, bool] = {}
        self._readable: dict[str, bool] = {}
        """SHA-256 of a frame -> whether it decodes, as far as that was tried."""

    def misfit(self, origin: Picture) -> str | None:
        """Why a run that starts at `origin` is not this chain's: it was recorded from another picture.

        Pictures are compared pixel by pixel. None where they are one, and where the record does not know its own.
        Raises `BadImage` when the recorded one was changed or removed.
        """
        recorded = self._chain.origin
        if recorded is None or self._is_origin(origin):
            return None
        return (
            f"the chain {self._source} was recorded from another picture: give its own as the origin, {recorded.file}"
        )

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """The recorded answer to this turn and attempt, as received then; it costs nothing.

        `NoImage("end_of_chain")` beyond the last turn or the last attempt of a turn. Raises `BadImage` when an image
        was changed or removed since the editor was made.
        """
        found = self._chain.by_place.get((request.turn, request.attempt))
        if found is None:
            return NoImage("end_of_chain", self._end(request), retryable=False, flags=(BEYOND_DIVERGENCE,))
        flags = tuple(dict.fromkeys([*found.flags, *self._remarks(found, request)]))
        if found.no_image is not None:
            return replace(found.no_image, flags=flags)
        data = read_image(found.file, found.image)
        picture = None
        if self._incomplete:
            picture = self._decoded(data, found.image)
            if picture is None:  # the loop says why, and keeps the bytes
                flags = tuple(dict.fromkeys([*flags, NOT_ON_RECORD]))
        return Edited(
            data,
            picture=picture,
            reasoning=found.reasoning,
            model=found.model if self._chain.names_models else self.model,
            usage=found.usage,
            extras=tuple(ExtraImage(read_image(file, sha256), role) for file, sha256, role in found.extras),
            flags=flags,
            damage=found.damage,
            operation_failed=found.operation_failed,
            object_failure=found.object_failure,
            metadata=found.metadata,
        )

    def _decoded(self, data: bytes, sha256: str) -> Picture | None:
        """The picture in `data`, None where there is none; remembered for what is said to be made from it."""
        try:
            picture = Picture.from_bytes(data)
        except BadImage:
            picture = None
        self._readable[sha256] = picture is not None
        return picture

    def _last_readable(self, turn: int) -> frozenset[str]:
        """The images of the latest turn before `turn` of which one can be read; the origin's where there is none."""
        earlier: dict[int, list[Recorded]] = {}
        for one in self._chain.recorded:
            if one.turn < turn and one.image:
                earlier.setdefault(one.turn, []).append(one)
        for _, members in sorted(earlier.items(), reverse=True):
            found = {one.image for one in members if self._can_be_read(one)}
            if found:
                return frozenset(found)
        return frozenset({self._chain.origin.image} if self._chain.origin else ())

    def _can_be_read(self, one: Recorded) -> bool:
        if one.image not in self._readable:
            self._decoded(read_image(one.file, one.image), one.image)
        return self._readable[one.image]

    def _end(self, request: EditRequest) -> str:
        attempts = sum(one.turn == request.turn for one in self._chain.recorded)
        if attempts:
            return f"turn {request.turn} has no attempt {request.attempt} on record: the last is {attempts}"
        return f"the chain has {counted(self.length, 'turn')}: there is no turn {request.turn}"

    def _remarks(self, found: Recorded, request: EditRequest) -> list[str]:
        remarks = []
        if request.diverged or not self._made_from(found, request.image):
            remarks.append(BEYOND_DIVERGENCE)
        elif len(found.made_from) > 1:
            remarks.append("replay_input_uncertain")
        if not found.made_from:
            remarks.append("replay_origin_unknown")
        if found.instruction is not None and request.instruction != found.instruction:
            remarks.append("replay_other_instruction")
        return remarks

    def _made_from(self, found: Recorded, image: Picture) -> bool:
        """`found` can have been made from `image`. The origin may come in another file than it was recorded in."""
        if not found.made_from:
            return found.turn == 1  # every attempt of turn 1 edits the origin
        if self._is_one_of(image, found.made_from):
            return True
        # By way of frames that cannot be read: the latest before them is what a reader of the record has.
        return self._incomplete and self._is_one_of(image, self._last_readable(found.turn))

    def _is_one_of(self, image: Picture, given: frozenset[str]) -> bool:
        recorded = self._chain.origin
        of_origin = recorded is not None and recorded.image in given
        return image.sha256 in given or (of_origin and self._is_origin(image))

    def _is_origin(self, picture: Picture) -> bool:
        """`picture` has the pixels of the recorded origin, which is known."""
        recorded = self._chain.origin
        assert recorded is not None
        if picture.sha256 == recorded.image:
            return True
        if picture.sha256 not in self._same_as_origin:
            own = Picture.from_bytes(read_image(recorded.file, recorded.image), str(recorded.file))
            self._same_as_origin[picture.sha256] = np.array_equal(own.rgb, picture.rgb)
        return self._same_as_origin[picture.sha256]


def _read(config: ReplayConfig) -> Chain:
    try:
        return _chain(config)
    except OSError as error:
        raise ConfigError(f"editor.source: cannot read {config.source}: {error.strerror or error}") from None


def _chain(config: ReplayConfig) -> Chain:
    source = config.source
    is_run = source.name == "run.json" or (source / "run.json").is_file()
    if config.pattern is not None and (is_run or source.is_file()):
        raise ConfigError("editor.pattern: is for a folder of images, a run or a manifest says which turn is which")
    if is_run:
        return read_run(source, everything=config.take == "all")
    if source.is_dir():
        return read_folder(source, config.pattern, config.incomplete)
    if source.is_file():
        return read_manifest(source, config.incomplete)
    raise ConfigError(f"editor.source: no run, folder of images or manifest at {source}: check the path")
