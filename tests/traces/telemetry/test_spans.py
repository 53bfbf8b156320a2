"""The span tree as a collector receives it."""

from __future__ import annotations

import hashlib
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ._run import MS, send


def test_tree_ids_and_times_of_a_run(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    dropped = send(run, collector, *(lambda turn=turn: run.attempt(turn, provider="gcp.gemini") for turn in (1, 2, 3)))

    assert not dropped
    assert len(collector.spans) == 1 + 3 * 4
    assert {span.trace for span in collector.spans} == {hashlib.sha256(b"run-1").hexdigest()[:32]}
    root = collector.one("invoke_workflow turngate")
    assert root.parent is None
    assert root.span == hashlib.sha256(b"run-1/run").hexdigest()[:16]
    for turn in (1, 2, 3):
        parent = collector.one(f"turn {turn}")
        assert parent.parent == root.span
        children = {span.name: span for span in collector.spans if span.parent == parent.span}
        assert set(children) == {"generate_content script-1", "evaluate niqe", "gate"}
        edit = children["generate_content script-1"]
        assert edit.span == hashlib.sha256(f"run-1/{turn}/1/edit".encode()).hexdigest()[:16]
        assert parent.started == edit.started < edit.ended < children["evaluate niqe"].started
        assert children["gate"].started == children["evaluate niqe"].ended
        assert parent.ended == children["gate"].ended == edit.started + 60 * MS
        assert edit.kind == Span.SPAN_KIND_CLIENT
        assert children["gate"].kind == Span.SPAN_KIND_INTERNAL


def test_the_root_has_the_times_of_the_ledger_and_says_what_was_run(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    send(run, collector, lambda: run.attempt(1, cost_usd=0.04), status="budget_exhausted", reason="4 cents")
    root = collector.one("invoke_workflow turngate")
    ledger = run.folder.ledger()
    started, ended = ledger.events()
    ledger.close()

    assert (root.started, root.ended) == (started.at_ns, ended.at_ns)
    assert root.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert root.attributes["gen_ai.agent.name"] == "turngate"
    assert root.attributes["turngate.run.status"] == "budget_exhausted"
    assert root.attributes["turngate.run.reason"] == "4 cents"
    assert root.attributes["turngate.run.attempts"] == 1
    assert root.attributes["turngate.run.cost_usd"] == 0.04
    assert root.attributes["turngate.run.evaluators"] == ["niqe"]
    assert root.status == Status.STATUS_CODE_UNSET
    assert collector.resources[0]["service.name"] == "turngate"
    assert collector.scopes[0] == ("turngate", {"turngate.gen_ai.conventions": "0.1.0"})


def test_a_failed_run_is_an_error(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    send(run, collector, status="failed", reason="the disk is full")
    root = collector.one("invoke_workflow turngate")
    assert (root.status, root.message) == (Status.STATUS_CODE_ERROR, "the disk is full")
    assert root.attributes["error.type"] == "failed"


def test_editor_span_has_request_response_usage_and_truth(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    usage = {"input_tokens": 310, "output_tokens": 1290, "reasoning_tokens": 77, "cost_usd": 0.039}
    served = {"provider": "gcp.gemini", "response_id": "r-77", "finish_reason": "STOP", "model": "script-1-0099"}
    send(run, collector, lambda: run.attempt(1, truth=18.5, flags=["size_changed"], **usage, **served))
    edit = collector.one("generate_content script-1")
    expected = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "script-1",
        "gen_ai.response.model": "script-1-0099",
        "gen_ai.response.id": "r-77",
        "gen_ai.response.finish_reasons": ["STOP"],
        "gen_ai.request.seed": 1001,
        "gen_ai.output.type": "image",
        "gen_ai.conversation.id": "run-1",
        "gen_ai.usage.input_tokens": 310,
        "gen_ai.usage.output_tokens": 1290,
        "gen_ai.usage.reasoning.output_tokens": 77,
        "turngate.edit.cost_usd": 0.039,
        "turngate.edit.flags": ["size_changed"],
        "turngate.edit.outcome": "edited",
        "turngate.turn.index": 1,
        "turngate.attempt.index": 1,
        "turngate.image.input": "0" * 64,
        "turngate.image.width": 64,
        "turngate.truth.measure": "psnr",
        "turngate.truth.value": 18.5,
        "turngate.truth.damaged": True,
    }
    assert {name: edit.attributes.get(name) for name in expected} == expected
    assert "error.type" not in edit.attributes
    assert edit.kind == Span.SPAN_KIND_CLIENT


def test_a_local_editor_is_no_client_and_has_no_provider(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    send(run, collector, lambda: run.attempt(1, seed=None))
    edit = collector.one("generate_content script-1")
    assert edit.kind == Span.SPAN_KIND_INTERNAL
    missing = {"gen_ai.provider.name", "gen_ai.response.id", "gen_ai.response.finish_reasons", "gen_ai.request.seed"}
    assert not missing & set(edit.attributes)


def test_evaluations_have_a_value_only_when_scored(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    scores = (
        {"evaluator": "niqe", "value": 4.25, "label": "sharp", "components": {"ggd": 0.5}, "tries": 2},
        {"evaluator": "judge", "status": "unscored", "why": "parse", "direction": "higher"},
        {"evaluator": "clip", "status": "failed", "why": "TimeoutError", "fault": "provider", "detail": "no answer"},
        {"evaluator": "psnr", "status": "skipped", "why": "no_image", "direction": "higher"},
    )
    send(run, collector, lambda: run.attempt(1, scores=scores))
    niqe, judge, clip, psnr = (collector.one(f"evaluate {name}") for name in ("niqe", "judge", "clip", "psnr"))

    assert niqe.attributes["gen_ai.evaluation.name"] == "niqe"
    assert niqe.attributes["gen_ai.evaluation.score.value"] == 4.25
    assert niqe.attributes["gen_ai.evaluation.score.label"] == "sharp"
    assert niqe.attributes["turngate.evaluation.direction"] == "lower"
    assert niqe.attributes["turngate.evaluation.component.ggd"] == 0.5
    assert niqe.attributes["turngate.evaluation.tries"] == 2
    for span in (judge, clip, psnr):
        assert "gen_ai.evaluation.score.value" not in span.attributes
    statuses = [span.attributes["turngate.evaluation.status"] for span in (niqe, judge, clip, psnr)]
    assert statuses == ["scored", "unscored", "failed", "skipped"]
    errors = [span.attributes.get("error.type") for span in (niqe, judge, clip, psnr)]
    assert errors == [None, "parse", "TimeoutError", None]
    assert (clip.status, clip.message) == (Status.STATUS_CODE_ERROR, "no answer")
    assert judge.status == psnr.status == Status.STATUS_CODE_UNSET


def test_gate_and_turn_say_what_was_decided_and_which_image_is_current(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    send(run, collector, lambda: run.attempt(1), lambda: run.attempt(2, verdict="reject", action="rollback"))
    gate, turn = collector.named("gate")[1], collector.one("turn 2")

    assert gate.attributes["turngate.gate.verdict"] == "reject"
    assert gate.attributes["turngate.gate.action"] == "rollback"
    assert gate.attributes["turngate.gate.rule"] == "gate"
    assert gate.attributes["turngate.gate.reason"].startswith("niqe 3.5 is within")
    assert gate.attributes["turngate.gate.evidence.limit"] == 3.8
    assert gate.attributes["turngate.gate.threshold.niqe"] == 3.8
    assert turn.attributes["turngate.image.before"] == f"{1:032x}{1:032x}"
    assert turn.attributes["turngate.image.after"] == "0" * 64
    assert turn.attributes["turngate.gate.verdict"] == "reject"
    assert turn.attributes["turngate.turn.closed"] is True
    assert collector.one("turn 1").attributes["turngate.image.before"] == "0" * 64
