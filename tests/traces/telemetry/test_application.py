"""turngate as a part of an application that has OpenTelemetry set up itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor, ReadWriteLogRecord
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.place import trace_id


class Keeping(LogRecordProcessor):
    """An application's own way to handle events."""

    def __init__(self) -> None:
        self.kept: list[ReadWriteLogRecord] = []

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self.kept.append(log_record)

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True

    def shutdown(self) -> None:
        """Nothing to close."""


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracers(memory: InMemorySpanExporter) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    return provider


def by_name(memory: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in memory.get_finished_spans()}


@pytest.mark.parametrize("trace_per", ["run", "turn"])
def test_spans_hang_below_what_is_current(
    trace_per: Any, config: Any, run: Any, tmp_path: Path, memory: InMemorySpanExporter, tracers: TracerProvider
) -> None:
    telemetry = TelemetryConfig(trace_per=trace_per)
    recorder = TelemetryRecorder(telemetry, tmp_path / "run", tracer_provider=tracers)
    editor = {"type": "scripted", "script": {"1.1": "no_image:safety"}}
    on_reject = {"attempts": 2, "then": "skip"}
    with tracers.get_tracer("application").start_as_current_span("my job") as job:
        ended, view = run(config(turns=2, editor=editor, on_reject=on_reject), observers=[recorder])
    assert not ended.dropped and not recorder.close()
    spans = by_name(memory)
    assert len(memory.get_finished_spans()) == 1 + 1 + 2 + 3 * 3  # no second recorder beside the given one
    root, turn, edit = (spans[name] for name in ("invoke_workflow turngate", "turn 1", "generate_content scripted"))
    assert root.context is not None and turn.context is not None and edit.parent is not None
    assert root.parent is not None and root.parent.span_id == job.get_span_context().span_id
    assert root.context.trace_id == job.get_span_context().trace_id != trace_id(view.info.run)
    if trace_per == "run":
        assert turn.parent is not None and turn.parent.span_id == root.context.span_id
    else:
        assert turn.parent is None and turn.context.trace_id != root.context.trace_id
        assert turn.links[0].context.span_id == root.context.span_id
    retried = [span for span in memory.get_finished_spans() if span.links and span.name == edit.name]
    assert len(retried) == 1


def test_events_and_metrics_go_there_too(make_run: Any, memory: InMemorySpanExporter, tracers: TracerProvider) -> None:
    events, reader = Keeping(), InMemoryMetricReader()
    loggers = LoggerProvider(shutdown_on_exit=False)
    loggers.add_log_record_processor(events)
    meters = MeterProvider([reader], shutdown_on_exit=False)
    run = make_run()
    recorder = TelemetryRecorder(
        TelemetryConfig(), run.folder.path, tracer_provider=tracers, logger_provider=loggers, meter_provider=meters
    )
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1))
    recorder.ended("complete", None, 0)
    (event,) = events.kept
    edit = by_name(memory)["generate_content script-1"].context
    assert edit is not None
    assert (event.log_record.trace_id, event.log_record.span_id) == (edit.trace_id, edit.span_id)
    data = reader.get_metrics_data()
    assert data is not None
    metrics = {metric.name for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    assert {"turngate.gate.decisions", "gen_ai.client.operation.duration"} <= metrics
    meters.shutdown()


GLOBAL = """
import sys
from pathlib import Path
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from turngate import parse_config, start_run
memory, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)
settings = {{"origin": "skimage:astronaut", "scenario": "replicate", "turns": 1, "editor": "scripted",
    "evaluators": [], "gate": "always_accept", "driver": "loop", "telemetry": {telemetry}}}
ended = start_run(parse_config(settings, "test"), Path(sys.argv[1]))
print(sorted(span.name for span in memory.get_finished_spans()), ended.dropped.events, ended.dropped.spans)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("telemetry", "expected"),
    [
        ({}, "['gate', 'generate_content scripted', 'invoke_workflow turngate', 'turn 1'] 0 0"),
        ({"signals": ["metrics"]}, "[] 0 0"),
        ({"exporter": "none"}, "[] 0 0"),
        ({"exporter": "jsonl"}, "[] 0 0"),
    ],
)
def test_providers_that_are_set_globally_are_taken(telemetry: Any, expected: str, tmp_path: Path) -> None:
    program = GLOBAL.format(telemetry=telemetry)
    command = [sys.executable, "-c", program, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
    assert (tmp_path / "run" / "telemetry.jsonl").exists() == (telemetry.get("exporter") == "jsonl")
