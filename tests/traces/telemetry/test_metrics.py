"""Metrics as a collector receives them."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

from ._run import RETRY

OTLP = TelemetryConfig(exporter="otlp")
MADE = {"gen_ai.operation.name": "generate_content", "gen_ai.request.model": "script-1"}


@pytest.fixture
def measured(collector: Any, make_run: Any) -> Any:
    """Two turns: an unavailable provider and a rejection before turn 1 closes, then one plain turn."""
    run = make_run()
    recorder = TelemetryRecorder(OTLP, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    served = {"provider": "gcp.gemini", "model": "script-1-0099", "cost_usd": 0.04}
    tokens = {"input_tokens": 300, "output_tokens": 1290}
    lost = {"outcome": "no_image", "why": "unavailable", "scores": ({"status": "skipped", "why": "no_image"},)}
    tries = [{"why": "per_minute", "seconds": 0.008, "waited": 0.002}]
    recorder.attempt(run.attempt(1, 1, provider="gcp.gemini", **lost, **RETRY))
    judge = {"value": 9.0, "usage": {"calls": 2, "input_tokens": 900, "output_tokens": 40, "cost_usd": 0.001}}
    recorder.attempt(run.attempt(1, 2, scores=(judge,), **served, **tokens, **RETRY))
    recorder.attempt(run.attempt(1, 3, scores=({"value": 4.0},), tries=tries, **served, **tokens))
    recorder.attempt(run.attempt(2, 1, scores=({"status": "failed", "why": "TimeoutError"},), **served))
    run.finish()
    recorder.ended("complete", None, 0)
    assert not recorder.close()
    return collector


def by(points: Any, *names: str) -> dict[tuple[Any, ...], Any]:
    return {tuple(point.attributes.get(name) for name in names): point for point in points}


def test_duration_of_calls(measured: Any) -> None:
    points = by(measured.metric("gen_ai.client.operation.duration"), "error.type", "gen_ai.response.model")
    assert {key: point.count for key, point in points.items()} == {
        ("unavailable", None): 1, ("per_minute", None): 1, (None, "script-1-0099"): 3,
    }  # fmt: skip
    assert points["per_minute", None].value == pytest.approx(0.008)
    assert points[None, "script-1-0099"].value == pytest.approx(0.04 + 0.03 + 0.04)
    for point in points.values():
        assert (point.unit, point.bounds[0], point.bounds[-1]) == ("s", 0.01, 81.92)
        assert {**MADE, "gen_ai.provider.name": "gcp.gemini"}.items() <= point.attributes.items()


def test_tokens_and_cost(measured: Any) -> None:
    points = by(measured.metric("gen_ai.client.token.usage"), "gen_ai.token.type")
    assert {key: (point.count, point.value) for key, point in points.items()} == {
        ("input",): (2, 600.0), ("output",): (2, 2580.0),
    }  # fmt: skip
    assert (points["input",].unit, points["input",].bounds[-1]) == ("{token}", 67108864)
    cost = by(measured.metric("turngate.cost"), "turngate.cost.of", "gen_ai.evaluation.name")
    assert {key: round(point.value, 6) for key, point in cost.items()} == {
        ("editor", None): 0.12, ("evaluator", "niqe"): 0.001,
    }  # fmt: skip
    spans = [span.attributes for span in measured.named("evaluate niqe")]
    assert [span.get("gen_ai.usage.input_tokens") for span in spans] == [None, 900, None, None]
    assert [span.get("turngate.evaluation.cost_usd") for span in spans] == [None, 0.001, None, None]


def test_scores_have_a_point_only_when_there_is_a_score(measured: Any) -> None:
    (point,) = measured.metric("turngate.evaluation.score")
    assert (point.count, point.value) == (2, 13.0)
    assert point.attributes["gen_ai.evaluation.name"] == "niqe"
    assert point.attributes["turngate.evaluation.direction"] == "lower"


def test_decisions_turns_and_retries(measured: Any) -> None:
    decisions = by(measured.metric("turngate.gate.decisions"), "turngate.gate.verdict", "turngate.gate.action")
    assert {key: point.value for key, point in decisions.items()} == {("reject", "retry"): 2, ("accept", "accept"): 2}
    (turns,) = measured.metric("turngate.turn.duration")
    assert (turns.count, turns.value) == (2, pytest.approx(0.26 + 0.06))
    retries = by(measured.metric("turngate.edit.retries"), "turngate.retry.level", "error.type")
    assert {key: point.value for key, point in retries.items()} == {
        ("attempt", "unavailable"): 1, ("attempt", "rejected"): 1, ("call", "per_minute"): 1,
    }  # fmt: skip


def test_examples_name_the_spans_they_come_from(measured: Any) -> None:
    edits = {span.span for span in measured.named("generate_content script-1")}
    examples = [span for point in measured.metric("turngate.evaluation.score") for span in point.exemplars]
    assert examples and set(examples) <= edits


@pytest.mark.parametrize(
    ("preference", "temporality"),
    [
        ("cumulative", AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE),
        ("delta", AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA),
    ],
)
def test_cumulative_or_delta_as_the_backend_wants(
    preference: str, temporality: int, collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference)
    run = make_run()
    recorder = TelemetryRecorder(OTLP, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1))
    assert not recorder.close()
    assert {point.temporality for point in collector.points} == {temporality}


def test_a_resumed_process_counts_only_what_it_did_itself(collector: Any, make_run: Any) -> None:
    run = make_run()
    first = TelemetryRecorder(OTLP, run.folder.path, endpoint=collector.url)
    run.begin()
    first.started(run.info, 0)
    first.attempt(run.attempt(1, 1, **RETRY))
    assert not first.close()
    collector.points.clear()
    second = TelemetryRecorder(OTLP, run.folder.path, endpoint=collector.url)
    run.begin()
    second.started(run.info, 0)
    second.attempt(run.attempt(1, 2))
    assert not second.close()
    assert [point.value for point in collector.metric("turngate.gate.decisions")] == [1]
    (turn,) = collector.metric("turngate.turn.duration")
    assert turn.value == pytest.approx(0.16)  # the whole turn, the first process's attempt included
    (retry,) = collector.metric("turngate.edit.retries")
    assert retry.attributes["error.type"] == "rejected"
