"""What telemetry costs: per span and per turn, off / JSONL file / OTLP to a collector on loopback / dead collector.

    python benchmarks/telemetry.py [TURNS]

A turn here has one editor call, three evaluations and a gate decision: 6 spans. `loop` is the time that the observer
takes in the thread of the run (median per turn), `cpu` the processor time of the whole process, the sending thread
included. The collector is another process that reads and forgets. Turns follow each other without a pause, as they
never do in a run: the processor time is the cost, the loop's time shows that sending does not hold it up.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table

from turngate.traces.records import AttemptRecord, AttemptRow, DecisionRow, ScoreRow
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

SPANS_PER_TURN = 6
ORIGIN = "0" * 64


@dataclass(frozen=True)
class Cost:
    """One variant, microseconds per turn; `close` in milliseconds."""

    loop: float
    cpu: float
    close: float
    dropped: int


def main() -> None:
    """Run every variant and print the table."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    here, there = multiprocessing.Pipe()
    collector = multiprocessing.get_context("spawn").Process(target=_collect, args=(there,), daemon=True)
    collector.start()
    alive = here.recv()
    variants = {
        "off": (TelemetryConfig(exporter="none"), None),
        "jsonl": (TelemetryConfig(exporter="jsonl"), None),
        "otlp": (TelemetryConfig(exporter="otlp"), alive),
        "otlp, content": (TelemetryConfig(exporter="otlp", capture_content=True), alive),
        "otlp, dead": (TelemetryConfig(exporter="otlp"), "http://127.0.0.1:9"),
    }
    table = Table(
        "variant", "loop us/turn", "cpu us/turn", "cpu us/span", "close ms", "dropped", title=f"{turns} turns"
    )
    costs = {name: measure(turns, config, endpoint) for name, (config, endpoint) in variants.items()}
    for name, cost in costs.items():
        extra = cost.cpu - costs["off"].cpu
        cells = (cost.loop, cost.cpu, extra / SPANS_PER_TURN, cost.close)
        table.add_row(name, *(f"{cell:.0f}" for cell in cells), str(cost.dropped))
    collector.terminate()
    collector.join()
    Console().print(table)


def measure(turns: int, config: TelemetryConfig, endpoint: str | None) -> Cost:
    """Tell a recorder about `turns` turns."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder))
        info = _info()
        run.create(info)
        run.ledger(read_only=False).close()
        records = [_record(turn) for turn in range(1, turns + 1)]
        recorder = TelemetryRecorder(config, run.path, endpoint=endpoint)
        recorder.started(info, time.time_ns())
        times, cpu = [], time.process_time()
        for record in records:
            began = time.perf_counter()
            recorder.attempt(record)
            times.append(time.perf_counter() - began)
        recorder.ended("complete", None, time.time_ns())
        began = time.perf_counter()
        dropped = recorder.close()
        close = time.perf_counter() - began
        cpu = time.process_time() - cpu
    return Cost(1e6 * statistics.median(times), 1e6 * cpu / turns, 1e3 * close, dropped)


def _info() -> RunInfo:
    return RunInfo(
        run="20261130-101500-benchmark-1a2b3c4d",
        created="2026-11-30T10:15:00+00:00",
        config={"turns": 100, "editor": {"type": "gemini"}, "gate": {"type": "relative"}},
        origin={"image": ORIGIN, "media_type": "image/png", "width": 1024, "height": 1024},
        resolved={"editor": {"model": "gemini-3-pro-image", "paid": True}},
        made_with={},
    )


def _record(turn: int) -> AttemptRecord:
    at = time.time_ns()
    image = f"{turn:064x}"
    attempt = AttemptRow(
        turn=turn,
        attempt=1,
        seed=turn,
        instruction="Replicate this image exactly; change nothing.",
        history="previous",
        input_image=f"{turn - 1:064x}",
        input_turn=turn - 1,
        outcome="edited",
        image=image,
        media_type="image/png",
        width=1024,
        height=1024,
        size_bytes=1_400_000,
        reasoning="The photograph shows a portrait. I keep composition, light and colours as they are. " * 6,
        model="gemini-3-pro-image-001",
        input_tokens=580,
        output_tokens=1290,
        reasoning_tokens=210,
        cost_usd=0.134,
        started_ns=at,
        ended_ns=at + 1000,
    )
    scores = tuple(
        ScoreRow(
            turn=turn,
            attempt=1,
            evaluator=name,
            type=name,
            version="1",
            status="scored",
            value=3.5,
            direction="lower",
            started_ns=at + 1000,
            ended_ns=at + 2000,
        )
        for name in ("niqe", "brisque", "drift")
    )
    decision = DecisionRow(
        turn=turn,
        attempt=1,
        verdict="accept",
        rule="gate",
        reason="niqe 3.5 is within 0.3 of the first accepted image",
        evidence={"value": 3.5, "threshold": 3.8},
        action="accept",
        taken_attempt=1,
        image_after=image,
        image_turn_after=turn,
        closes_turn=True,
        status_after="running",
        at_ns=at + 3000,
    )
    return AttemptRecord(attempt, scores, None, decision)


def _collect(pipe: Connection) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Read and forget."""
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(f"http://127.0.0.1:{server.server_address[1]}")
    server.serve_forever()


if __name__ == "__main__":
    main()
