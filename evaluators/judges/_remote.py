"""What a failed call to a provider means for a judge."""

from __future__ import annotations

from typing import Any

from turngate.evaluators.judges.config import RemoteJudgeConfig
from turngate.evaluators.result import Failed, Unscored
from turngate.evaluators.usage import Usage
from turngate.providers.calling import Called
from turngate.providers.fatal import raise_if_fatal
from turngate.providers.prices import Prices, Tokens, cost

__all__ = ["no_answer", "text_cost"]


def no_answer(called: Called[Any], config: RemoteJudgeConfig, model: str, where: str, key: str) -> Unscored | Failed:
    """The result of a call that failed for good.

    Raises what no later call can mend, see `turngate.providers.fatal`.
    """
    failure = called.failure
    assert failure is not None
    raise_if_fatal(failure, model, where, key, f"{config.type}.model")
    usage = Usage(waited_seconds=called.waited)
    if failure.kind == "moderation":
        return Unscored("filtered", failure.message, usage=usage)
    count = len(called.tries)
    detail = failure.message if count == 1 else f"{failure.message} ({count} tries)"
    if failure.kind == "bad_request" and config.structured == "json_schema":
        detail += "; for a server that takes no schema set `structured: json_object` or `text`"
    return Failed("provider", failure.kind, detail, usage=usage)


def text_cost(sent: int | None, images: int | None, answered: int | None, prices: Prices | None) -> float | None:
    """US dollars of a call that answers with text.

    `sent` are all tokens that went out, `images` those of images among them: they need not be known where both cost
    the same.
    """
    if images is None and prices is not None and prices.text_input == prices.image_input:
        images = 0
    return cost(Tokens.split(sent, images, answered, 0), prices)
