"""A LangGraph checkpoint that is older than the ledger: what is recorded is not counted, told or decided again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from turngate import RunView
from turngate.errors import UserError
from turngate.graphs.config import RunConfig
from turngate.graphs.machine import build_machine, first_state, step_limit
from turngate.graphs.runner import open_session, start_run
from turngate.graphs.session import LoopContext
from turngate.traces.records import AttemptRecord
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

Config = Callable[..., RunConfig]
TURNS = 6
GATES: dict[str, dict[str, Any]] = {
    "cusum": {"type": "cusum", "evaluator": "psnr", "baseline": {"mean": 32, "sd": 1}, "h": 2},
    "ewma": {"type": "ewma", "evaluator": "psnr", "warmup": 2},
    "best": {"type": "relative", "evaluator": "psnr", "reference": "best", "margin": 53},
    "k_sigma": {"type": "k_sigma", "evaluator": "psnr", "warmup": 2, "k": 1},
}


class Told:
    """Everything that observers are told of."""

    def __init__(self) -> None:
        self.attempts: list[tuple[int, int]] = []

    def started(self, info: object, started_ns: int) -> None: ...
    def ended(self, status: str, reason: str | None, ended_ns: int) -> None: ...
    def attempt(self, record: AttemptRecord) -> None:
        self.attempts.append((record.attempt.turn, record.attempt.attempt))


class Dies(Told):
    """Stands for a process that dies between the ledger and the checkpoint of one attempt."""

    def __init__(self, at: tuple[int, int]) -> None:
        super().__init__()
        self.at = at

    def attempt(self, record: AttemptRecord) -> None:
        super().attempt(record)
        if self.attempts[-1] == self.at:
            raise KeyboardInterrupt


def settings_of(config: Config, gate: str) -> RunConfig:
    made = config(
        turns=TURNS, gate=GATES[gate], evaluators=["psnr"], on_reject={"attempts": 2, "then": "skip"}, driver="graph",
        editor={"type": "scripted", "stochastic": True, "default": "noise:6"}, telemetry={"exporter": "none"},
    )  # fmt: skip
    return made.model_copy(update={"origin": made.origin.model_copy(update={"size": 48})})


def decided(folder: Path) -> list[tuple[Any, ...]]:
    view = RunView.load(folder)
    return [(one.row.turn, one.row.attempt, one.decision.verdict, one.decision.reason) for one in view.attempts]


def drive(config: RunConfig, folder: Path, saver: InMemorySaver, told: Told, first: bool) -> str:
    thread: Any = {"configurable": {"thread_id": "a"}, "recursion_limit": step_limit(TURNS, 2)}
    with open_session(folder, config, [told]) as session:
        start = first_state(session.progress) if first else None
        build_machine(saver).invoke(start, thread, context=LoopContext(session))
        assert session.budget_use.attempts == len(decided(folder)), "a budget counts each attempt once"
    return session.status


@pytest.mark.parametrize("gate", list(GATES))
@given(turn=st.integers(1, TURNS), attempt=st.integers(1, 2))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_checkpoint_that_is_behind(
    config: Config, tmp_path_factory: pytest.TempPathFactory, gate: str, turn: int, attempt: int
) -> None:
    """Verdicts, budgets and observers are those of a run that never died."""
    folder = tmp_path_factory.mktemp(gate)
    made = settings_of(config, gate)
    start_run(made, folder / "whole", run_id="same")
    whole = decided(folder / "whole")
    saver, dies, after = InMemorySaver(), Dies((turn, attempt)), Told()
    if any(one[:2] == (turn, attempt) for one in whole):
        with pytest.raises(KeyboardInterrupt):
            drive(made, folder / "died", saver, dies, first=True)
        assert drive(made, folder / "died", saver, after, first=False) == "complete"
        assert dies.attempts + after.attempts == [one[:2] for one in whole], "each attempt is told once"
        assert decided(folder / "died") == whole


def test_the_gates_of_this_test_remember_and_refuse(config: Config, tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    for gate in ("cusum", "best", "k_sigma"):
        start_run(settings_of(config, gate), tmp_path / gate)
        assert {one[2] for one in decided(tmp_path / gate)} == {"accept", "reject"}


def test_a_checkpoint_of_another_run_is_refused(config: Config, tmp_path: Path) -> None:
    made = settings_of(config, "best")
    saver = InMemorySaver()
    with pytest.raises(KeyboardInterrupt):
        drive(made, tmp_path / "one", saver, Dies((4, 1)), first=True)
    with pytest.raises(UserError, match="of another run, give this one a thread_id of its own"):
        drive(made, tmp_path / "two", saver, Told(), first=False)


@pytest.mark.parametrize("how", ["break", "cancel", "error"])
def test_an_async_graph_that_is_left_early_ends_its_span(config: Config, tmp_path: Path, how: str) -> None:
    """Broken off, cancelled or failed: the root span ends with an error, the lock is free, and the run goes on."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    made = settings_of(config, "best")
    recorder = TelemetryRecorder(TelemetryConfig(), tmp_path / "run", tracer_provider=provider)

    async def work() -> None:
        with open_session(tmp_path / "run", made, [recorder]) as session:
            limit: Any = {"recursion_limit": step_limit(TURNS, 2)}
            async for _ in build_machine().astream(first_state(session.progress), limit, context=LoopContext(session)):
                if session.progress.turn == 3:
                    if how == "break":
                        break
                    raise asyncio.CancelledError if how == "cancel" else ValueError("mine")

    if how == "break":
        asyncio.run(work())
    else:
        with pytest.raises(asyncio.CancelledError if how == "cancel" else ValueError):
            asyncio.run(work())
    (root,) = [span for span in spans.get_finished_spans() if span.parent is None]
    assert root.status.status_code is StatusCode.ERROR
    assert RunView.load(tmp_path / "run").status == ("failed" if how == "error" else "interrupted")
    with open_session(tmp_path / "run") as session:
        assert session.progress.turn == 3
