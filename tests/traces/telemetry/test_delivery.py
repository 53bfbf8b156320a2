"""What a collector that does not work costs: nothing but what it loses, which is counted."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

from ._collector import listening
from ._run import RETRY, drive
from ._waiting import free_port, wait_until

SPANS, EVENTS = 1 + 2 * 4, 2
"""Of a run of two turns."""


def recorder_for(run: Any, url: str, flush_seconds: float = 5) -> TelemetryRecorder:
    config = TelemetryConfig(exporter="otlp", flush_seconds=flush_seconds)
    return TelemetryRecorder(config, run.folder.path, endpoint=url)


def test_a_dead_collector_is_counted_said_once_and_does_not_hold_up_the_end(
    make_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    run = make_run()
    recorder = recorder_for(run, f"http://u:pass1@127.0.0.1:{free_port()}", flush_seconds=1)
    with caplog.at_level(logging.INFO):
        drive(run, recorder)
        began = time.monotonic()
        dropped = recorder.close()
    # Alone the SDK would wait for its retries: 10 s and more. The bound itself is the behaviour that is tested.
    assert time.monotonic() - began < 5
    assert (dropped.spans, dropped.events) == (SPANS, EVENTS)
    assert dropped.points > 0
    warnings = [entry for entry in caplog.records if entry.levelno >= logging.WARNING]
    assert len(warnings) <= 3
    assert "pass1" not in caplog.text
    assert recorder.close() == dropped == recorder.dropped


@pytest.mark.slow
def test_a_collector_that_hangs_holds_up_neither_the_loop_nor_the_end(collector: Any, make_run: Any) -> None:
    collector.hold.set()
    run = make_run()
    recorder = recorder_for(run, collector.url, flush_seconds=0.5)
    drive(run, recorder, turns=100)  # comes back though nothing is answered
    began = time.monotonic()
    dropped = recorder.close()
    assert time.monotonic() - began < 5
    assert (dropped.spans, dropped.events) == (1 + 100 * 4, 100)
    assert dropped.points > 0
    collector.release.set()


def test_a_collector_that_refuses_is_counted_per_signal(
    collector: Any, make_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    collector.answers = {"/v1/traces": 413}
    run = make_run()
    recorder = recorder_for(run, collector.url)
    drive(run, recorder)
    dropped = recorder.close()
    assert (dropped.spans, dropped.events, dropped.points) == (SPANS, 0, 0)
    assert str(dropped) == f"{SPANS} spans"
    assert len(collector.events) == EVENTS
    (warning,) = [entry.getMessage() for entry in caplog.records if entry.levelno >= logging.WARNING]
    assert "takes no spans: they are lost" in warning


def test_a_backend_without_logs_and_metrics_still_gets_the_spans(collector: Any, make_run: Any) -> None:
    collector.answers = {"/v1/logs": 405, "/v1/metrics": 405}
    run = make_run()
    recorder = recorder_for(run, collector.url)
    drive(run, recorder)
    dropped = recorder.close()
    assert (dropped.spans, dropped.events) == (0, EVENTS)
    assert dropped.points > 0
    assert len(collector.spans) == SPANS


@pytest.mark.slow
def test_a_collector_that_dies_in_mid_run_is_counted(make_run: Any) -> None:
    run = make_run()
    run.begin()
    with listening() as collector:
        recorder = recorder_for(run, collector.url, flush_seconds=1)
        recorder.started(run.info, 0)
        recorder.attempt(run.attempt(1))
        wait_until(lambda: len(collector.spans) == 4 and collector.events)
    for turn in (2, 3):
        recorder.attempt(run.attempt(turn))
    run.finish()
    recorder.ended("complete", None, 0)
    dropped = recorder.close()
    assert (dropped.spans, dropped.events) == (1 + 2 * 4, 2)
    assert (len(collector.spans), len(collector.events)) == (4, 1)


def test_metrics_that_arrive_later_are_not_lost(collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    collector.answers = {"/v1/metrics": 400}
    run = make_run()
    recorder = recorder_for(run, collector.url)
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1))
    wait_until(lambda: collector.asked["/v1/metrics"])
    collector.answers = {}
    recorder.attempt(run.attempt(2))
    recorder.ended("complete", None, 0)
    assert not recorder.close()
    assert collector.metric("turngate.gate.decisions")[-1].value == 2


def test_what_a_full_queue_throws_away_is_counted(
    collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "512")
    monkeypatch.setenv("OTEL_BLRP_MAX_QUEUE_SIZE", "512")
    collector.hold.set()
    run = make_run()
    recorder = recorder_for(run, collector.url)
    run.begin()
    recorder.started(run.info, 0)
    record = run.attempt(1, scores=({"evaluator": "one"}, {"evaluator": "two"}), **RETRY)
    for _ in range(600):
        recorder.attempt(record)
    recorder.ended("stopped", None, 0)
    collector.hold.clear()
    collector.release.set()
    dropped = recorder.close()
    assert dropped.spans > 0 < dropped.events
    assert dropped.spans + len(collector.spans) == 600 * 4 + 2
    assert dropped.events + len(collector.events) == 600 * 2
