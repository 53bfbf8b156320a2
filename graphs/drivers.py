"""Two ways to drive the steps: the LangGraph machine and a plain loop. The ledgers are identical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from turngate.graphs.decide_step import decide
from turngate.graphs.edit_step import edit
from turngate.graphs.history import Position
from turngate.graphs.measure_step import measure, measure_truth
from turngate.graphs.session import LoopContext, Session

__all__ = ["DRIVERS", "run_graph", "run_loop"]


def run_loop(session: Session) -> str:
    """Drive the steps in a plain loop, evaluators one after the other; returns the status it ended with."""
    position: Position = session.position
    while position.status == "running":
        attempt = edit(session, position)
        scores = [measure(session, attempt, name) for name in session.parts.evaluators]
        position = decide(session, position, attempt, scores, measure_truth(session, attempt))
    return position.status


def run_graph(session: Session) -> str:
    """Drive the steps through the LangGraph machine, evaluators in parallel; returns the status it ended with."""
    from turngate.graphs.machine import build_machine, step_limit
    from turngate.graphs.state import first_state

    config, position = session.config, session.position
    if position.status != "running":
        return position.status
    limit = step_limit(config.turns, config.on_reject.attempts, config.budgets.attempts)
    context = LoopContext(session)
    end = build_machine().invoke(first_state(position), {"recursion_limit": limit}, context=context)
    return str(end["status"])


DRIVERS: dict[Literal["graph", "loop"], Callable[[Session], str]] = {"graph": run_graph, "loop": run_loop}
"""Drivers by name."""
