"""An OTLP/HTTP receiver on loopback that keeps what it gets."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ._received import Event, Point, Received, measured, plain, received


@dataclass
class Collector:
    """`answer` is the status it answers with, also per path; it hangs while `hold` is set."""

    url: str = ""
    answer: int = 200
    answers: dict[str, int] = field(default_factory=dict)
    hold: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    asked: Counter[str] = field(default_factory=Counter)
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    """Path and body of every request that was taken."""
    headers: list[dict[str, str]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    scopes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    spans: list[Received] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

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

    def metric(self, name: str) -> list[Point]:
        """Data points of that metric."""
        return [point for point in self.points if point.metric == name]

    def sent(self) -> bytes:
        """Everything that was taken, as it went over the wire."""
        return b"".join(body for _, body in self.bodies)

    def take(self, path: str, body: bytes) -> None:
        """Decode one request."""
        self.bodies.append((path, body))
        _TAKERS[path](self, body)

    def _scoped(self, resources: Any, part: str) -> Iterator[Any]:
        for resource in resources:
            self.resources.append(plain(resource.resource.attributes))
            for scope in getattr(resource, part):
                self.scopes.append((scope.scope.name, plain(scope.scope.attributes)))
                yield scope

    def _take_spans(self, body: bytes) -> None:
        for scope in self._scoped(ExportTraceServiceRequest.FromString(body).resource_spans, "scope_spans"):
            self.spans += [received(span) for span in scope.spans]

    def _take_events(self, body: bytes) -> None:
        for scope in self._scoped(ExportLogsServiceRequest.FromString(body).resource_logs, "scope_logs"):
            self.events += [
                Event(r.event_name, r.trace_id.hex(), r.span_id.hex(), r.time_unix_nano, plain(r.attributes))
                for r in scope.log_records
            ]

    def _take_metrics(self, body: bytes) -> None:
        for scope in self._scoped(ExportMetricsServiceRequest.FromString(body).resource_metrics, "scope_metrics"):
            for metric in scope.metrics:
                data = getattr(metric, metric.WhichOneof("data"))
                self.points += [measured(metric, data, point) for point in data.data_points]


_TAKERS: dict[str, Callable[[Collector, bytes], None]] = {
    "/v1/traces": Collector._take_spans,
    "/v1/logs": Collector._take_events,
    "/v1/metrics": Collector._take_metrics,
}


@contextmanager
def listening() -> Iterator[Collector]:
    """A collector that listens on a free port of loopback."""
    state = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            state.asked[self.path] += 1
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            if state.hold.is_set():
                state.release.wait(30)
            answer = state.answers.get(self.path, state.answer) if self.path in _TAKERS else 404
            if answer == 200 and not state.hold.is_set():
                state.take(self.path, body)
            self.send_response(answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
