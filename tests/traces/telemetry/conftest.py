"""A collector on loopback, and runs written row by row."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from turngate.traces.records import AttemptRecord, AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.run_folder import Parent, RunFolder, RunInfo

START = 1_790_000_000_000_000_000
"""Unix nanoseconds at which every run of these tests begins."""
MS = 1_000_000
TURN = 100 * MS
"""From one attempt to the next."""


@dataclass
class Received:
    """One span as it arrived."""

    name: str
    trace: str
    span: str
    parent: str | None
    kind: int
    started: int
    ended: int
    attributes: dict[str, Any]
    status: int
    message: str
    links: list[tuple[str, str, dict[str, Any]]]


@dataclass
class Collector:
    """An OTLP/HTTP receiver. `answer` is the status it answers with; it hangs while `hold` is set."""

    url: str = ""
    answer: int = 200
    hold: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    bodies: list[bytes] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    scopes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    spans: list[Received] = field(default_factory=list)

    def tree(self) -> dict[str, Received]:
        """Span id -> span; the last one wins, as in a backend that replaces."""
        return {span.span: span for span in self.spans}

    def named(self, name: str) -> list[Received]:
        """Spans of that name in order of their start."""
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.started)

    def one(self, name: str) -> Received:
        """The only span of that name."""
        (span,) = self.named(name)
        return span

    def take(self, body: bytes) -> None:
        """Decode one request."""
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(_attributes(resource.resource.attributes))
            for scope in resource.scope_spans:
                self.scopes.append((scope.scope.name, _attributes(scope.scope.attributes)))
                self.spans += [_received(span) for span in scope.spans]


def _received(span: Any) -> Received:
    return Received(
        name=span.name,
        trace=span.trace_id.hex(),
        span=span.span_id.hex(),
        parent=span.parent_span_id.hex() or None,
        kind=span.kind,
        started=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        status=span.status.code,
        message=span.status.message,
        links=[(link.trace_id.hex(), link.span_id.hex(), _attributes(link.attributes)) for link in span.links],
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@pytest.fixture
def collector() -> Iterator[Collector]:
    state = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if state.hold.is_set():
                state.release.wait(30)
            if state.answer == 200 and self.path == "/v1/traces" and not state.hold.is_set():
                state.take(body)
            self.send_response(state.answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    state.release.set()
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Run:
    """A run in a folder, written as the loop writes it."""

    folder: RunFolder
    info: RunInfo

    def begin(self) -> None:
        """Record that a process took up the run."""
        self._ledger(lambda ledger: ledger.add_event("started", {}))

    def finish(self, status: str = "complete", reason: str = "") -> None:
        """Record that the process ended its work."""
        self._ledger(lambda ledger: ledger.add_event("ended", {"status": status, "reason": reason}))

    def attempt(
        self,
        turn: int,
        attempt: int = 1,
        *,
        verdict: str = "accept",
        action: str | None = None,
        scores: tuple[dict[str, Any], ...] = ({},),
        truth: float | None = None,
        decision: dict[str, Any] | None = None,
        **fields: Any,
    ) -> AttemptRecord:
        """Record one attempt and give back what the loop tells its observers."""
        at = START + (turn * 10 + attempt) * TURN
        accepted = verdict == "accept"
        action = action or ("accept" if accepted else "skip")
        has_image = fields.get("outcome", "edited") != "no_image"
        image = f"{turn:032x}{attempt:032x}"
        candidate = {"image": image, "media_type": "image/png", "width": 64, "height": 48, "size_bytes": 900}
        row = AttemptRow.model_validate(
            {
                "turn": turn,
                "attempt": attempt,
                "seed": 1000 * turn + attempt,
                "instruction": f"mirror the picture, step {turn}",
                "history": "previous",
                "input_image": "0" * 64,
                "input_turn": turn - 1,
                "outcome": "edited",
                "started_ns": at,
                "ended_ns": at + 40 * MS,
                **(candidate if has_image else {}),
                **fields,
            }
        )
        score_rows = tuple(
            ScoreRow.model_validate(
                {
                    "turn": turn,
                    "attempt": attempt,
                    "evaluator": "niqe",
                    "type": "niqe",
                    "version": "1",
                    "status": "scored",
                    "direction": "lower",
                    "started_ns": at + 41 * MS,
                    "ended_ns": at + (50 + number) * MS,
                    **({"value": 3.5} if score.get("status", "scored") == "scored" else {}),
                    **score,
                }
            )
            for number, score in enumerate(scores)
        )
        truth_row = None
        if truth is not None:
            truth_row = TruthRow(
                turn=turn, attempt=attempt, measure="psnr", value=truth, damaged_at=20.0, damaged=truth <= 20.0
            )
        decided = DecisionRow.model_validate(
            {
                "turn": turn,
                "attempt": attempt,
                "verdict": verdict,
                "rule": "gate",
                "reason": "niqe 3.5 is within 0.3 of the first accepted image",
                "evidence": {"niqe": 3.5, "limit": 3.8},
                "action": action,
                "taken_attempt": attempt if accepted else None,
                "image_after": image if accepted and has_image else "0" * 64,
                "image_turn_after": turn if accepted else turn - 1,
                "closes_turn": action != "retry",
                "status_after": "running",
                "at_ns": at + 60 * MS,
                **(decision or {}),
            }
        )
        self._ledger(lambda ledger: ledger.record(row, score_rows, truth_row, decided))
        return AttemptRecord(row, score_rows, truth_row, decided)

    def _ledger(self, write: Callable[[Any], object]) -> None:
        ledger = self.folder.ledger(read_only=False, durable=False)
        try:
            write(ledger)
        finally:
            ledger.close()


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Run]:
    def make(name: str = "run-1", *, paid: bool = False, parent: Parent | None = None) -> Run:
        info = RunInfo(
            run=name,
            created="2026-11-30T00:00:00+00:00",
            config={
                "turns": 3,
                "seed": 7,
                "scenario": {"type": "mirror"},
                "editor": {"type": "scripted"},
                "gate": {"type": "relative"},
                "evaluators": {"niqe": {"type": "niqe"}},
            },
            origin={"image": "0" * 64, "media_type": "image/png", "width": 64, "height": 48},
            resolved={"editor": {"model": "script-1", "paid": paid}, "simulated": False},
            made_with={"packages": {"turngate": "0.1.0"}},
            parent=parent,
        )
        folder = RunFolder(tmp_path / name)
        folder.prepare()
        folder.create(info)
        return Run(folder, info)

    return make


@pytest.fixture(autouse=True)
def _no_otel_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def read_jsonl() -> Callable[[Path], list[dict[str, Any]]]:
    def read(path: Path) -> list[dict[str, Any]]:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for line in lines]

    return read
