"""The rows of a ledger, field by field. SQLite tables, exports and `turngate schema` are all made from these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import model_validator

from turngate.component import BEYOND_DIVERGENCE, FAKE_SERVER, NOT_ON_RECORD, SCORED_AT, Direction, ObjectFailure
from turngate.frozen import StrictModel
from turngate.traces._older import answer_now

__all__ = [
    "LABELS_TRUTH",
    "LEADING_TRUTH",
    "SCHEMA_VERSION",
    "TABLES",
    "TIMING_FIELDS",
    "AttemptRecord",
    "AttemptRow",
    "CallRow",
    "CompositeRow",
    "DecisionRow",
    "EditAnswer",
    "EditTask",
    "EventRow",
    "OriginRecord",
    "Row",
    "RunStatus",
    "ScoreRow",
    "TruthRow",
    "is_damaged",
    "truths_by_name",
]

SCHEMA_VERSION = 3
"""Version of run.json and of every table; a reader refuses a newer one. 2: composites have a table of their own. 3: a
run may have several truths, so that a reader of version 2 would take one for another; and values of untouched images
have the flag `identical`, without which a ceiling is no measurement to average."""

LEADING_TRUTH = "truth"
"""Name of the truth that the configuration's `truth` sets: the one that a gate which reads the truth is shown."""

LABELS_TRUTH = "labels"
"""Name of people's verdicts where they stand among the truths of a run."""

_IDENTICAL = "identical"

RunStatus = Literal[
    "running", "complete", "stopped", "attempts_exhausted", "budget_exhausted", "waiting", "interrupted", "failed"
]  # fmt: skip
"""Status of a run. `interrupted` is derived: no ending recorded and no process at work."""

TIMING_FIELDS = frozenset({"started_ns", "ended_ns", "at_ns", "waited_seconds", "tries"})
"""Fields that differ between two executions of one configuration; all others are equal."""


class Row(StrictModel):
    """Base of all rows."""

    def comparable(self) -> dict[str, Any]:
        """The row without what differs between two executions of one configuration."""
        return self.model_dump(mode="json", exclude=set(TIMING_FIELDS))


class EditTask(Row):
    """What the editor was asked to do at one attempt."""

    turn: int
    """1-based."""
    attempt: int
    """1-based within the turn."""
    seed: int | None
    """Seed that the editor was given; None where a remote model was sent none (seed policy `none`)."""
    instruction: str
    """Text of the instruction."""
    history: str
    """History protocol: `previous`, `origin`, `anchor` or `chat`."""
    input_image: str
    """SHA-256 of the image that was edited."""
    input_turn: int
    """Turn that accepted that image; 0 for the origin."""
    simulated: bool = False
    """The answer was made up: the damage is written by hand, or the shipped fake server gave it."""


class EditAnswer(Row):
    """What an editor gave: a candidate, or the reason for none. Kept as a call's answer before it is used."""

    outcome: Literal["edited", "no_change", "no_image"]
    """`no_change`: the answer is byte-identical to the input."""
    why: str | None = None
    """Why there is no image (`safety`, `timeout`, ...)."""
    retryable: bool = True
    """False when the same request must fail again."""
    detail: str = ""
    """One line about a missing image."""
    image: str | None = None
    """SHA-256 of the candidate, bytes as received."""
    media_type: str | None = None
    """Sniffed from the bytes."""
    width: int | None = None
    """Pixels."""
    height: int | None = None
    """Pixels."""
    size_bytes: int | None = None
    """Bytes of the candidate as received."""
    normalised: list[str] = []
    """Steps from the received file to 8-bit RGB; empty for a plain 8-bit RGB file."""
    flags: list[str] = []
    """Remarks: `size_changed`, `image_from_thought`, ..."""
    extras: list[dict[str, str]] = []
    """Other images that came along: `{"image": sha256, "role": "interim"}`."""
    reasoning: str | None = None
    """The model's summary of its thoughts."""
    model: str | None = None
    """Resolved model version, as reported."""
    damage: float | None = None
    """A simulator's own record of its damage to this image so far; hidden from gates."""
    operation_failed: bool | None = None
    """A simulator's own record: the mirroring or rotation that was asked for was not carried out; None without one."""
    object_failure: ObjectFailure | None = None
    """A simulator's own record of what became of an object that it was asked to add; None when it was not asked."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    """US dollars; None when not known."""
    waited_seconds: float = 0.0
    """Seconds spent waiting on a limit or on a call that never answered."""
    provider: str | None = None
    """Remote provider, named after the OpenTelemetry conventions (`gcp.gemini`, `openai`); None for local editors."""
    response_id: str | None = None
    """The provider's name for its answer."""
    finish_reason: str | None = None
    """Why the model stopped, as the provider spells it."""
    tries: list[dict[str, Any]] = []
    """Calls that failed before this answer: `{"why": "per_minute", "seconds": 0.4, "waited": 17.0}`."""
    content: str | None = None
    """SHA-256 of what the model returned, as JSON in the image store; only with history `chat`."""
    metadata: dict[str, Any] = {}
    """What else the editor reported about its work, plain JSON."""

    @model_validator(mode="before")
    @classmethod
    def _as_written_now(cls, raw: Any) -> Any:
        return answer_now(raw) if isinstance(raw, Mapping) and "told" in raw else raw

    @classmethod
    def stored(cls, answer: Mapping[str, Any]) -> EditAnswer:
        """The answer of a call of kind `edit`; turngate 0.1.0 kept the seed there as well."""
        return cls.model_validate({name: value for name, value in answer.items() if name != "seed"})


class AttemptRow(EditAnswer, EditTask):
    """One editor call and what it gave."""

    started_ns: int
    """Start of the editor call, Unix nanoseconds."""
    ended_ns: int
    """End of the editor call, Unix nanoseconds."""

    @property
    def from_fake_server(self) -> bool:
        """The shipped fake server gave the answer: no model was asked."""
        return FAKE_SERVER in self.flags

    @property
    def beyond_divergence(self) -> bool:
        """A recorded answer was served that the editor would not have given in this run; False in ledgers of 0.1.0."""
        return BEYOND_DIVERGENCE in self.flags

    @property
    def not_on_record(self) -> bool:
        """A recorded chain had an image here that is lost or cannot be read."""
        return NOT_ON_RECORD in self.flags


class ScoreRow(Row):
    """One evaluator's result on one candidate; turn 0, attempt 0 is the origin."""

    turn: int
    attempt: int
    evaluator: str
    """Name in the run's configuration."""
    type: str
    """Registry name of the evaluator."""
    version: str
    """Version of the evaluator."""
    status: Literal["scored", "unscored", "failed", "skipped"]
    value: float | None = None
    """Finite, in the evaluator's unit; only when scored."""
    direction: Literal["higher", "lower"]
    """Which way is better."""
    label: str | None = None
    explanation: str | None = None
    components: dict[str, float] = {}
    """Named parts of the value."""
    flags: list[str] = []
    why: str | None = None
    """Reason when unscored or skipped; short type of the error when failed."""
    fault: str | None = None
    """Who is at fault when failed: `user`, `provider`, `machine` or `us`."""
    detail: str = ""
    tries: int = 1
    """How often the evaluator was asked (policy `retry_evaluator`)."""
    answers: list[str] = []
    """What a judge's model said, answer by answer, as it came; of a very long one a mark says how much was cut."""
    usage: dict[str, Any] = {}
    """What a judge used up: `calls`, `input_tokens`, `output_tokens`, `cost_usd` (or null), `waited_seconds`."""
    started_ns: int
    ended_ns: int

    @property
    def untouched(self) -> bool:
        """The image has the pixels that it was compared with: the value is the end of its scale, no measurement."""
        return _IDENTICAL in self.flags

    @property
    def other_size(self) -> str | None:
        """Size of the image, `WIDTHxHEIGHT`, where it was scored without a reference and has not the origin's size."""
        start = f"{SCORED_AT}:"
        return next((flag.removeprefix(start) for flag in self.flags if flag.startswith(start)), None)

    @property
    def from_fake_server(self) -> bool:
        """The shipped fake server gave the answer, or that of a member: no model was asked."""
        return any(flag.rpartition(":")[2] == FAKE_SERVER for flag in self.flags)


class TruthRow(Row):
    """A damage measure that gates never see; turn 0, attempt 0 is the origin."""

    turn: int
    attempt: int
    name: str = LEADING_TRUTH
    """Which of the run's truths: `truth`, or its name in `more_truths`."""
    measure: str
    """`simulator`, or the evaluator that measures the distance to the ideal."""
    value: float | None
    """In the measure's unit; None when it could not be taken."""
    damaged_at: float
    """Threshold in force: at or beyond it a candidate is damaged."""
    damaged: bool | None
    """None when the value is not known."""
    detail: str = ""
    """Why the value is not known, or whose verdict it is."""
    flags: list[str] = []
    """Remarks of the measure, as in a score: how it laid the candidate on the ideal (`cropped:+1.20%,+0.90%`), ..."""
    components: dict[str, float] = {}
    """Named parts of the value, as in a score."""

    @property
    def untouched(self) -> bool:
        """The image has the pixels that it was compared with: the value is the end of its scale, no measurement."""
        return _IDENTICAL in self.flags


class DecisionRow(Row):
    """The gate's decision and what followed from it."""

    turn: int
    attempt: int
    verdict: Literal["accept", "reject", "accept_masked"]
    """What was decided about this candidate."""
    rule: str
    """Who decided: `gate`, `on_unscored:reject`, `on_no_image:reject`, `on_no_change:reject`, `human`."""
    decided_by: str | None = None
    """Name of the person who decided (rule `human`), as it was given; None where nobody did or no name was given."""
    reason: str
    """One line."""
    evidence: dict[str, float | str | None] = {}
    """The numbers that decided, in the gate's words."""
    thresholds: dict[str, float] = {}
    """Evaluator -> the worst value that the gate would still have accepted, in the evaluator's unit; only those that
    the gate holds against a value of their own."""
    action: Literal["accept", "retry", "skip", "force_accept", "keep_best", "rollback", "restart", "stop"]
    """What followed."""
    taken_attempt: int | None
    """Attempt of this turn whose candidate became the current image; None when none did."""
    image_after: str
    """SHA-256 of the current image after this attempt."""
    image_turn_after: int
    """Turn that accepted it; 0 for the origin."""
    closes_turn: bool
    status_after: Literal["running", "complete", "stopped", "attempts_exhausted"]
    """Status of the run after this row."""
    at_ns: int


class CompositeRow(Row):
    """What a masked accept made of a candidate and the image that it was made of: one row per such decision."""

    turn: int
    attempt: int
    """Attempt whose decision it was; the candidate may be that of an earlier one of the turn."""
    base: str
    """SHA-256 of the image that was edited."""
    candidate: str
    """SHA-256 of what the editor made of it."""
    image: str | None = None
    """SHA-256 of the composite, which became the current image; None when there was nothing to take."""
    changed: float | None = None
    """Share of the pixels that count as changed, 0..1; None when the two images do not fit on each other."""
    why: str | None = None
    """Why there is no composite."""
    scores: list[ScoreRow] = []
    """The composite's own scores, in the order of the configuration."""
    truth: TruthRow | None = None
    """The composite's own truth."""
    more_truths: dict[str, TruthRow] = {}
    """Name -> the composite's own truth by that measure, where the run has more than one."""

    def comparable(self) -> dict[str, Any]:
        """The row without what differs between two executions of one configuration."""
        scores = [score.comparable() for score in self.scores]
        truth = self.truth.comparable() if self.truth else None
        more = {name: row.comparable() for name, row in self.more_truths.items()}
        return {**super().comparable(), "scores": scores, "truth": truth, "more_truths": more}


class CallRow(Row):
    """A paid or non-deterministic call that is never made twice."""

    key: str
    """SHA-256 of kind, run, turn, attempt, input hashes and parameters."""
    kind: str
    """`edit` or `evaluate`."""
    turn: int
    attempt: int
    answer: dict[str, Any]
    """The answer, plain JSON; images by SHA-256."""
    started_ns: int
    ended_ns: int


class EventRow(Row):
    """Something that happened to the run as a whole: `started`, `ended`, `review`, `budgets`."""

    seq: int
    kind: str
    data: dict[str, Any]
    at_ns: int


@dataclass(frozen=True)
class AttemptRecord:
    """One attempt with all that was recorded about it."""

    attempt: AttemptRow
    scores: tuple[ScoreRow, ...]
    """In the order of the configuration."""
    truth: TruthRow | None
    decision: DecisionRow
    composite: CompositeRow | None = None
    """What the decision's masked accept made; None without one."""
    more_truths: Mapping[str, TruthRow] = field(default_factory=dict)
    """Name -> truth by that measure, where the run has more than one; `truth` is the leading one."""


@dataclass(frozen=True)
class OriginRecord:
    """What was recorded about the image before turn 1."""

    scores: tuple[ScoreRow, ...] = ()
    """In order of evaluator."""
    truth: TruthRow | None = None
    """The leading one."""
    more_truths: Mapping[str, TruthRow] = field(default_factory=dict)
    """Name -> truth by that measure, where the run has more than one."""


TABLES: dict[str, tuple[type[Row], tuple[str, ...]]] = {
    "attempts": (AttemptRow, ("turn", "attempt")),
    "scores": (ScoreRow, ("turn", "attempt", "evaluator")),
    "truth": (TruthRow, ("turn", "attempt", "name")),
    "decisions": (DecisionRow, ("turn", "attempt")),
    "composites": (CompositeRow, ("turn", "attempt")),
    "calls": (CallRow, ("key",)),
    "events": (EventRow, ("seq",)),
}
"""Table -> (row model, primary key)."""


def truths_by_name(truths: Iterable[TruthRow]) -> tuple[TruthRow | None, dict[str, TruthRow]]:
    """Truths of one image: the leading one, and the others by name."""
    named = {truth.name: truth for truth in truths}
    return named.pop(LEADING_TRUTH, None), named


def is_damaged(value: float | None, damaged_at: float, better: Direction) -> bool | None:
    """Whether `value` is at or beyond the threshold on the bad side; None when the value is not known."""
    if value is None:
        return None
    return value <= damaged_at if better == "higher" else value >= damaged_at
