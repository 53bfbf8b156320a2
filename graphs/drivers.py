"""Two ways to drive the steps: the LangGraph machine and a plain loop. The ledgers are identical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from turngate.graphs.decide_step import decide
from turngate.graphs.edit_step import edit
from turngate.graphs.measure_step import measure, measure_truths
from turngate.graphs.session import LoopContext, Session
from turngate.traces.progress import Progress

__all__ = ["DRIVERS", "run_graph", "run_loop"]


def run_loop(session: Session) -> str:
    """Drive the steps in a plain loop, evaluators one after the other; returns the status it ended with."""
    progress: Progress = session.progress
    while progress.status == "running":
        attempt = edit(session, progress)
        scores = [measure(session, attempt, name) for name in session.components.evaluators]
        progress = decide(session, progress, attempt, scores, measure_truths(session, attempt))
    return progress.status


def run_graph(session: Session) -> str:
    """Drive the steps through the LangGraph machine, evaluators in parallel; returns the status it ended with."""
    from turngate.graphs.machine import build_machine, first_state, step_limit

    config, progress = session.config, session.progress
    if progress.status != "running":
        return progress.status
    limit = step_limit(config.turns, config.on_reject.attempts, config.budgets.attempts)
    context = LoopContext(session)
    end = build_machine().invoke(first_state(progress), {"recursion_limit": limit}, context=context)
    return str(end["status"])


DRIVERS: dict[Literal["graph", "loop"], Callable[[Session], str]] = {"graph": run_graph, "loop": run_loop}
"""Drivers by name."""
