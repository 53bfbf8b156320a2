"""What is asked of a model, and what comes back, whichever way the model is reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from PIL import Image
from pydantic import BaseModel

from turngate.evaluators.result import EvaluationUsage, Failed, Unscored
from turngate.picture import Picture

__all__ = ["Ask", "ModelReply", "Question", "ReplyEnding", "SentImage", "send"]


# An image as a judge gets it: which bytes, which size, and a remark for the record.

_ACCEPTED = frozenset({"image/png", "image/jpeg", "image/webp"})


@dataclass(frozen=True)
class SentImage:
    """What goes out to a model."""

    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int
    flag: str
    """For instance `sent:candidate:512x512:image/png`; `:of 1024x1024` follows when it was shrunk."""


def send(picture: Picture, role: str, max_side: int | None) -> SentImage:
    """The image with a longest side of at most `max_side` pixels (Lanczos).

    The bytes go out as received unless they must be shrunk, are of a type that models do not take, or would not mean
    the same to everyone (transparency, orientation, depth, several frames): then as a PNG of the decoded pixels, which
    is what every other evaluator looks at too.
    """
    width, height = picture.width, picture.height
    scale = min(1.0, max_side / max(width, height)) if max_side else 1.0
    sent, shrunk = picture, ""
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        sent = Picture.from_rgb(np.asarray(Image.fromarray(picture.rgb).resize(size, Image.Resampling.LANCZOS)))
        shrunk = f":of {width}x{height}"
    elif picture.normalised or picture.media_type not in _ACCEPTED:
        sent = Picture.from_rgb(picture.rgb)
    flag = f"sent:{role}:{sent.width}x{sent.height}:{sent.media_type}{shrunk}"
    return SentImage(sent.data, sent.media_type, sent.width, sent.height, flag)


ReplyEnding = Literal["complete", "truncated", "filtered", "refused", "other"]
"""Why the model stopped: by itself, at the token limit, a content filter stepped in, it said that it will not, or for
a reason that we do not know."""


@dataclass(frozen=True)
class Question:
    """One call."""

    images: tuple[SentImage, ...]
    """In the order in which they are shown; each follows a line `Image N:`."""
    text: str
    """Follows the images."""
    answer: type[BaseModel]
    """What the answer must be."""


@dataclass(frozen=True)
class ModelReply:
    """One answer."""

    text: str
    ending: ReplyEnding
    model: str | None
    """Model and version that answered, as the provider reports it."""
    usage: EvaluationUsage
    detail: str = ""
    """The provider's words about an ending that is not `complete`."""
    fake: bool = False
    """The shipped fake server gave it: no model was asked."""


Ask = Callable[[Question], Awaitable[ModelReply | Unscored | Failed]]
"""Puts a question to a model. It may raise what no later call can mend, see `turngate.errors`."""
