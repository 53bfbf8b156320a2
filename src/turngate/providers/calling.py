"""The one layer that retries calls to a provider."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from turngate.providers.failure import RETRIED, Failure
from turngate.providers.tries import Try

__all__ = ["Called", "RetryConfig", "call"]

T = TypeVar("T")


class RetryConfig(BaseModel):
    """How often and how patiently a provider is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

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
    failure: Failure | None
    tries: tuple[Try, ...]
    """The failed calls, oldest first."""

    @property
    def waited(self) -> float:
        """Seconds in which nothing was worked on: pauses, and calls that never answered."""
        return sum(one.waited + (one.seconds if one.why == "timeout" else 0.0) for one in self.tries)


async def call(
    make: Callable[[], Awaitable[T]], classify: Callable[[Exception], Failure | None], retry: RetryConfig, seed: int
) -> Called[T]:
    """Await `make()` until it answers or trying again is pointless.

    `classify` turns an exception of the client library into a `Failure`, or into None for a bug, which is raised.
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
            failure: Failure | None = Failure("timeout", f"no whole answer within {retry.deadline_seconds:g} s")
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
