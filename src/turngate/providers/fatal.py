"""Failures that no later call can mend: they end a run, with nothing lost."""

from __future__ import annotations

from turngate.errors import ConfigError, MissingKey, QuotaExhausted
from turngate.providers.failure import Failure

__all__ = ["FATAL", "raise_if_fatal"]

FATAL = (QuotaExhausted, MissingKey, ConfigError)
"""What `raise_if_fatal` raises."""


def raise_if_fatal(failure: Failure, model: str, where: str, key_name: str, field: str) -> None:
    """Raise `QuotaExhausted` (resume after the reset), `MissingKey`, or `ConfigError` for an unknown model.

    `where` names the server, `key_name` the environment variable of the key, `field` the model's place in the
    configuration. Returns for every other failure.
    """
    match failure.kind:
        case "per_day":
            reset = f" in {failure.wait:g} s" if failure.wait else ", when the provider's day ends"
            raise QuotaExhausted(
                f"the quota of {model!r} is used up: resume the run after the reset{reset} ({failure.message})"
            )
        case "auth":
            raise MissingKey(f"{where} refuses the key in {key_name}: {failure.message}")
        case "not_found":
            raise ConfigError(f"{field}: {where} knows no {model!r}: {failure.message}")
