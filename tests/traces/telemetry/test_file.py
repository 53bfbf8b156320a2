"""The JSON lines file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk.resources import Resource

from turngate.traces.telemetry import Dropped, TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.channel import open_channel
from turngate.traces.telemetry.jsonl import LinesFile, sink

from ._run import drive

FILE = TelemetryConfig(exporter="jsonl")


def test_one_line_per_span_and_it_is_appended_to(make_run: Any, read_jsonl: Any) -> None:
    run = make_run()
    path = run.folder.path / "telemetry.jsonl"
    path.write_text('{"resourceSpans": [{"sco')  # a process was killed while it wrote
    recorder = TelemetryRecorder(FILE, run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    torn, *lines = path.read_text(encoding="utf-8").splitlines()
    assert torn == '{"resourceSpans": [{"sco'
    path.write_text("\n".join(lines))
    spans = read_jsonl(path)
    assert len(spans) == 1 + 2 * 4
    turn, root = (
        next(span for span in spans if span["name"] == name) for name in ("turn 1", "invoke_workflow turngate")
    )
    assert turn["parentSpanId"] == root["spanId"]
    assert turn["traceId"] == root["traceId"] and len(turn["traceId"]) == 32
    assert int(turn["endTimeUnixNano"]) - int(turn["startTimeUnixNano"]) == 60_000_000
    attributes = {pair["key"]: pair["value"] for pair in turn["attributes"]}
    assert attributes["turngate.turn.index"] == {"intValue": "1"}
    assert attributes["turngate.turn.closed"] == {"boolValue": True}
    for line in lines:
        ((_, (message,)),) = json.loads(line).items()
        assert {"key": "service.name", "value": {"stringValue": "turngate"}} in message["resource"]["attributes"]


def test_every_line_is_one_message_of_otlp(make_run: Any) -> None:
    run = make_run(capture_content=True)
    recorder = TelemetryRecorder(FILE, run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    messages: dict[str, Any] = {"resourceSpans": TracesData, "resourceLogs": LogsData, "resourceMetrics": MetricsData}
    found: Counter[str] = Counter()
    for line in (run.folder.path / "telemetry.jsonl").read_text(encoding="utf-8").splitlines():
        (kind,) = json.loads(line)
        ParseDict(json.loads(line), messages[kind]())  # refuses fields and types that are not OTLP's
        found[kind] += 1
    assert found == {"resourceSpans": 1 + 2 * 4, "resourceLogs": 2, "resourceMetrics": 1}


def test_numbers_that_are_not_finite_have_names(tmp_path: Path) -> None:
    file = tmp_path / "telemetry.jsonl"
    channel = open_channel("traces", sink(LinesFile(file), "traces"), Resource({}), 100)
    numbers = {"a": float("inf"), "b": float("-inf"), "c": float("nan"), "d": 2**62}
    channel.provider.get_tracer("test").start_span("span", attributes=numbers).end()
    channel.close()
    assert channel.dropped == 0
    (span,) = json.loads(file.read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [pair["value"] for pair in span["attributes"]] == [
        {"doubleValue": "Infinity"}, {"doubleValue": "-Infinity"}, {"doubleValue": "NaN"}, {"intValue": str(2**62)},
    ]  # fmt: skip


def test_events_hang_on_the_spans_of_the_file(make_run: Any, read_jsonl: Any) -> None:
    run = make_run()
    recorder = TelemetryRecorder(FILE, run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    path = run.folder.path / "telemetry.jsonl"
    edits = {span["spanId"] for span in read_jsonl(path) if span["name"].startswith("generate_content")}
    events = read_jsonl(path, "logRecords")
    assert {event["spanId"] for event in events} == edits
    assert {event["eventName"] for event in events} == {"gen_ai.evaluation.result"}
    score = {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 3.5}}
    assert all(score in event["attributes"] for event in events)


@pytest.mark.parametrize(("preference", "temporality"), [(None, 2), ("cumulative", 2), ("delta", 1)])
def test_metrics_are_valid_otlp(
    make_run: Any, read_jsonl: Any, monkeypatch: pytest.MonkeyPatch, preference: str | None, temporality: int
) -> None:
    if preference is not None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference)
    run = make_run()
    recorder = TelemetryRecorder(FILE, run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    path = run.folder.path / "telemetry.jsonl"
    (line,) = [line for line in path.read_text().splitlines() if "resourceMetrics" in line]
    data = ParseDict(json.loads(line), MetricsData())
    metrics = {metric.name: metric for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    decisions, scores = metrics["turngate.gate.decisions"].sum, metrics["turngate.evaluation.score"].histogram
    assert decisions.is_monotonic and decisions.data_points[0].as_int == 2
    assert scores.data_points[0].count == 2 and scores.data_points[0].sum == 7.0
    assert sum(scores.data_points[0].bucket_counts) == 2
    assert decisions.aggregation_temporality == scores.aggregation_temporality == temporality


def test_a_file_that_cannot_be_written_is_counted(make_run: Any) -> None:
    run = make_run()
    (run.folder.path / "telemetry.jsonl").mkdir()
    recorder = TelemetryRecorder(FILE, run.folder.path)
    drive(run, recorder)
    dropped = recorder.close()
    assert dropped == recorder.dropped == Dropped(spans=1 + 2 * 4, events=2, points=dropped.points)
    assert dropped.points > 0
