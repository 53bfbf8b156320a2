"""What is asked of a model, and what comes back, whichever way the model is reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from turngate.evaluators.judges.sent import SentImage
from turngate.evaluators.result import Failed, Unscored
from turngate.evaluators.usage import Usage

__all__ = ["Ask", "Ending", "Question", "Reply"]

Ending = Literal["complete", "truncated", "filtered", "refused", "other"]
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
class Reply:
    """One answer."""

    text: str
    ending: Ending
    model: str | None
    """Model and version that answered, as the provider reports it."""
    usage: Usage
    detail: str = ""
    """The provider's words about an ending that is not `complete`."""


Ask = Callable[[Question], Awaitable[Reply | Unscored | Failed]]
"""Puts a question to a model. It may raise what no later call can mend, see `turngate.errors`."""
