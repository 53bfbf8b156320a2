"""The one layer that retries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from turngate.providers.calling import RETRIED, Called, CallFailure, FailureKind, RetryConfig, call, run_blocking

QUICK = RetryConfig(tries=4, deadline_seconds=0.05, first_wait_seconds=0, longest_wait_seconds=60)


class Refused(Exception):
    """A failed call, with what it means."""

    def __init__(self, failure: CallFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def classify(error: Exception) -> CallFailure | None:
    return error.failure if isinstance(error, Refused) else None


def failing(*failures: CallFailure) -> Callable[[], Awaitable[str]]:
    left = list(failures)

    async def make() -> str:
        if left:
            raise Refused(left.pop(0))
        return "answer"

    return make


def ask(make: Callable[[], Awaitable[str]], retry: RetryConfig = QUICK) -> Called[str]:
    return run_blocking(call(make, classify, retry, seed=1))


def test_failed_calls_before_the_answer_are_told() -> None:
    called = ask(failing(CallFailure("capacity", "full"), CallFailure("unavailable", "503")))
    assert called.answer == "answer"
    assert [one.why for one in called.tries] == ["capacity", "unavailable"]


def test_the_wait_that_the_provider_asks_for_is_kept_and_counted() -> None:
    called = ask(failing(CallFailure("per_minute", "slow down", wait=0.02)))
    assert [one.waited for one in called.tries] == [0.02]
    assert called.waited == pytest.approx(0.02)


def test_a_longer_wait_than_allowed_ends_the_tries() -> None:
    called = ask(failing(CallFailure("per_minute", "slow down", wait=3600)))
    assert called.answer is None
    assert called.failure is not None
    assert called.failure.wait == 3600
    assert len(called.tries) == 1


@pytest.mark.parametrize("kind", ["per_day", "bad_request", "conversation", "auth", "not_found", "moderation"])
def test_what_no_other_try_can_mend_is_asked_once(kind: FailureKind) -> None:
    called = ask(failing(CallFailure(kind, "no"), CallFailure(kind, "no")))
    assert called.answer is None
    assert [one.why for one in called.tries] == [kind]


def test_a_call_that_never_answers_is_given_up_tried_again_and_is_not_working_time() -> None:
    hung: list[bool] = []

    async def make() -> str:
        if not hung:
            hung.append(True)
            await asyncio.sleep(60)
        return "answer"

    called = ask(make)
    assert called.answer == "answer"
    assert [one.why for one in called.tries] == ["timeout"]
    assert called.waited >= 0.05


def test_a_bug_is_not_tried_again() -> None:
    async def make() -> str:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        ask(make)


def test_pauses_come_from_the_seed_and_grow() -> None:
    retry = RetryConfig(tries=4, first_wait_seconds=0.002, longest_wait_seconds=1)
    failures = [CallFailure("capacity", "full")] * 3
    waits = [[one.waited for one in ask(failing(*failures), retry).tries] for _ in range(2)]
    assert waits[0] == waits[1]
    for number, wait in enumerate(waits[0]):
        assert 0.5 * 0.002 * 2**number <= wait <= 1.5 * 0.002 * 2**number


@given(st.lists(st.sampled_from(sorted(RETRIED)), max_size=6), st.integers(1, 5))
def test_never_more_calls_than_allowed_and_every_failure_is_told(kinds: list[FailureKind], tries: int) -> None:
    retry = RetryConfig(tries=tries, first_wait_seconds=0)
    called = ask(failing(*(CallFailure(kind, "no") for kind in kinds)), retry)
    assert len(called.tries) == min(len(kinds), tries)
    assert (called.answer is None) == (len(kinds) >= tries)
    assert [one.why for one in called.tries] == kinds[:tries]


def test_blocking_works_where_a_loop_already_runs() -> None:
    async def notebook() -> str | None:
        return ask(failing()).answer

    assert asyncio.run(notebook()) == "answer"


def test_blocking_passes_an_exception_on_from_its_thread() -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    async def notebook() -> None:
        run_blocking(broken())

    with pytest.raises(ZeroDivisionError):
        asyncio.run(notebook())


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValidationError):
        RetryConfig(tries=0)
    with pytest.raises(ValidationError):
        RetryConfig(deadline_seconds=float("inf"))
