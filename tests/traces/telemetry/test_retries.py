"""Editor calls that gave no image, and those that followed them."""

from __future__ import annotations

import hashlib
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Status

from ._run import MS, send


def test_calls_that_failed_within_an_attempt_are_siblings_and_linked_in_a_row(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    tries = [
        {"why": "per_minute", "seconds": 0.004, "waited": 0.01},
        {"why": "timeout", "seconds": 0.006, "waited": 0.002},
    ]
    send(run, collector, lambda: run.attempt(1, provider="gcp.gemini", tries=tries))
    first, second, last = collector.named("generate_content script-1")

    assert first.parent == second.parent == last.parent == collector.one("turn 1").span
    assert [span.attributes.get("error.type") for span in (first, second, last)] == ["per_minute", "timeout", None]
    assert [span.attributes.get("turngate.edit.try") for span in (first, second, last)] == [1, 2, None]
    assert [span.status for span in (first, second, last)] == [
        Status.STATUS_CODE_ERROR, Status.STATUS_CODE_ERROR, Status.STATUS_CODE_UNSET,
    ]  # fmt: skip
    assert (first.ended - first.started, second.started - first.ended) == (4 * MS, 10 * MS)
    assert (second.ended - second.started, last.started - second.ended) == (6 * MS, 2 * MS)
    assert last.ended - first.started == 40 * MS
    assert (first.links, second.links[0][1], last.links[0][1]) == ([], first.span, second.span)
    assert last.span == hashlib.sha256(b"run-1/1/1/edit").hexdigest()[:16]


def test_the_call_that_an_attempt_ended_with_is_the_attempt(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    tries = [{"why": "capacity", "seconds": 0.01, "waited": 0.01}, {"why": "capacity", "seconds": 0.02, "waited": 0.0}]
    lost = {"outcome": "no_image", "why": "unavailable", "detail": "full (2 tries)", "scores": ()}
    send(run, collector, lambda: run.attempt(1, verdict="reject", provider="openai", tries=tries, **lost))
    first, last = collector.named("generate_content script-1")
    assert [first.attributes["error.type"], last.attributes["error.type"]] == ["capacity", "unavailable"]
    assert last.started == first.ended + 10 * MS
    assert last.message == "full (2 tries)"


def test_no_image_is_an_error_and_the_retry_links_to_it(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    lost = {"outcome": "no_image", "why": "safety", "detail": "blocked by the provider", "retryable": True}
    send(
        run,
        collector,
        lambda: run.attempt(1, 1, verdict="reject", action="retry", scores=(), **lost),
        lambda: run.attempt(1, 2),
        lambda: run.attempt(2, 1),
    )
    first, second, next_turn = collector.named("generate_content script-1")

    assert (first.status, first.message) == (Status.STATUS_CODE_ERROR, "blocked by the provider")
    assert first.attributes["error.type"] == "safety"
    assert second.parent == first.parent
    assert second.links == [(first.trace, first.span, {"turngate.link.relation": "retry_of"})]
    assert next_turn.links == []
    turn = collector.one("turn 1")
    assert turn.started == first.started
    assert turn.attributes["turngate.turn.attempts"] == 2
    assert [span.attributes["turngate.gate.action"] for span in collector.named("gate")] == [
        "retry",
        "accept",
        "accept",
    ]
