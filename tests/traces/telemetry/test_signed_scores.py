"""Scores below zero, which a histogram instrument of OpenTelemetry refuses, are sent like all others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

VALUES = [-7.25, 3.0, -120.5, 0.0]
SCORE = "turngate.evaluation.score"
SIGNED = {"signed": {"type": "scripted", "rule": "sequence", "values": VALUES, "direction": "lower"}}


def scores(path: Path, read_jsonl: Any, kind: str = "histogram") -> dict[str, Any]:
    """The only data point of the score metric in a file."""
    (metric,) = [metric for metric in read_jsonl(path, "metrics") if metric["name"] == SCORE]
    (point,) = metric[kind]["dataPoints"]
    found: dict[str, Any] = point
    return found


def below_zero(point: dict[str, Any]) -> int:
    """Scores in the buckets that end below zero."""
    bounds = [*point["explicitBounds"], float("inf")]
    return sum(int(count) for bound, count in zip(bounds, point["bucketCounts"], strict=True) if bound < 0)


def test_a_file_has_every_score(config: Any, run: Any, read_jsonl: Any, caplog: pytest.LogCaptureFixture) -> None:
    ended, _ = run(config(turns=4, evaluators=SIGNED, telemetry={"exporter": "jsonl"}))
    assert (ended.status, str(ended.dropped)) == ("complete", "nothing")
    assert caplog.messages == []
    path = ended.folder / "telemetry.jsonl"
    point = scores(path, read_jsonl)
    assert (point["count"], point["min"], point["max"]) == ("4", -120.5, 3.0)
    assert below_zero(point) == 2
    assert "sum" not in point  # backends take it for a counter, which cannot fall
    events = [{pair["key"]: pair["value"] for pair in event["attributes"]} for event in read_jsonl(path, "logRecords")]
    sent = [event["gen_ai.evaluation.score.value"]["doubleValue"] for event in events]
    assert sorted(sent) == sorted(VALUES)


def test_brisque_of_a_good_photograph_is_below_zero(config: Any, run: Any, read_jsonl: Any) -> None:
    settings = config(
        origin="skimage:camera",
        turns=2,
        editor={"type": "scripted", "default": "same"},
        evaluators=["brisque"],
        telemetry={"exporter": "jsonl"},
    )
    ended, view = run(settings)
    values = [attempt.scores["brisque"].value for attempt in view.attempts]
    assert len(values) == 2 and max(values) < 0
    assert not ended.dropped
    point = scores(ended.folder / "telemetry.jsonl", read_jsonl)
    assert (point["count"], point["min"], point["max"]) == ("2", min(values), max(values))
    assert below_zero(point) == 2


def test_a_collector_has_every_score(collector: Any, config: Any, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    ended, _ = run(config(turns=4, evaluators=SIGNED))
    assert not ended.dropped
    (point,) = collector.metric(SCORE)
    assert point.count == 4
    assert point.bounds[0] < 0
    assert point.exemplars


def test_exponential_histograms_take_them_too(
    config: Any, run: Any, read_jsonl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram")
    ended, _ = run(config(turns=4, evaluators=SIGNED, telemetry={"exporter": "jsonl"}))
    point = scores(ended.folder / "telemetry.jsonl", read_jsonl, "exponentialHistogram")
    assert (point["count"], point["zeroCount"], point["min"]) == ("4", "1", -120.5)
    assert sum(int(count) for count in point["negative"]["bucketCounts"]) == 2
    assert "sum" not in point


def test_an_application_chooses_between_the_last_score_and_their_distribution(make_run: Any) -> None:
    view = View(instrument_name=SCORE, aggregation=ExplicitBucketHistogramAggregation([-10, 0, 10]))
    for views, expected in (([], (-7.25, None)), ([view], (None, (0, 2, 1, 0)))):
        reader = InMemoryMetricReader()
        meters = MeterProvider([reader], views=views, shutdown_on_exit=False)
        made = make_run(f"run-{len(views)}")
        recorder = TelemetryRecorder(TelemetryConfig(), made.folder.path, meter_provider=meters)
        made.begin()
        recorder.started(made.info, 0)
        for turn, value in enumerate((-1.5, 3.0, -7.25), start=1):
            recorder.attempt(made.attempt(turn, scores=({"value": value},)))
        data = reader.get_metrics_data()
        assert data is not None
        (metric,) = [one for one in data.resource_metrics[0].scope_metrics[0].metrics if one.name == SCORE]
        (point,) = metric.data.data_points
        assert (getattr(point, "value", None), getattr(point, "bucket_counts", None)) == expected
        meters.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("exporter", ["jsonl", "otlp"])
def test_quiet_means_quiet(exporter: str, collector: Any, tmp_path: Path) -> None:
    settings = {
        "origin": "skimage:astronaut",
        "scenario": "replicate",
        "turns": 3,
        "editor": "scripted",
        "evaluators": SIGNED,
        "gate": "always_accept",
        "driver": "loop",
        "telemetry": {"exporter": exporter},
    }
    path = tmp_path / "run.yaml"  # JSON is YAML
    path.write_text(json.dumps(settings))
    program = "import sys; from turngate.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "run", str(path), "--out", str(tmp_path / "run"), "--quiet"]
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **variables})
    assert done.stderr == ""
    assert "not delivered" not in done.stdout
