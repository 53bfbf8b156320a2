"""C48: a run of 100 turns needs no more memory at its end than at its beginning, and its state does not grow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate.graphs.components import build_components
from turngate.graphs.config import RunConfig
from turngate.graphs.machine import build_machine, first_state, step_limit
from turngate.graphs.origin import load_origin
from turngate.graphs.session import LoopContext, Session
from turngate.traces.ledger import Ledger
from turngate.traces.recorded import RecordedOrigin, Resolved
from turngate.traces.run_folder import RunFolder, RunInfo

SCRIPT = """
import sys
from pathlib import Path
from turngate import parse_config, start_run

class Watch:
    seen = {}
    def started(self, info, started_ns): pass
    def ended(self, status, reason, ended_ns): pass
    def attempt(self, record):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.seen[record.attempt.turn] = pages

config = parse_config({
    "origin": {"image": "skimage:astronaut", "size": 320}, "scenario": "replicate", "turns": 100, "driver": sys.argv[2],
    "editor": {"type": "codec", "quality": 60, "resize_jitter": 0.02},
    "evaluators": ["psnr", "drift"],
    "gate": {"type": "relative", "evaluator": "psnr", "reference": "previous", "margin": 9},
}, "memory")
start_run(config, Path(sys.argv[1]), [Watch()])
print(Watch.seen[10], Watch.seen[100])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_resident_memory(tmp_path: Path, driver: str) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "run"), driver]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    early, late = (int(pages) for pages in done.stdout.split())
    assert late <= 1.1 * early


@pytest.mark.slow
def test_the_state_does_not_grow(config: Callable[..., RunConfig], tmp_path: Path) -> None:
    """The largest state of turns 91 to 100 is the largest of turns 1 to 10, give or take longer numbers."""
    settings = config(turns=100, gate={"type": "random", "accept_rate": 0.7}, on_reject={"attempts": 2})
    info = RunInfo(
        run="gate_history",
        created="",
        config={},
        origin=RecordedOrigin(image="0" * 64),
        resolved=Resolved(),
        made_with={},
    )
    ledger = Ledger(tmp_path / "ledger.sqlite")
    origin = load_origin(settings.origin)
    session = Session(settings, build_components(settings), RunFolder(tmp_path), info, ledger, origin)
    sizes: dict[int, int] = {}
    states: Any = build_machine().stream(
        first_state(session.progress),
        {"recursion_limit": step_limit(100, 2)},
        context=LoopContext(session),
        stream_mode="values",
    )
    for state in states:
        turn = state["turn"]
        sizes[turn] = max(sizes.get(turn, 0), len(json.dumps(state)))
    ledger.close()
    early, late = (max(sizes[turn] for turn in turns) for turns in (range(1, 11), range(91, 101)))
    assert late <= early * 1.05
    assert late < 4000, "bytes of JSON: hashes and numbers, no pixels"
