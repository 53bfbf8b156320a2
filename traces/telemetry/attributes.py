"""From rows of the ledger to attributes of spans, events and metrics. Free text is redacted and cut on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from turngate.traces.records import AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.content import Content

__all__ = [
    "Attributes",
    "Value",
    "answered_at",
    "called",
    "closing_attributes",
    "decision_attributes",
    "edit_attributes",
    "edit_error",
    "ending_attributes",
    "evaluation_span_attributes",
    "failed_calls",
    "gate_attributes",
    "known",
    "parts",
    "result_attributes",
    "run_attributes",
    "scoped",
    "try_attributes",
    "turn_attributes",
    "words",
]

Value: TypeAlias = str | bool | int | float | list[str]
Attributes: TypeAlias = dict[str, Value]
T = TypeVar("T")

_MOST_PARTS = 16
"""Evidence and components come from plug-ins; the rest of a span needs room too (SDK limit: 128 attributes)."""
_MOST_WORDS = 8
"""Flags that are shown; the ledger has them all."""


def known(values: Mapping[str, Value | None]) -> Attributes:
    """`values` without those that are None."""
    return {name: value for name, value in values.items() if value is not None}


def words(values: Sequence[str], content: Content) -> list[str] | None:
    """The first flags of a row; None when there are none."""
    return [content.word(value) for value in values[:_MOST_WORDS]] or None


def parts(name: str, values: Mapping[str, float | str | None], content: Content) -> Attributes:
    """One attribute per named value; `{name}` in `name` is replaced by the value's name."""
    shown = [(key, value) for key, value in values.items() if value is not None][:_MOST_PARTS]
    return {
        name.format(name=content.word(key)): content.word(value) if isinstance(value, str) else value
        for key, value in shown
    }


def scoped(get: Callable[..., T], info: RunInfo) -> T:
    """A tracer, logger or meter in turngate's scope; `get` is the getter of its provider."""
    version = info.made_with.get("packages", {}).get("turngate")
    return get(names.SCOPE, version, attributes={names.SCOPE_CONVENTIONS: names.CONVENTIONS})


def run_attributes(info: RunInfo) -> Attributes:
    """The run's span as it begins."""
    config = info.recorded
    return known(
        {
            names.OPERATION: names.OPERATION_WORKFLOW,
            names.SPAN_KIND: names.KIND_RUN,
            names.AGENT_NAME: names.WORKFLOW,
            names.WORKFLOW_NAME: names.WORKFLOW,
            names.CONVERSATION: info.run,
            names.RUN: info.run,
            names.RUN_TURNS: config.turns,
            names.RUN_SEED: config.seed,
            names.RUN_SCENARIO: config.scenario.type or None,
            names.RUN_EDITOR: config.editor.type or None,
            names.RUN_GATE: config.gate.type or None,
            names.RUN_EVALUATORS: list(config.evaluators),
            names.SIMULATED: info.resolved.simulated,
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
    """The run's span as the work on the run ends; `reason` is redacted and cut."""
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
    thresholds = parts(names.GATE_THRESHOLD, row.thresholds, content)
    return decided | place | parts(names.GATE_EVIDENCE, row.evidence, content) | thresholds


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


@dataclass(frozen=True)
class FailedCall:
    """A call that failed and was made again."""

    number: int
    """1-based within the attempt."""
    why: str
    """Kind of failure: `per_minute`, `timeout`, ..."""
    seconds: float
    """How long the call took."""
    waited: float
    """Pause after it, seconds."""
    ended_ns: int
    """Unix nanoseconds, from the attempt's start and what the calls before it took."""
    again_ns: int
    """When the next call began."""


def failed_calls(row: AttemptRow) -> Iterator[FailedCall]:
    """All failed calls but the one that the attempt itself ended with."""
    tries, at = row.tries, row.started_ns
    answered = row.outcome != "no_image" or row.response_id is not None or row.finish_reason is not None
    if tries and not answered and not tries[-1]["waited"]:
        tries = tries[:-1]
    for number, one in enumerate(tries, start=1):
        ended = min(at + round(1e9 * one["seconds"]), row.ended_ns)
        again = min(ended + round(1e9 * one["waited"]), row.ended_ns)
        yield FailedCall(number, str(one["why"]), one["seconds"], one["waited"], ended, again)
        at = again


def answered_at(row: AttemptRow) -> int:
    """When the last call of an attempt began, Unix nanoseconds."""
    return max((call.again_ns for call in failed_calls(row)), default=row.started_ns)


def called(info: RunInfo) -> str:
    """What an editor call asks: the model, or the type of editor where it has no model."""
    return info.resolved.editor.model or info.recorded.editor.type or names.WORKFLOW


def edit_error(row: AttemptRow) -> str | None:
    """`error.type` of an editor call; None when it gave an image."""
    return (row.why or "no_image") if row.outcome == "no_image" else None


def edit_attributes(info: RunInfo, row: AttemptRow, truth: TruthRow | None, content: Content) -> Attributes:
    """An editor call."""
    failed = row.outcome == "no_image"
    return _request(info, row) | known(
        {
            names.RESPONSE_MODEL: content.text(row.model),
            names.RESPONSE_ID: content.text(row.response_id),
            names.FINISH_REASONS: [content.word(row.finish_reason)] if row.finish_reason else None,
            names.INPUT_TOKENS: row.input_tokens,
            names.OUTPUT_TOKENS: row.output_tokens,
            names.REASONING_TOKENS: row.reasoning_tokens,
            names.OUTCOME: row.outcome,
            names.ERROR_TYPE: edit_error(row),
            names.RETRYABLE: row.retryable if failed else None,
            names.HISTORY: row.history,
            names.EDIT_FLAGS: words(row.flags, content),
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


def try_attributes(info: RunInfo, row: AttemptRow, call: FailedCall) -> Attributes:
    """A call that failed and was made again within the attempt."""
    failed: Attributes = {names.ERROR_TYPE: call.why, names.TRY: call.number, names.WAITED: call.waited}
    return _request(info, row) | failed


def _request(info: RunInfo, row: AttemptRow) -> Attributes:
    return known(
        {
            names.OPERATION: names.OPERATION_EDIT,
            names.PROVIDER: row.provider,
            names.REQUEST_MODEL: info.resolved.editor.model,
            names.REQUEST_SEED: row.seed,
            names.OUTPUT_TYPE: "image",
            names.CONVERSATION: info.run,
            names.TURN: row.turn,
            names.ATTEMPT: row.attempt,
        }
    )


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
    facts = info.resolved.evaluators.get(row.evaluator)
    lowest, highest = facts.bounds if facts is not None else (None, None)
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
