"""What editors that call a provider have in common: settings, and what a failed call means for the run."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from turngate.agent.editor import EditUsage, NoImage, NoImageWhy, Served
from turngate.component import ComponentConfig
from turngate.errors import UserError
from turngate.picture import Picture
from turngate.providers.calling import Called, FailureKind, RetryConfig, raise_if_fatal
from turngate.providers.prices import Prices

__all__ = ["RemoteConfig", "no_answer", "sent"]

_WHY: dict[FailureKind, NoImageWhy] = {
    "per_minute": "rate_limit",
    "capacity": "unavailable",
    "unavailable": "unavailable",
    "transport": "unavailable",
    "timeout": "timeout",
    "bad_request": "bad_request",
    "moderation": "safety",
    "malformed": "error",
}


class RemoteConfig(ComponentConfig):
    """Settings of every editor that calls a provider."""

    base_url: str | None = Field(default=None, pattern=r"^https?://")
    """Another server that speaks the same protocol; a proxy, one's own, `turngate fake-server`. Needs no key."""
    retry: RetryConfig = RetryConfig()
    prices: Prices | None = None
    """US dollars per million tokens; the shipped table where it is left out."""


def no_answer(called: Called[Any], model: str, where: str, key_name: str, provider: str) -> NoImage:
    """The result of a call that failed for good.

    Raises what no later call can mend, see `turngate.providers.calling`, and `UserError` for a conversation that the
    server does not take back.
    """
    failure = called.failure
    assert failure is not None
    raise_if_fatal(failure, model, where, key_name, "editor.model")
    if failure.kind == "conversation":
        raise UserError(
            f"{where} does not take the conversation back, a thought signature is missing: use `history: previous` "
            f"or fork the run ({failure.message})"
        )
    count = len(called.tries)
    detail = failure.message if count == 1 else f"{failure.message} ({count} tries)"
    served = Served(provider, tries=called.tries)
    retryable = failure.kind != "bad_request"
    return NoImage(_WHY[failure.kind], detail, retryable, usage=EditUsage(waited_seconds=called.waited), served=served)


def sent(picture: Picture, as_png: bool, accepted: frozenset[str]) -> tuple[bytes, str, tuple[str, ...]]:
    """Bytes and media type to send, and flags for the record.

    The bytes go out as they were received where they mean the same to everyone. With `as_png`, when the media type is
    not `accepted`, and when the file had to be normalised (orientation, transparency, profile, depth, several frames),
    a PNG of the decoded pixels goes out, which is what metrics and judges look at; it is flagged `sent_as_png`.
    """
    if not picture.normalised and picture.media_type in (frozenset({"image/png"}) if as_png else accepted):
        return picture.data, picture.media_type, ()
    return Picture.from_rgb(picture.rgb).data, "image/png", ("sent_as_png",)
