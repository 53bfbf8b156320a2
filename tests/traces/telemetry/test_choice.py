"""What is sent where, by configuration, by the standard variables, by what the application has set."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import NoOpTracerProvider

from turngate.errors import ConfigError
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.config import attribute_limit, chosen_exporters
from turngate.traces.telemetry.otlp import signal_url

from ._run import drive

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
ALL = {"traces": "otlp", "logs": "otlp", "metrics": "otlp"}
NONE = {"traces": "none", "logs": "none", "metrics": "none"}


@pytest.mark.parametrize(
    ("exporter", "variables", "expected"),
    [
        ("auto", {}, NONE),
        ("auto", {ENDPOINT: "http://c:4318"}, ALL),
        ("auto", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, {**NONE, "traces": "otlp"}),
        ("auto", {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c:4318/v1/logs"}, {**NONE, "logs": "otlp"}),
        ("auto", {"OTEL_TRACES_EXPORTER": "otlp"}, {**NONE, "traces": "otlp"}),
        ("auto", {"OTEL_METRICS_EXPORTER": "console, otlp"}, {**NONE, "metrics": "otlp"}),
        ("auto", {"OTEL_TRACES_EXPORTER": "none", ENDPOINT: "http://c:4318"}, {**ALL, "traces": "none"}),
        ("auto", {"OTEL_TRACES_EXPORTER": "zipkin", ENDPOINT: "http://c:4318"}, {**ALL, "traces": "none"}),
        ("auto", {"OTEL_SDK_DISABLED": "true", ENDPOINT: "http://c:4318"}, NONE),
        ("none", {ENDPOINT: "http://c:4318"}, NONE),
        ("jsonl", {ENDPOINT: "http://c:4318"}, {"traces": "jsonl", "logs": "jsonl", "metrics": "jsonl"}),
        ("jsonl", {"OTEL_SDK_DISABLED": "TRUE"}, NONE),
        ("otlp", {"OTEL_METRICS_EXPORTER": "none"}, {**ALL, "metrics": "none"}),
        ("otlp", {"OTEL_TRACES_EXPORTER": "console"}, ALL),
        ("otlp", {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, NONE),
        (
            "otlp",
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"},
            {**NONE, "traces": "otlp"},
        ),
    ],
)
def test_choice_of_the_exporters(exporter: Any, variables: dict[str, str], expected: dict[str, str]) -> None:
    assert chosen_exporters(TelemetryConfig(exporter=exporter), variables) == expected


def test_named_signals_are_those_that_are_sent() -> None:
    config = TelemetryConfig(exporter="otlp", signals=("traces", "logs"))
    assert chosen_exporters(config, {"OTEL_LOGS_EXPORTER": "none"}) == {**ALL, "metrics": "none"}
    with pytest.raises(ValueError, match="signals"):
        TelemetryConfig.model_validate({"signals": ["spans"]})


@pytest.mark.parametrize(
    ("variables", "limit"),
    [
        ({}, 8192),
        ({"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "4000"}, 4000),
        ({"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "100"}, 256),
        ({"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "100000"}, 8192),
    ],
)
def test_the_standard_variables_can_lower_the_limit(variables: dict[str, str], limit: int) -> None:
    assert attribute_limit(TelemetryConfig(), variables) == limit


def test_a_limit_that_is_no_number_is_the_users_fault() -> None:
    with pytest.raises(ConfigError, match="OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT='much'"):
        attribute_limit(TelemetryConfig(), {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "much"})


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://c:4318", "http://c:4318/v1/logs"),
        ("http://c:4318/", "http://c:4318/v1/logs"),
        ("http://c:4318/v1/traces", "http://c:4318/v1/logs"),
        ("https://c/api/otel", "https://c/api/otel/v1/logs"),
        ("https://c/api/otel/v1/logs?a=b", "https://c/api/otel/v1/logs?a=b"),
    ],
)
def test_url_of_a_signal(endpoint: str, url: str) -> None:
    assert signal_url(endpoint, "logs") == url


def test_standard_variables_alone_turn_it_on(collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=pictures")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-study")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=one,lab=two")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(), run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    assert len(collector.spans) == 1 + 2 * 4
    assert len(collector.events) == 2
    assert len(collector.metric("turngate.gate.decisions")) == 1
    expected = {"service.name": "my-study", "service.instance.id": "one", "lab": "two"}
    for resource in collector.resources:
        assert expected.items() <= resource.items()
    assert {header["x-team"] for header in collector.headers} == {"pictures"}


def test_runs_side_by_side_write_different_metrics(collector: Any, make_run: Any) -> None:
    for name in ("run-1", "run-2"):
        run = make_run(name)
        recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
        drive(run, recorder)
        assert not recorder.close()
    assert len({resource["service.instance.id"] for resource in collector.resources}) == 2


def test_off_sends_nothing_and_starts_no_thread(make_run: Any) -> None:
    before = threading.active_count()
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(), run.folder.path)
    drive(run, recorder)
    assert not recorder.on
    assert threading.active_count() == before
    assert not recorder.close()
    assert not (run.folder.path / "telemetry.jsonl").exists()


def test_none_wins_over_a_given_provider(make_run: Any) -> None:
    folder = make_run().folder.path
    recorder = TelemetryRecorder(TelemetryConfig(exporter="none"), folder, tracer_provider=NoOpTracerProvider())
    assert not recorder.on


def test_what_cannot_be_understood_is_the_users_fault(make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, otlp = make_run().folder.path, TelemetryConfig(exporter="otlp")
    with pytest.raises(ConfigError, match="http://localhost:4318"):
        TelemetryRecorder(otlp, folder, endpoint="collector:4318")
    for name, value in {"OTEL_BSP_MAX_QUEUE_SIZE": "3", "OTEL_BLRP_MAX_QUEUE_SIZE": "3"}.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(ConfigError, match=name[:9]):
                TelemetryRecorder(otlp, folder, endpoint="http://127.0.0.1:1")
    with monkeypatch.context() as patch:
        patch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "-5")
        with pytest.raises(ConfigError, match="OTEL_METRIC_EXPORT_INTERVAL"):
            TelemetryRecorder(otlp, folder, endpoint="http://127.0.0.1:1")
    with monkeypatch.context() as patch:
        patch.setenv("OTEL_SPAN_LINK_COUNT_LIMIT", "many")
        with pytest.raises(ConfigError, match="OTEL_SPAN_LINK_COUNT_LIMIT"):
            TelemetryRecorder(otlp, folder, endpoint="http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER", "nobody")
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP"):
        TelemetryRecorder(otlp, folder, endpoint="http://127.0.0.1:1")


LOADED = "print(sorted(name for name in sys.modules if name.startswith({prefixes})))"


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["turngate", "turngate.graphs.runner", "turngate.traces.telemetry.recorder", "turngate.cli.export"]
)
def test_import_loads_no_opentelemetry(module: str) -> None:
    program = f"import sys, {module}\n" + LOADED.format(prefixes=("opentelemetry", "requests", "google.protobuf"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_recorder_that_is_off_loads_no_opentelemetry(make_run: Any) -> None:
    folder: Path = make_run().folder.path
    program = (
        "import sys\n"
        "from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run, request_headers\n"
        f"TelemetryRecorder(TelemetryConfig(), {str(folder)!r})\n"
        "assert request_headers(1, 1) == {}\n" + LOADED.format(prefixes=("opentelemetry", "requests"))
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "prefix"),
    [
        ("loop", "opentelemetry"),
        # LangGraph's own dependency langsmith loads the SDK where it is installed.
        ("graph", "turngate.traces.telemetry.channel"),
    ],
)
@pytest.mark.parametrize(("exporter", "loaded"), [("none", False), ("auto", False), ("jsonl", True)])
def test_a_run_loads_the_sdk_only_to_send_something(
    driver: str, prefix: str, exporter: str, loaded: bool, tmp_path: Path
) -> None:
    settings = {
        "origin": "skimage:astronaut",
        "scenario": "replicate",
        "turns": 1,
        "editor": "scripted",
        "evaluators": [],
        "gate": "always_accept",
        "driver": driver,
        "telemetry": {"exporter": exporter},
    }
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from turngate import parse_config, start_run\n"
        f"start_run(parse_config({settings!r}, 'test'), Path({str(tmp_path / 'run')!r}))\n"
        + LOADED.format(prefixes=(prefix,))
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.strip() != "[]") == loaded
