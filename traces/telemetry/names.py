"""Every name that telemetry sends, in one place.

`gen_ai.*` and `error.type` follow the OpenTelemetry GenAI semantic conventions, which live in their own repository
(open-telemetry/semantic-conventions-genai);
`turngate.*` is ours, for what the conventions do not have: turns, gates, truth, directions.
"""

from __future__ import annotations

from typing import Final

CONVENTIONS: Final = "0.1.0"
"""Release of the GenAI conventions that the names follow; it travels with the spans as `SCOPE_CONVENTIONS`."""
SCOPE: Final = "turngate"
SCOPE_CONVENTIONS: Final = "turngate.gen_ai.conventions"

# Span names and operations
WORKFLOW: Final = "turngate"
OPERATION_WORKFLOW: Final = "invoke_workflow"
OPERATION_TURN: Final = "invoke_agent"
OPERATION_EDIT: Final = "generate_content"
SPAN_RUN: Final = f"{OPERATION_WORKFLOW} {WORKFLOW}"
SPAN_TURN: Final = "turn {turn}"
SPAN_EDIT: Final = OPERATION_EDIT + " {model}"
SPAN_EVALUATE: Final = "evaluate {evaluator}"
SPAN_GATE: Final = "gate"

# GenAI conventions
OPERATION: Final = "gen_ai.operation.name"
AGENT_NAME: Final = "gen_ai.agent.name"
WORKFLOW_NAME: Final = "gen_ai.workflow.name"
"""Replaced by `gen_ai.agent.name` in 0.1.0; sent as well, because backends still look for it."""
CONVERSATION: Final = "gen_ai.conversation.id"
PROVIDER: Final = "gen_ai.provider.name"
OUTPUT_TYPE: Final = "gen_ai.output.type"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_SEED: Final = "gen_ai.request.seed"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
EXPLANATION: Final = "gen_ai.evaluation.explanation"
ERROR_TYPE: Final = "error.type"
EVENT_EVALUATION: Final = "gen_ai.evaluation.result"
"""Name of the log event."""

# OpenInference, for viewers that know no workflow, evaluation or gate of the GenAI conventions
SPAN_KIND: Final = "openinference.span.kind"
KIND_RUN: Final = "CHAIN"
KIND_EVALUATE: Final = "EVALUATOR"
KIND_GATE: Final = "GUARDRAIL"

# Metrics
METRIC_EDIT_DURATION: Final = "gen_ai.client.operation.duration"
"""Seconds. 0.1.0 calls it `gen_ai.client.inference.duration`; dashboards still look for the older name."""
METRIC_TOKENS: Final = "gen_ai.client.token.usage"
"""Tokens per call. 0.1.0 made counters of it (`gen_ai.client.inference.usage.*`); see above."""
METRIC_SCORE: Final = "turngate.evaluation.score"
METRIC_DECISIONS: Final = "turngate.gate.decisions"
METRIC_TURN_DURATION: Final = "turngate.turn.duration"
METRIC_RETRIES: Final = "turngate.edit.retries"
METRIC_COST: Final = "turngate.cost"
TOKENS_TYPE: Final = "gen_ai.token.type"
COST_OF: Final = "turngate.cost.of"
"""`editor` or `evaluator`."""
RETRY_LEVEL: Final = "turngate.retry.level"
"""`attempt`: the gate's policy asked for another image; `call`: the provider was asked again for the same one."""

# Run
RUN: Final = "turngate.run.id"
RUN_STATUS: Final = "turngate.run.status"
RUN_REASON: Final = "turngate.run.reason"
RUN_TURNS: Final = "turngate.run.turns"
RUN_CLOSED_TURNS: Final = "turngate.run.closed_turns"
RUN_ATTEMPTS: Final = "turngate.run.attempts"
RUN_COST: Final = "turngate.run.cost_usd"
RUN_SEED: Final = "turngate.run.seed"
RUN_SCENARIO: Final = "turngate.run.scenario"
RUN_EDITOR: Final = "turngate.run.editor"
RUN_GATE: Final = "turngate.run.gate"
RUN_EVALUATORS: Final = "turngate.run.evaluators"
PARENT_RUN: Final = "turngate.parent.run.id"
PARENT_TURN: Final = "turngate.parent.turn"
SIMULATED: Final = "turngate.simulated"

# Turn and attempt
TURN: Final = "turngate.turn.index"
ATTEMPT: Final = "turngate.attempt.index"
TURN_ATTEMPTS: Final = "turngate.turn.attempts"
TURN_CLOSED: Final = "turngate.turn.closed"
IMAGE_BEFORE: Final = "turngate.image.before"
IMAGE_AFTER: Final = "turngate.image.after"
IMAGE_TURN_AFTER: Final = "turngate.image.turn_after"
TAKEN_ATTEMPT: Final = "turngate.taken_attempt"

# Editor call
OUTCOME: Final = "turngate.edit.outcome"
HISTORY: Final = "turngate.edit.history"
EDIT_FLAGS: Final = "turngate.edit.flags"
RETRYABLE: Final = "turngate.edit.retryable"
COST: Final = "turngate.edit.cost_usd"
WAITED: Final = "turngate.edit.waited_seconds"
TRY: Final = "turngate.edit.try"
"""On a call that failed and was made again within the attempt: its number, from 1."""
IMAGE_IN: Final = "turngate.image.input"
IMAGE_IN_TURN: Final = "turngate.image.input_turn"
IMAGE_OUT: Final = "turngate.image.output"
IMAGE_TYPE: Final = "turngate.image.media_type"
IMAGE_WIDTH: Final = "turngate.image.width"
IMAGE_HEIGHT: Final = "turngate.image.height"
IMAGE_BYTES: Final = "turngate.image.size_bytes"
TRUTH_MEASURE: Final = "turngate.truth.measure"
TRUTH_VALUE: Final = "turngate.truth.value"
TRUTH_DAMAGED: Final = "turngate.truth.damaged"
TRUTH_DAMAGED_AT: Final = "turngate.truth.damaged_at"
LINK_RELATION: Final = "turngate.link.relation"
"""On a link: `retry_of` (the call before), `turn_of` (the run), `after` (the turn before), `forked_from` (the parent
run's turn)."""

# Evaluation
EVALUATOR_TYPE: Final = "turngate.evaluator.type"
EVALUATOR_VERSION: Final = "turngate.evaluator.version"
EVALUATION_STATUS: Final = "turngate.evaluation.status"
EVALUATION_DIRECTION: Final = "turngate.evaluation.direction"
EVALUATION_LOWEST: Final = "turngate.evaluation.range.lowest"
EVALUATION_HIGHEST: Final = "turngate.evaluation.range.highest"
"""Bounds of the evaluator's values; left out where there is none."""
EVALUATION_COMPONENT: Final = "turngate.evaluation.component.{name}"
EVALUATION_FLAGS: Final = "turngate.evaluation.flags"
EVALUATION_WHY: Final = "turngate.evaluation.why"
EVALUATION_FAULT: Final = "turngate.evaluation.fault"
EVALUATION_TRIES: Final = "turngate.evaluation.tries"
EVALUATION_CALLS: Final = "turngate.evaluation.calls"
EVALUATION_COST: Final = "turngate.evaluation.cost_usd"
EVALUATION_WAITED: Final = "turngate.evaluation.waited_seconds"

# Gate
GATE_VERDICT: Final = "turngate.gate.verdict"
GATE_RULE: Final = "turngate.gate.rule"
GATE_REASON: Final = "turngate.gate.reason"
GATE_ACTION: Final = "turngate.gate.action"
GATE_EVIDENCE: Final = "turngate.gate.evidence.{name}"
