"""What the loop itself costs: milliseconds per turn without editor and evaluators, and ledger bytes per turn.

    python benchmarks/loop.py [--turns 300] [--rounds 5]

The editor alternates between two ready images and there are no evaluators, so what is left is instructions, keys,
rows, decisions and the driver. `memory` keeps the SQLite ledger in memory, `disk` writes it as a run does. The floor is
a plain `while` loop that stores two small dicts. Medians of rounds, drivers in turn within each round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from turngate import ComponentConfig, Edited, EditRequest, NoImage, parse_config
from turngate.graphs.components import Components, build_components
from turngate.graphs.origin import load_origin
from turngate.graphs.runner import run_graph, run_loop
from turngate.graphs.session import Session
from turngate.picture import encode_png
from turngate.traces.ledger import Ledger
from turngate.traces.recorded import RecordedOrigin, Resolved
from turngate.traces.run_folder import RunFolder, RunInfo


class NullConfig(ComponentConfig):
    """No settings."""


class NullEditor:
    """Returns ready bytes."""

    Config: ClassVar[type[ComponentConfig]] = NullConfig
    requires: ClassVar[Mapping[str, str]] = {}
    model = "null"
    stochastic = True
    simulated = True
    paid = False
    images = tuple(encode_png(np.full((16, 16, 3), level, dtype=np.uint8)) for level in (80, 160))

    def __init__(self, config: NullConfig) -> None:
        self.config = config

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Alternate."""
        return Edited(self.images[request.turn % 2])


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=300)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    times: dict[str, list[float]] = defaultdict(list)
    size = 0
    run_graph(_session(5, ":memory:", Path(tempfile.mkdtemp())))  # import and compile once
    for _ in range(chosen.rounds):
        times["floor: plain while loop"].append(_floor(chosen.turns))
        for name, drive in (("plain loop", run_loop), ("graph", run_graph)):
            for where in ("memory", "disk"):
                with tempfile.TemporaryDirectory() as folder:
                    path = ":memory:" if where == "memory" else f"{folder}/ledger.sqlite"
                    session = _session(chosen.turns, path, Path(folder))
                    started = time.perf_counter()
                    drive(session)
                    times[f"{name}, ledger {where}"].append((time.perf_counter() - started) * 1e3 / chosen.turns)
                    session.ledger.close()
                    if where == "disk":
                        size = Path(path).stat().st_size
    base = statistics.median(times["plain loop, ledger disk"])
    print(f"{chosen.turns} turns, medians of {chosen.rounds} rounds\n")
    print(f"{'variant':<28}{'ms/turn':>9}{'to plain + disk':>17}")
    for name, values in times.items():
        middle = statistics.median(values)
        print(f"{name:<28}{middle:>9.3f}{middle / base:>17.2f}")
    print(f"\nledger: {size / chosen.turns:.0f} bytes per turn on disk")


def _floor(turns: int) -> float:
    kept, turn = [], 0
    started = time.perf_counter()
    while turn < turns:
        turn += 1
        kept.append(({"turn": turn}, {"verdict": "accept"}))
    return (time.perf_counter() - started) * 1e3 / turns


def _session(turns: int, ledger: str, folder: Path) -> Session:
    raw = {"origin": "skimage:astronaut", "scenario": "replicate", "turns": turns, "evaluators": {}}
    config = parse_config({**raw, "editor": {"type": "scripted"}, "gate": "always_accept"}, "benchmark")
    built = build_components(config)
    parts = Components(NullEditor(NullConfig(type="null")), {}, built.gate, built.scenario, {})
    info = RunInfo(
        run="benchmark", created="", config={}, origin=RecordedOrigin(image="0" * 64), resolved=Resolved(), made_with={}
    )
    return Session(
        config, parts, RunFolder(folder), info, Ledger(Path(ledger), durable=False), load_origin(config.origin)
    )


if __name__ == "__main__":
    main()
