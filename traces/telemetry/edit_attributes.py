"""From rows of the ledger to attributes of an editor call."""

from __future__ import annotations

from turngate.traces.records import AttemptRow, TruthRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry._values import Attributes, known, type_of, words
from turngate.traces.telemetry.calls import FailedCall
from turngate.traces.telemetry.content import Content

__all__ = ["called", "edit_attributes", "edit_error", "try_attributes"]


def called(info: RunInfo) -> str:
    """What is called: the model, or the kind of editor where it has no model."""
    return str(info.resolved.get("editor", {}).get("model") or type_of(info.config, "editor") or names.WORKFLOW)


def edit_error(row: AttemptRow) -> str | None:
    """`error.type` of an editor call; None when an image came."""
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
            names.REQUEST_MODEL: info.resolved.get("editor", {}).get("model"),
            names.REQUEST_SEED: row.seed,
            names.OUTPUT_TYPE: "image",
            names.CONVERSATION: info.run,
            names.TURN: row.turn,
            names.ATTEMPT: row.attempt,
        }
    )
