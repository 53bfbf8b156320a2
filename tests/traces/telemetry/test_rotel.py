"""A run of 100 turns through a real collector process, `rotel`, which hands on what it got."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.place import edit_span_id, trace_id

from ._expected import hundred_turns, tree_of
from ._run import drive
from ._waiting import free_port, wait_until


def agent() -> str | None:
    """The collector's program: inside the installed package, or on the path."""
    package = find_spec("rotel")
    inside = Path(package.origin).parent / "rotel-agent" if package is not None and package.origin else None
    return str(inside) if inside is not None and inside.exists() else shutil.which("rotel-agent")


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(agent() is None, reason="no rotel: pip install --pre rotel"),
]


@pytest.fixture
def rotel(collector: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A rotel that hands on to `collector`; the standard variables point at it."""
    http, grpc = free_port(), free_port()
    command = [
        str(agent()), "start", "--otlp-http-endpoint", f"127.0.0.1:{http}", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc}",
        "--exporter", "otlp", "--otlp-exporter-protocol", "http", "--otlp-exporter-endpoint", collector.url,
        "--otlp-exporter-compression", "none", "--pid-file", str(tmp_path / "rotel.pid"),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: listens(http))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{http}")
    yield process
    process.kill()
    process.wait()


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_a_run_of_100_turns_arrives_whole(rotel: Any, collector: Any, config: Any, run: Any) -> None:
    ended, view = run(hundred_turns(config))
    assert (ended.status, str(ended.dropped)) == ("complete", "nothing")
    name, attempts = view.info.run, [attempt.row for attempt in view.attempts]
    expected = tree_of(view)
    results = [score for attempt in view.attempts for score in attempt.scores.values() if score.status != "skipped"]
    wait_until(
        lambda: len(collector.spans) >= len(expected) and len(collector.events) >= len(results) and collector.points
    )

    tree = collector.tree()
    assert {key: (span.name, span.parent) for key, span in tree.items()} == expected
    assert len(collector.spans) == len(expected)
    assert {span.trace for span in tree.values()} == {f"{trace_id(name):032x}"}
    assert collector.one("invoke_workflow turngate").attributes["turngate.run.status"] == "complete"
    for row in attempts:
        edit = tree[f"{edit_span_id(name, row.turn, row.attempt):016x}"]
        assert (edit.started, edit.ended) == (row.started_ns, row.ended_ns)
        assert edit.attributes.get("error.type") == row.why
        judged = [event for event in collector.events if event.span == edit.span]
        scores = {event.attributes["gen_ai.evaluation.name"]: event.attributes for event in judged}
        recorded = next(attempt for attempt in view.attempts if attempt.row == row).scores
        assert scores.keys() == {key for key, score in recorded.items() if score.status != "skipped"}
        for key, attributes in scores.items():
            assert attributes.get("gen_ai.evaluation.score.value") == recorded[key].value
            assert attributes.get("error.type") == (recorded[key].why if recorded[key].value is None else None)
    assert len(collector.events) == len(results)

    verdicts = Counter(attempt.decision.verdict for attempt in view.attempts)
    decided: Counter[str] = Counter()
    for point in collector.metric("turngate.gate.decisions"):
        decided[point.attributes["turngate.gate.verdict"]] += int(point.value)
    assert decided == verdicts
    scored = sum(score.value is not None for score in results)
    assert sum(point.count for point in collector.metric("turngate.evaluation.score")) == scored
    assert sum(point.count for point in collector.metric("turngate.turn.duration")) == 100
    assert sum(point.count for point in collector.metric("gen_ai.client.operation.duration")) == len(attempts)
    assert sum(point.value for point in collector.metric("turngate.cost")) == pytest.approx(
        sum(row.cost_usd for row in attempts)
    )


def test_it_reads_the_spans_and_events_of_a_file(rotel: Any, collector: Any, make_run: Any) -> None:
    run = make_run()
    # Without metrics: the JSON reader of rotel loses histograms, whose counts are strings in OTLP/JSON.
    config = TelemetryConfig(exporter="jsonl", signals=("traces", "logs"))
    recorder = TelemetryRecorder(config, run.folder.path)
    drive(run, recorder)
    assert not recorder.close()
    paths = {"resourceSpans": "/v1/traces", "resourceLogs": "/v1/logs"}
    lines = (run.folder.path / "telemetry.jsonl").read_bytes().splitlines()
    for line in lines:
        (kind,) = json.loads(line)
        url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + paths[kind]
        with urlopen(Request(url, line, {"Content-Type": "application/json"})) as answer:
            assert answer.status == 200
    wait_until(lambda: len(collector.spans) + len(collector.events) == len(lines))
    tree = collector.tree()
    root, turn = collector.one("invoke_workflow turngate"), collector.one("turn 1")
    assert (turn.parent, turn.trace) == (root.span, f"{trace_id('run-1'):032x}")
    assert [event.attributes["gen_ai.evaluation.score.value"] for event in collector.events] == [3.5, 3.5]
    assert all(tree[event.span].name == "generate_content script-1" for event in collector.events)


class Killer:
    """Observer that kills the collector while the run works."""

    def __init__(self, process: subprocess.Popen[bytes], turn: int) -> None:
        self.process = process
        self.turn = turn

    def started(self, info: RunInfo, started_ns: int) -> None:
        """Nothing yet."""

    def attempt(self, record: AttemptRecord) -> None:
        """Kill it once."""
        if record.attempt.turn == self.turn and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Nothing more."""


def test_a_collector_that_is_killed_in_mid_run(
    rotel: Any, collector: Any, config: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    settings = hundred_turns(config, delay_seconds=0.005)
    telemetry = settings.telemetry.model_copy(update={"flush_seconds": 2})
    ended, view = run(settings.model_copy(update={"telemetry": telemetry}), observers=[Killer(rotel, 50)])
    assert ended.status == "complete"
    total = len(tree_of(view))
    assert 0 < ended.dropped.spans < total
    assert ended.dropped.events > 0 < ended.dropped.points
    assert len(collector.spans) <= total - ended.dropped.spans  # rotel may have died with some in hand
