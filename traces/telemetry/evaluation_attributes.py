"""From rows of the ledger to attributes of an evaluation: its span, and its event."""

from __future__ import annotations

from typing import Any

from turngate.traces.records import AttemptRow, ScoreRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry._values import Attributes, known, parts, words
from turngate.traces.telemetry.content import Content

__all__ = ["evaluation_span_attributes", "result_attributes"]


def evaluation_span_attributes(info: RunInfo, row: ScoreRow, content: Content) -> Attributes:
    """The span of an evaluation."""
    more = known(
        {
            names.SPAN_KIND: names.KIND_EVALUATE,
            names.EVALUATION_WHY: content.text(row.why),
            names.EVALUATION_FAULT: row.fault,
            names.EVALUATION_FLAGS: words(row.flags, content),
            names.EVALUATION_TRIES: row.tries,
            names.EVALUATION_CALLS: row.usage.get("calls"),
            names.INPUT_TOKENS: row.usage.get("input_tokens"),
            names.OUTPUT_TOKENS: row.usage.get("output_tokens"),
            names.EVALUATION_COST: row.usage.get("cost_usd"),
            names.EVALUATION_WAITED: row.usage.get("waited_seconds") or None,
            names.EVALUATOR_TYPE: row.type,
            names.EVALUATOR_VERSION: row.version,
        }
    )
    return _result(info, row, content) | more | parts(names.EVALUATION_COMPONENT, row.components, content)


def result_attributes(info: RunInfo, attempt: AttemptRow, row: ScoreRow, content: Content) -> Attributes:
    """The event `gen_ai.evaluation.result` about the candidate of `attempt`."""
    answer = known({names.RESPONSE_ID: content.text(attempt.response_id), names.CONVERSATION: info.run})
    return _result(info, row, content) | answer


def _result(info: RunInfo, row: ScoreRow, content: Content) -> Attributes:
    """A value only when there is a score; unscored and failed ones have `error.type`."""
    facts: dict[str, Any] = info.resolved.get("evaluators", {}).get(row.evaluator, {})
    lowest, highest = (_bound(bound) for bound in facts.get("range", (None, None)))
    return known(
        {
            names.EVALUATION_NAME: row.evaluator,
            names.SCORE_VALUE: row.value if row.status == "scored" else None,
            names.SCORE_LABEL: content.word(row.label) if row.label else None,
            names.EXPLANATION: content.text(row.explanation) if content.capture else None,
            names.ERROR_TYPE: content.text(row.why or row.status) if row.status in ("unscored", "failed") else None,
            names.EVALUATION_STATUS: row.status,
            names.EVALUATION_DIRECTION: row.direction,
            names.EVALUATION_LOWEST: lowest,
            names.EVALUATION_HIGHEST: highest,
            names.TURN: row.turn,
            names.ATTEMPT: row.attempt,
        }
    )


def _bound(bound: object) -> float | None:
    """run.json writes infinite bounds as words."""
    return float(bound) if isinstance(bound, int | float) else None
