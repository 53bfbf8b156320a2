"""The one layer that calls a provider: keys, tries, kinds of failure, what ends a run."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, StringConstraints

from turngate.errors import ConfigError, MissingKey, QuotaExhausted
from turngate.frozen import StrictModel

__all__ = [
    "FATAL",
    "RETRIED",
    "CallFailure",
    "Called",
    "FailureKind",
    "KeyName",
    "RetryConfig",
    "Try",
    "below",
    "call",
    "missing_key",
    "raise_if_fatal",
    "read_key",
    "run_blocking",
    "trace_headers",
]


@dataclass(frozen=True)
class Try:
    """A call to a provider that failed."""

    why: str
    """Kind of failure, see `turngate.providers.calling.FailureKind`."""
    seconds: float
    """How long the call took."""
    waited: float
    """Pause before the next call, seconds; 0 when it was the last."""


# What went wrong with a call to a provider, in the same words for all of them.

FailureKind = Literal[
    "per_minute", "per_day", "capacity", "unavailable", "transport", "timeout",
    "bad_request", "conversation", "auth", "not_found", "moderation", "malformed",
]  # fmt: skip
"""
- `per_minute`, `per_day`: a limit of the account; `capacity`: the provider is full;
- `unavailable`: HTTP 408, 500, 502, 503, 504; `transport`: no connection, or it broke; `timeout`: our deadline passed;
- `bad_request`: HTTP 400 and the like; `conversation`: the history that was sent back is not accepted (a thought
  signature is missing); `auth`: the key is missing, wrong or not allowed; `not_found`: no such model or path;
- `moderation`: refused for its content; `malformed`: the answer is not what the protocol says.
"""

RETRIED: frozenset[FailureKind] = frozenset(
    {"per_minute", "capacity", "unavailable", "transport", "timeout", "malformed"}
)
"""Kinds that another try may mend."""


@dataclass(frozen=True)
class CallFailure:
    """One failed call."""

    kind: FailureKind
    message: str
    """One line; the provider's words, shortened."""
    wait: float | None = None
    """Seconds that the provider asks to wait, if it says so."""


T = TypeVar("T")


class RetryConfig(StrictModel, allow_inf_nan=False):
    """How often and how patiently a provider is asked."""

    tries: int = Field(default=5, ge=1, le=50)
    """Calls in all. Limits per minute, full capacity, HTTP 408 and 5xx, broken connections, missed deadlines and
    garbled answers are tried again; a refused request never is."""
    deadline_seconds: float = Field(default=180, gt=0, le=3600)
    """A call that has not been answered in whole by then is given up."""
    first_wait_seconds: float = Field(default=2, ge=0, le=600)
    """Pause after the first failure when the provider names none; it doubles with every failure, times 0.5 to 1.5."""
    longest_wait_seconds: float = Field(default=120, ge=0, le=86_400)
    """Longest pause; a provider that asks for a longer one ends the tries."""


@dataclass(frozen=True)
class Called(Generic[T]):
    """How a call ended: with an answer, or with the failure of the last try."""

    answer: T | None
    failure: CallFailure | None
    tries: tuple[Try, ...]
    """The failed calls, oldest first."""

    @property
    def waited(self) -> float:
        """Seconds in which nothing was worked on: pauses, and calls that never answered."""
        return sum(one.waited + (one.seconds if one.why == "timeout" else 0.0) for one in self.tries)


async def call(
    make: Callable[[], Awaitable[T]], classify: Callable[[Exception], CallFailure | None], retry: RetryConfig, seed: int
) -> Called[T]:
    """Await `make()` until it answers or trying again is pointless.

    `classify` turns an exception of the client library into a `CallFailure`, or into None for a bug, which is raised.
    The pauses' randomness comes from `seed`.
    """
    rng = random.Random(seed)  # noqa: S311 - it spreads retries, it guards nothing
    failed: list[Try] = []
    while True:
        started = time.monotonic()
        try:
            async with asyncio.timeout(retry.deadline_seconds):
                answer = await make()
        except TimeoutError:
            failure: CallFailure | None = CallFailure("timeout", f"no whole answer within {retry.deadline_seconds:g} s")
        except Exception as error:
            failure = classify(error)
            if failure is None:
                raise
        else:
            return Called(answer, None, tuple(failed))
        assert failure is not None
        seconds = time.monotonic() - started
        usual = retry.first_wait_seconds * 2.0 ** len(failed) * rng.uniform(0.5, 1.5)
        wait = min(usual, retry.longest_wait_seconds) if failure.wait is None else failure.wait
        last = len(failed) + 1 >= retry.tries
        if last or failure.kind not in RETRIED or wait > retry.longest_wait_seconds:
            return Called(None, failure, (*failed, Try(failure.kind, seconds, 0.0)))
        failed.append(Try(failure.kind, seconds, wait))
        await asyncio.sleep(wait)


# Failures that no later call can mend: they end a run, with nothing lost.

FATAL = (QuotaExhausted, MissingKey, ConfigError)
"""What `raise_if_fatal` raises."""


def raise_if_fatal(failure: CallFailure, model: str, where: str, key_name: str, field: str) -> None:
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


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, in this context; also where an event loop already runs in this thread (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    future: Future[T] = Future()

    def target() -> None:
        try:
            future.set_result(asyncio.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=copy_context().run, args=(target,), daemon=True).start()
    return future.result()


# W3C trace context for calls by somebody who knows neither run nor turn.
#
# An evaluator does not know its turn. Whoever calls it sets the headers here, and the clients of this folder send them.

_headers: ContextVar[Mapping[str, str]] = ContextVar("turngate_trace_headers")


def trace_headers() -> dict[str, str]:
    """Headers `traceparent` (and `tracestate`) that belong to a call made here; empty when nobody traces."""
    return dict(_headers.get({}))


@contextmanager
def below(headers: Mapping[str, str]) -> Iterator[None]:
    """Calls made inside, in this thread and in tasks and threads that copy its context, carry `headers`."""
    token = _headers.set(headers)
    try:
        yield
    finally:
        _headers.reset(token)


# API keys come from the environment and stay there.

KeyName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]*(KEY|TOKEN|SECRET)[A-Za-z0-9_]*$")]
"""Name of an environment variable that holds a key. What a variable of such a name holds is redacted everywhere."""


def read_key(names: tuple[str, ...], wanted_by: str, optional: bool = False) -> str:
    """The first of the variables that is set; raises `MissingKey` when none is.

    With `optional` (a server of one's own) a missing key is the word `none`: client libraries insist on one.
    """
    found = next((os.environ[name].strip() for name in names if os.environ.get(name, "").strip()), None)
    if found:
        return found
    if optional:
        return "none"
    raise MissingKey(f"{wanted_by} needs an API key: export {names[0]}=...")


def missing_key(names: tuple[str, ...]) -> str | None:
    """What to do when none of the variables is set, in one line, or None."""
    return None if any(os.environ.get(name, "").strip() for name in names) else f"export {names[0]}=..."
