"""A collector on loopback, and runs written row by row."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turngate.traces.recorded import RecordedOrigin, Resolved
from turngate.traces.run_folder import Parent, RunFolder, RunInfo

from ._collector import Collector, listening
from ._run import Run


@pytest.fixture
def collector() -> Iterator[Collector]:
    with listening() as state:
        yield state


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Run]:
    def make(name: str = "run-1", *, parent: Parent | None = None, **settings: Any) -> Run:
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
                "telemetry": settings,
            },
            origin=RecordedOrigin.model_validate(
                {"image": "0" * 64, "media_type": "image/png", "width": 64, "height": 48}
            ),
            resolved=Resolved.model_validate(
                {
                    "editor": {"model": "script-1"},
                    "simulated": False,
                    "evaluators": {"niqe": {"range": [0.0, "inf"]}, "judge": {"range": [1.0, 10.0]}},
                }
            ),
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
    for name in [name for name in os.environ if name.startswith(("OTEL_", "TRACEPARENT", "TRACESTATE"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def read_jsonl() -> Callable[..., list[dict[str, Any]]]:
    """Spans, log records or metrics of a file."""

    def read(path: Path, signal: str = "spans") -> list[dict[str, Any]]:
        outer, inner = {
            "spans": ("resourceSpans", "scopeSpans"),
            "logRecords": ("resourceLogs", "scopeLogs"),
            "metrics": ("resourceMetrics", "scopeMetrics"),
        }[signal]
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        kept = [line[outer][0][inner][0][signal] for line in lines if outer in line]
        return [item for items in kept for item in items]

    return read
