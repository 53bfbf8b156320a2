"""What telemetry costs a run: per turn and per span, off / JSONL file / OTLP, and with collectors that do not work.

    python benchmarks/telemetry.py [TURNS [REPEATS]]

Whole runs of the plain loop with the scripted editor and three scripted evaluators: 6 spans and 3 events a turn, a few
metrics, and no pause in which telemetry could hide. `cpu` is the processor time of the whole process per turn, the
sending thread included, and its ratio to the run without telemetry; `us/span` is the difference divided by 6. `loop`
is the time that passed in the run per turn, from the first editor call to the last decision: a collector that does not
work must not change it. `end` is how long the run waited when it was over. Medians over REPEATS rounds in which every
variant runs once (default 200 turns, 7 rounds: three minutes). The collector is another process on this machine.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from turngate import RunView, parse_config, start_run

SPANS_PER_TURN = 6
SLOW_SECONDS = 2.0
"""How long the slow collector takes over a request."""


@dataclass(frozen=True)
class Cost:
    """One run: microseconds per turn, seconds at the end, what was lost."""

    loop: float
    cpu: float
    end: float
    dropped: str


def main() -> None:
    """Run every variant and print the table."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    logging.getLogger("turngate").setLevel(logging.ERROR)
    otlp = {"exporter": "otlp"}
    with collecting(200) as alive, collecting(413) as refusing, collecting(200, SLOW_SECONDS) as slow:
        variants: dict[str, tuple[dict[str, Any], str]] = {
            "off": ({"exporter": "none"}, alive),
            "file": ({"exporter": "jsonl"}, alive),
            "OTLP": (otlp, alive),
            "OTLP, spans alone": ({**otlp, "signals": ["traces"]}, alive),
            "OTLP, with content": ({**otlp, "capture_content": True}, alive),
            "OTLP, a trace per turn": ({**otlp, "trace_per": "turn"}, alive),
            "nobody listens": (otlp, "http://127.0.0.1:9"),
            "answers 413": (otlp, refusing),
            f"answers after {SLOW_SECONDS:g} s": (otlp, slow),
        }
        measure(turns, *variants["OTLP"])  # imports, caches
        costs: dict[str, list[Cost]] = {name: [] for name in variants}
        for _ in range(repeats):
            for name, variant in variants.items():
                costs[name].append(measure(turns, *variant))
    Console(width=140).print(table(turns, repeats, costs))


def table(turns: int, repeats: int, costs: dict[str, list[Cost]]) -> Table:
    """Medians, and what they are beside telemetry off."""
    heads = ("variant", "cpu us/turn", "ratio", "us/span", "loop us/turn", "ratio", "end s", "dropped")
    found = Table(*heads, title=f"{turns} turns, median of {repeats}")
    cpu_off, loop_off = (_median(costs["off"], part) for part in ("cpu", "loop"))
    for name, rounds in costs.items():
        cpu, loop = _median(rounds, "cpu"), _median(rounds, "loop")
        cells = [f"{cpu:.0f}", f"{cpu / cpu_off:.2f}", f"{(cpu - cpu_off) / SPANS_PER_TURN:.0f}"]
        cells += [f"{loop:.0f}", f"{loop / loop_off:.2f}", f"{_median(rounds, 'end'):.2f}", rounds[-1].dropped]
        found.add_row(name, *cells)
    return found


def _median(rounds: list[Cost], part: str) -> float:
    return float(statistics.median(getattr(cost, part) for cost in rounds))


def measure(turns: int, telemetry: dict[str, Any], endpoint: str) -> Cost:
    """One run with these settings."""
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
    config = parse_config(
        {
            "origin": "skimage:astronaut",
            "scenario": "replicate",
            "turns": turns,
            "editor": {"type": "scripted", "reasoning": "I keep composition, light and colours as they are. " * 10},
            "evaluators": {name: {"type": "scripted"} for name in ("one", "two", "three")},
            "gate": "always_accept",
            "driver": "loop",
            "telemetry": telemetry,
        },
        "benchmark",
    )
    with tempfile.TemporaryDirectory() as folder:
        cpu = time.process_time()
        ended = start_run(config, Path(folder) / "run")
        over, cpu = time.time_ns(), time.process_time() - cpu
        view = RunView.load(ended.folder)
    began, decided = view.attempts[0].row.started_ns, view.attempts[-1].decision.at_ns
    return Cost((decided - began) / 1e3 / turns, 1e6 * cpu / turns, (over - decided) / 1e9, str(ended.dropped))


@contextmanager
def collecting(answer: int, seconds: float = 0.0) -> Iterator[str]:
    """A collector in a process of its own that reads and forgets; gives its URL."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_collect, args=(there, answer, seconds), daemon=True)
    process.start()
    yield here.recv()
    process.terminate()
    process.join()


def _collect(pipe: Connection, answer: int, seconds: float) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Read and forget."""
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(seconds)
            self.send_response(answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(f"http://127.0.0.1:{server.server_address[1]}")
    server.serve_forever()


if __name__ == "__main__":
    main()
