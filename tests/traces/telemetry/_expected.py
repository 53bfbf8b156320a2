"""The span tree that a ledger says there must be, and a run of 100 turns to try it on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turngate import RunView
from turngate.traces.telemetry.place import (
    edit_span_id,
    evaluate_span_id,
    gate_span_id,
    run_span_id,
    turn_span_id,
)


def tree_of(view: RunView) -> dict[str, tuple[str, str | None]]:
    """Span id -> name and parent, for a run of the scripted editor with one trace."""
    run = view.info.run
    root = f"{run_span_id(run):016x}"
    found: dict[str, tuple[str, str | None]] = {root: ("invoke_workflow turngate", None)}
    for attempt in view.attempts:
        place = (attempt.row.turn, attempt.row.attempt)
        turn = f"{turn_span_id(run, place[0]):016x}"
        found[turn] = (f"turn {place[0]}", root)
        found[f"{edit_span_id(run, *place):016x}"] = ("generate_content scripted", turn)
        found[f"{gate_span_id(run, *place):016x}"] = ("gate", turn)
        for name in attempt.scores:
            found[f"{evaluate_span_id(run, *place, name):016x}"] = (f"evaluate {name}", turn)
    return found


def hundred_turns(config: Callable[..., Any], **fields: Any) -> Any:
    """Settings of a run with retries, refusals and evaluations without a score; `fields` are the editor's."""
    script = {"2.1": "no_image:safety", "3.1": 0.9, "4": "same"} | {str(turn): 0.9 for turn in range(10, 100, 10)}
    judge = {"type": "scripted", "rule": "sequence", "values": [0.5, "unscored:parse", "failed:machine", -0.25]}
    return config(
        turns=100,
        editor={"type": "scripted", "script": script, "reasoning": "step {turn}", "cost_usd": 0.01, **fields},
        evaluators={"gray": {"type": "scripted"}, "judge": judge},
        gate={"type": "threshold", "evaluator": "gray", "at": 0.7},
        on_reject={"attempts": 2, "then": "skip"},
        driver="graph",
        telemetry={"capture_content": True, "flush_seconds": 300},
    )
