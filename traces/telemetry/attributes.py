"""From rows of the ledger to attributes of spans. Free text is redacted and cut here; nothing else decides a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from turngate.traces.records import AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.content import clip

__all__ = [
    "Attributes",
    "closing_attributes",
    "decision_attributes",
    "edit_attributes",
    "ending_attributes",
    "evaluate_attributes",
    "gate_attributes",
    "run_attributes",
    "turn_attributes",
]

Attributes: TypeAlias = dict[str, str | bool | int | float | list[str]]

_MOST_PARTS = 24
"""Evidence and components come from plug-ins; the rest of a span must keep its place (SDK limit: 128 attributes)."""


def run_attributes(info: RunInfo) -> Attributes:
    """The root: what is known before the first turn."""
    config = info.config
    return _known(
        {
            names.OPERATION: names.OPERATION_WORKFLOW,
            names.AGENT_NAME: names.WORKFLOW,
            names.WORKFLOW_NAME: names.WORKFLOW,
            names.CONVERSATION: info.run,
            names.RUN: info.run,
            names.RUN_TURNS: config.get("turns"),
            names.RUN_SEED: config.get("seed"),
            names.RUN_SCENARIO: _type(config, "scenario"),
            names.RUN_EDITOR: _type(config, "editor"),
            names.RUN_GATE: _type(config, "gate"),
            names.RUN_EVALUATORS: list(config.get("evaluators", ())),
            names.SIMULATED: info.resolved.get("simulated"),
            names.PARENT_RUN: info.parent.run if info.parent else None,
            names.PARENT_TURN: info.parent.turn if info.parent else None,
        }
    )


def turn_attributes(run: str, turn: int, image_before: str | None) -> Attributes:
    """A turn as it begins."""
    return _known(
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
    """The root as the work on the run ends."""
    return _known(
        {
            names.RUN_STATUS: status,
            names.RUN_REASON: _text(reason),
            names.RUN_CLOSED_TURNS: closed_turns,
            names.RUN_ATTEMPTS: attempts,
            names.RUN_COST: cost_usd,
            names.ERROR_TYPE: status if status == "failed" else None,
        }
    )


def edit_attributes(info: RunInfo, row: AttemptRow, truth: TruthRow | None) -> Attributes:
    """An editor call."""
    editor = info.resolved.get("editor", {})
    return _known(
        {
            names.OPERATION: names.OPERATION_EDIT,
            names.PROVIDER: editor.get("provider") or _type(info.config, "editor") or names.WORKFLOW,
            names.REQUEST_MODEL: editor.get("model"),
            names.RESPONSE_MODEL: row.model,
            names.REQUEST_SEED: row.seed,
            names.OUTPUT_TYPE: "image",
            names.CONVERSATION: info.run,
            names.TURN: row.turn,
            names.ATTEMPT: row.attempt,
            names.OUTCOME: row.outcome,
            names.ERROR_TYPE: (row.why or "no_image") if row.outcome == "no_image" else None,
            names.RETRYABLE: row.retryable if row.outcome == "no_image" else None,
            names.HISTORY: row.history,
            names.EDIT_FLAGS: [clip(flag) for flag in row.flags] or None,
            names.INPUT_TOKENS: row.input_tokens,
            names.OUTPUT_TOKENS: row.output_tokens,
            names.REASONING_TOKENS: row.reasoning_tokens,
            names.COST: row.cost_usd,
            names.WAITED: row.waited_seconds or None,
            names.IMAGE_IN: row.input_image,
            names.IMAGE_IN_TURN: row.input_turn,
            names.IMAGE_OUT: row.image,
            names.IMAGE_TYPE: row.media_type,
            names.IMAGE_WIDTH: row.width,
            names.IMAGE_HEIGHT: row.height,
            names.IMAGE_BYTES: row.size_bytes,
            names.SIMULATED: row.simulated,
            names.TRUTH_MEASURE: truth.measure if truth else None,
            names.TRUTH_VALUE: truth.value if truth else None,
            names.TRUTH_DAMAGED: truth.damaged if truth else None,
            names.TRUTH_DAMAGED_AT: truth.damaged_at if truth else None,
        }
    )


def evaluate_attributes(row: ScoreRow, capture_content: bool) -> Attributes:
    """An evaluation. A value only when there is a score; unscored and failed ones have `error.type`."""
    no_score = row.status in ("unscored", "failed")
    found = _known(
        {
            names.EVALUATION_NAME: row.evaluator,
            names.SCORE_VALUE: row.value if row.status == "scored" else None,
            names.SCORE_LABEL: _text(row.label),
            names.EXPLANATION: _text(row.explanation) if capture_content else None,
            names.ERROR_TYPE: (row.why or row.status) if no_score else None,
            names.EVALUATION_STATUS: row.status,
            names.EVALUATION_DIRECTION: row.direction,
            names.EVALUATION_WHY: row.why,
            names.EVALUATION_FAULT: row.fault,
            names.EVALUATION_FLAGS: [clip(flag) for flag in row.flags] or None,
            names.EVALUATION_TRIES: row.tries,
            names.EVALUATOR_TYPE: row.type,
            names.EVALUATOR_VERSION: row.version,
            names.TURN: row.turn,
            names.ATTEMPT: row.attempt,
        }
    )
    return found | _parts(names.EVALUATION_COMPONENT, row.components)


def gate_attributes(row: DecisionRow, decided: Attributes) -> Attributes:
    """A gate; `decided` are the decision's own attributes."""
    place: Attributes = {names.TURN: row.turn, names.ATTEMPT: row.attempt}
    return decided | place | _parts(names.GATE_EVIDENCE, row.evidence)


def decision_attributes(row: DecisionRow) -> Attributes:
    """A decision and what followed from it; on the gate, and on the turn that it closes."""
    return _known(
        {
            names.GATE_VERDICT: row.verdict,
            names.GATE_RULE: row.rule,
            names.GATE_REASON: _text(row.reason),
            names.GATE_ACTION: row.action,
            names.TAKEN_ATTEMPT: row.taken_attempt,
            names.IMAGE_AFTER: row.image_after,
            names.IMAGE_TURN_AFTER: row.image_turn_after,
        }
    )


def _parts(name: str, values: Mapping[str, float | str | None]) -> Attributes:
    shown = [(key, value) for key, value in values.items() if value is not None][:_MOST_PARTS]
    return {name.format(name=key): clip(value) if isinstance(value, str) else value for key, value in shown}


def _known(values: Mapping[str, str | bool | int | float | list[str] | None]) -> Attributes:
    return {name: value for name, value in values.items() if value is not None}


def _text(value: str | None) -> str | None:
    return clip(value) if value else value


def _type(config: Mapping[str, object], part: str) -> str | None:
    chosen = config.get(part)
    return str(chosen["type"]) if isinstance(chosen, Mapping) and "type" in chosen else None
