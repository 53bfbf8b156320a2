"""The Editor contract: an image and an instruction in, an image or a typed reason for none out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from turngate.component import ObjectFailure
from turngate.picture import Picture
from turngate.providers.calling import Try

__all__ = [
    "EditRequest",
    "EditUsage",
    "Edited",
    "Editor",
    "Exchange",
    "ExtraImage",
    "History",
    "NoImage",
    "NoImageWhy",
    "Served",
    "Try",
]

History = Literal["previous", "origin", "anchor", "chat"]
"""What the editor sees: the current image, always the origin, both, or the whole conversation."""

NoImageWhy = Literal[
    "safety", "prohibited", "recitation", "no_image", "empty", "blocked_prompt", "other", "timeout", "rate_limit",
    "unavailable", "bad_request", "refused", "undecodable", "end_of_chain", "not_recorded", "error",
]  # fmt: skip
"""Why an editor gave no image. `undecodable` is set by the loop when the bytes are not an image, `not_recorded` says
that a recorded chain has no image for the turn."""


@dataclass(frozen=True)
class Exchange:
    """One accepted turn of a conversation: what was asked and what came back."""

    instruction: str
    input_image: str
    """SHA-256 of the image that was edited."""
    image: str
    """SHA-256 of the result, which became the current image."""
    content: Mapping[str, Any]
    """What the editor gave as `Edited.content`."""


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
    send_seed: bool = True
    """False under the seed policy `none`: a remote model is given no seed."""
    conversation: tuple[Exchange, ...] = ()
    """With the `chat` protocol: the accepted turns that led to the current image, oldest first."""
    load: Callable[[str], bytes] | None = field(default=None, repr=False)
    """Reads an image of the conversation by its SHA-256."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers for a remote call (W3C trace context)."""
    diverged: bool = False
    """An earlier answer of this run was flagged `beyond_divergence`, and the run has not gone back to before it: for
    editors that serve a record."""
    operation: Mapping[str, Any] = field(default_factory=dict)
    """What the scenario means by the instruction, in machine terms, for editors that do not read (simulators)."""

    @property
    def image(self) -> Picture:
        """The image to edit."""
        return self.images[0]


@dataclass(frozen=True)
class EditUsage:
    """What the call of one edit cost; None where the provider does not say.

    An evaluation's is another: `turngate.evaluators.result.EditUsage`, the sum over its calls.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    """Thoughts included."""
    reasoning_tokens: int | None = None
    """Thoughts alone."""
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
class Served:
    """What a remote provider says about a call."""

    provider: str
    """Name after the OpenTelemetry conventions: `gcp.gemini`, `openai`, ..."""
    response_id: str | None = None
    finish_reason: str | None = None
    """As the provider spells it."""
    tries: tuple[Try, ...] = ()
    """Failed calls before this answer."""


@dataclass(frozen=True)
class Edited:
    """An image came back."""

    data: bytes = field(repr=False)
    """As received; the media type is sniffed by the loop, never taken from a declaration."""
    reasoning: str | None = None
    """The model's own summary of its thoughts; None when it gave none."""
    model: str | None = None
    """Resolved model and version, as the provider reports it."""
    usage: EditUsage = field(default_factory=EditUsage)
    extras: tuple[ExtraImage, ...] = ()
    flags: tuple[str, ...] = ()
    """Remarks for the record, for instance `image_from_thought`."""
    damage: float | None = None
    """A simulator's own record of the damage it has done to this image so far; hidden from gates."""
    operation_failed: bool | None = None
    """A simulator's own record: it did not carry out the mirroring or rotation that it was asked for; None without
    one."""
    object_failure: ObjectFailure | None = None
    """A simulator's own record of what became of an object to add; None when it was asked for none."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Anything else worth keeping, plain JSON; recorded with the attempt."""
    served: Served | None = None
    """Set by editors that call a provider."""
    content: Mapping[str, Any] | None = None
    """What a conversation must send back, plain JSON, images as `{"sha256": ...}` of `data` and `extras`."""
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
    usage: EditUsage = field(default_factory=EditUsage)
    served: Served | None = None
    flags: tuple[str, ...] = ()
    """Remarks for the record."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Anything else worth keeping, plain JSON; recorded with the attempt."""


@runtime_checkable
class Editor(Protocol):
    """Edits images. One instance serves one run and may keep a network loaded.

    It may also have `converses = True` (it understands the `chat` protocol), `length` (number of turns that it can
    serve), `provider` (whose server it calls), `base_url` (where that server is), `prices` (None when what a call costs
    is not known), `typical_usd` (of one call), `idle` (settings that will do nothing, each as `FIELD: why`),
    `sends_seed = False` (it makes nothing of the seed that it is given), and `restore(made)` (a simulator: SHA-256,
    damage and `metadata` of images made by an earlier process).

    An editor of recorded answers has `misfit(origin)` (why the picture before turn 1 is not the recorded one; None when
    it is, or is not known), `knows_origin`, and `left_out` (which files it does not serve, in one line). It is built
    when a study is planned, so that must be cheap.
    """

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
