"""From rows of the ledger to attributes of run, turn and gate. Free text is redacted and cut on the way."""

from __future__ import annotations

from turngate.traces.records import DecisionRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry._values import Attributes, known, parts, type_of
from turngate.traces.telemetry.content import Content

__all__ = [
    "closing_attributes",
    "decision_attributes",
    "ending_attributes",
    "gate_attributes",
    "run_attributes",
    "turn_attributes",
]


def run_attributes(info: RunInfo) -> Attributes:
    """The root: what is known before the first turn."""
    config = info.config
    return known(
        {
            names.OPERATION: names.OPERATION_WORKFLOW,
            names.SPAN_KIND: names.KIND_RUN,
            names.AGENT_NAME: names.WORKFLOW,
            names.WORKFLOW_NAME: names.WORKFLOW,
            names.CONVERSATION: info.run,
            names.RUN: info.run,
            names.RUN_TURNS: config.get("turns"),
            names.RUN_SEED: config.get("seed"),
            names.RUN_SCENARIO: type_of(config, "scenario"),
            names.RUN_EDITOR: type_of(config, "editor"),
            names.RUN_GATE: type_of(config, "gate"),
            names.RUN_EVALUATORS: list(config.get("evaluators", ())),
            names.SIMULATED: info.resolved.get("simulated"),
            names.PARENT_RUN: info.parent.run if info.parent else None,
            names.PARENT_TURN: info.parent.turn if info.parent else None,
        }
    )


def turn_attributes(run: str, turn: int, image_before: str | None) -> Attributes:
    """A turn as it begins."""
    return known(
        {
            names.OPERATION: names.OPERATION_TURN,
            names.AGENT_NAME: names.WORKFLOW,
            names.CONVERSATION: run,
            names.TURN: turn,
            names.IMAGE_BEFORE: image_before,
        }
    )


def closing_attributes(row: DecisionRow, decided: Attributes) -> Attributes:
    """A turn as it is closed; `decided` are the decision's own attributes."""
    return decided | {names.TURN_CLOSED: True, names.TURN_ATTEMPTS: row.attempt}


def ending_attributes(
    status: str, reason: str | None, closed_turns: int, attempts: int, cost_usd: float | None
) -> Attributes:
    """The root as the work on the run ends; `reason` is fit to be sent."""
    return known(
        {
            names.RUN_STATUS: status,
            names.RUN_REASON: reason,
            names.RUN_CLOSED_TURNS: closed_turns,
            names.RUN_ATTEMPTS: attempts,
            names.RUN_COST: cost_usd,
            names.ERROR_TYPE: status if status == "failed" else None,
        }
    )


def gate_attributes(row: DecisionRow, decided: Attributes, content: Content) -> Attributes:
    """A gate; `decided` are the decision's own attributes."""
    place: Attributes = {names.SPAN_KIND: names.KIND_GATE, names.TURN: row.turn, names.ATTEMPT: row.attempt}
    return decided | place | parts(names.GATE_EVIDENCE, row.evidence, content)


def decision_attributes(row: DecisionRow, content: Content) -> Attributes:
    """A decision and what followed from it; on the gate, and on the turn that it closes."""
    return known(
        {
            names.GATE_VERDICT: row.verdict,
            names.GATE_RULE: row.rule,
            names.GATE_REASON: content.text(row.reason),
            names.GATE_ACTION: row.action,
            names.TAKEN_ATTEMPT: row.taken_attempt,
            names.IMAGE_AFTER: row.image_after,
            names.IMAGE_TURN_AFTER: row.image_turn_after,
        }
    )
