"""Where spans go, and what a collector that does not work costs."""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import TracerProvider, get_tracer_provider

from turngate.errors import ConfigError
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.choice import chosen_exporter

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def drive(run: Any, recorder: TelemetryRecorder, turns: int = 2) -> None:
    run.begin()
    recorder.started(run.info, 0)
    for turn in range(1, turns + 1):
        recorder.attempt(run.attempt(turn))
    run.finish()
    recorder.ended("complete", None, 0)


@pytest.mark.parametrize(
    ("exporter", "variables", "expected"),
    [
        ("auto", {}, "none"),
        ("auto", {ENDPOINT: "http://c:4318"}, "otlp"),
        ("auto", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, "otlp"),
        ("auto", {"OTEL_TRACES_EXPORTER": "otlp"}, "otlp"),
        ("auto", {"OTEL_TRACES_EXPORTER": "console, otlp"}, "otlp"),
        ("auto", {"OTEL_TRACES_EXPORTER": "none", ENDPOINT: "http://c:4318"}, "none"),
        ("auto", {"OTEL_SDK_DISABLED": "true", ENDPOINT: "http://c:4318"}, "none"),
        ("none", {ENDPOINT: "http://c:4318"}, "none"),
        ("jsonl", {ENDPOINT: "http://c:4318"}, "jsonl"),
        ("jsonl", {"OTEL_SDK_DISABLED": "TRUE"}, "none"),
        ("otlp", {"OTEL_TRACES_EXPORTER": "none"}, "otlp"),
        ("otlp", {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "none"),
        (
            "otlp",
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"},
            "otlp",
        ),
    ],
)
def test_choice_of_the_exporter(exporter: Any, variables: dict[str, str], expected: str) -> None:
    assert chosen_exporter(TelemetryConfig(exporter=exporter), variables) == expected


def test_standard_variables_alone_turn_it_on(collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, collector.url)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-study")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(), run.folder.path)
    drive(run, recorder)
    assert recorder.close() == 0
    assert len(collector.spans) == 1 + 2 * 4
    assert collector.resources[0]["service.name"] == "my-study"


def test_off_sends_nothing_and_starts_no_thread(make_run: Any) -> None:
    before = threading.active_count()
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(), run.folder.path)
    drive(run, recorder)
    assert not recorder.on
    assert threading.active_count() == before
    assert recorder.close() == recorder.dropped == 0
    assert not (run.folder.path / "telemetry.jsonl").exists()


def test_none_wins_over_a_given_provider(make_run: Any) -> None:
    provider: TracerProvider = get_tracer_provider()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="none"), make_run().folder.path, tracer_provider=provider)
    assert not recorder.on


def test_the_file_has_one_span_per_line_and_is_appended_to(make_run: Any, read_jsonl: Any) -> None:
    run = make_run()
    path = run.folder.path / "telemetry.jsonl"
    path.write_text('{"resourceSpans": [{"sco')  # a process was killed while it wrote
    recorder = TelemetryRecorder(TelemetryConfig(exporter="jsonl"), run.folder.path)
    drive(run, recorder)
    assert recorder.close() == 0
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
    resource = json.loads(lines[0])["resourceSpans"][0]["resource"]["attributes"]
    assert {"key": "service.name", "value": {"stringValue": "turngate"}} in resource


def test_a_file_that_cannot_be_written_is_counted(make_run: Any) -> None:
    run = make_run()
    (run.folder.path / "telemetry.jsonl").mkdir()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="jsonl"), run.folder.path)
    drive(run, recorder)
    assert recorder.close() == recorder.dropped == 1 + 2 * 4


def test_a_dead_collector_is_counted_said_once_and_does_not_hold_up_the_end(
    make_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = make_run()
    recorder = TelemetryRecorder(
        TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=f"http://u:pass1@127.0.0.1:{port}"
    )
    with caplog.at_level(logging.INFO):
        drive(run, recorder)
        began = time.monotonic()
        dropped = recorder.close(timeout_seconds=1)
    # Alone the SDK would wait for its retries: 10 s and more. The bound itself is the behaviour that is tested.
    assert time.monotonic() - began < 5
    assert dropped == recorder.dropped == 1 + 2 * 4
    warnings = [entry for entry in caplog.records if entry.levelno >= logging.WARNING]
    assert len(warnings) <= 1
    assert "pass1" not in caplog.text
    assert recorder.close() == dropped


def test_a_collector_that_hangs_does_not_hold_up_the_end(collector: Any, make_run: Any) -> None:
    collector.hold.set()
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
    drive(run, recorder)
    began = time.monotonic()
    assert recorder.close(timeout_seconds=0.5) == 1 + 2 * 4
    assert time.monotonic() - began < 5
    collector.release.set()


def test_a_collector_that_refuses_is_counted(collector: Any, make_run: Any, caplog: pytest.LogCaptureFixture) -> None:
    collector.answer = 413
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
    drive(run, recorder)
    assert recorder.close() == 1 + 2 * 4
    assert len([entry for entry in caplog.records if entry.levelno >= logging.WARNING]) == 1
    assert "the run goes on" in caplog.text


def test_what_a_full_queue_throws_away_is_counted(
    collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "512")
    collector.hold.set()
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    record = run.attempt(1, action="retry", verdict="reject")
    for _ in range(500):
        recorder.attempt(record)
    recorder.ended("stopped", None, 0)
    collector.hold.clear()
    collector.release.set()
    dropped = recorder.close()
    assert dropped > 0
    assert dropped + len(collector.spans) == 500 * 3 + 2


def test_an_endpoint_that_is_no_url_is_the_users_fault(make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run().folder.path
    with pytest.raises(ConfigError, match="http://localhost:4318"):
        TelemetryRecorder(TelemetryConfig(exporter="otlp"), folder, endpoint="collector:4318")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "3")
    with pytest.raises(ConfigError, match="OTEL_BSP"):
        TelemetryRecorder(TelemetryConfig(exporter="otlp"), folder, endpoint="http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER", "nobody")
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP"):
        TelemetryRecorder(TelemetryConfig(exporter="otlp"), folder, endpoint="http://127.0.0.1:1")


def test_import_loads_no_sdk(make_run: Any) -> None:
    folder: Path = make_run().folder.path
    program = (
        "import sys\n"
        "from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run\n"
        f"TelemetryRecorder(TelemetryConfig(), {str(folder)!r})\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('opentelemetry', 'requests')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
