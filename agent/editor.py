"""The Editor contract: an image and an instruction in, an image or a typed reason for none out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from turngate.picture import Picture

__all__ = ["EditRequest", "Edited", "Editor", "ExtraImage", "History", "NoImage", "NoImageWhy", "Usage"]

History = Literal["previous", "origin", "anchor", "chat"]
"""What the editor sees: the current image, always the origin, both, or the whole conversation."""

NoImageWhy = Literal[
    "safety", "prohibited", "recitation", "no_image", "empty", "blocked_prompt", "other", "timeout", "rate_limit",
    "refused", "undecodable", "error",
]  # fmt: skip
"""Why an editor gave no image. `undecodable` is set by the loop when the bytes are not an image."""


@dataclass(frozen=True)
class EditRequest:
    """One editor call."""

    images: tuple[Picture, ...]
    """What to edit comes first; with the `anchor` protocol the origin follows."""
    instruction: str
    turn: int
    """1-based."""
    attempt: int
    """1-based within the turn."""
    seed: int
    """0 <= seed < 2**31; every random choice of the editor must come from it."""
    history: History = "previous"
    operation: Mapping[str, Any] = field(default_factory=dict)
    """What the scenario means by the instruction, in machine terms, for editors that do not read (simulators)."""

    @property
    def image(self) -> Picture:
        """The image to edit."""
        return self.images[0]


@dataclass(frozen=True)
class Usage:
    """What a call cost; None where the provider does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    waited_seconds: float = 0.0
    """Time spent waiting on a limit, not working."""


@dataclass(frozen=True)
class ExtraImage:
    """An image that came along and is not the result."""

    data: bytes = field(repr=False)
    role: str
    """`interim` (a thought image), `mask`, ..."""


@dataclass(frozen=True)
class Edited:
    """An image came back."""

    data: bytes = field(repr=False)
    """As received; the media type is sniffed by the loop, never taken from a declaration."""
    reasoning: str | None = None
    """The model's own summary of its thoughts; None when it gave none."""
    model: str | None = None
    """Resolved model and version, as the provider reports it."""
    usage: Usage = field(default_factory=Usage)
    extras: tuple[ExtraImage, ...] = ()
    flags: tuple[str, ...] = ()
    """Remarks for the record, for instance `image_from_thought`."""
    damage: float | None = None
    """A simulator's own record of the damage it has done to this image so far; hidden from gates."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Anything else worth keeping, plain JSON."""
    picture: Picture | None = field(default=None, repr=False)
    """`data` already decoded, where the editor made it from pixels; spares the loop decoding it again."""

    @classmethod
    def of(cls, picture: Picture, **more: Any) -> Edited:
        """The result of an editor that has the pixels; `more` are the other fields."""
        return cls(picture.data, picture=picture, **more)


@dataclass(frozen=True)
class NoImage:
    """No image came back. The old image never passes as the new one."""

    why: NoImageWhy
    detail: str = ""
    """One line for a person; never holds a key."""
    retryable: bool = True
    """False when the same request must fail again (a 400, a blocked prompt)."""
    reasoning: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Editor(Protocol):
    """Edits images. One instance serves one run and may keep a network loaded."""

    model: str
    """Name of the model or method as asked for, for instance `span-x4` or `gemini-3-pro-image`."""
    stochastic: bool
    """Another seed may give another image. A policy that retries a deterministic editor is refused."""
    simulated: bool
    """True when the damage is written by hand: everything made of it is marked as simulated."""
    paid: bool
    """A call costs money: the ledger is written with full durability."""

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Carry out one instruction. Raises `turngate.errors` only for what no later call can mend."""
        ...
