"""The numbers that `turngate run`, `show` and the report lead with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from turngate.frozen import FrozenModel
from turngate.traces.analysis.html import lines_html
from turngate.traces.analysis.run.answer import RunAnswer, answer_run
from turngate.traces.analysis.run.lines import summary_lines
from turngate.traces.analysis.run.run_view import AttemptView, RunView, standings, truth_unit
from turngate.traces.analysis.run.verdict import RunVerdict, run_verdict
from turngate.traces.position_bias import PositionBias, position_bias
from turngate.traces.records import RunStatus

__all__ = ["Counts", "RunSummary", "summarise", "truth_words"]


_TAKEN = {"accept", "force_accept", "keep_best"}


class Counts(FrozenModel):
    """The four counts beside every aggregate of an evaluator; over all attempts of the run."""

    scored: int = 0
    unscored: int = 0
    failed: int = 0
    skipped: int = 0


class LostTelemetry(FrozenModel):
    """How much of each signal never arrived, over all processes that worked on the run."""

    spans: int = 0
    events: int = 0
    """Evaluation events."""
    points: int = 0
    """Data points of metrics."""


class RunSummary(FrozenModel):
    """One run in numbers: what its gate did (`verdict`, `answer`), and how its turns closed."""

    run: str
    """Folder of the run."""
    id: str
    """Run id."""
    status: RunStatus
    reason: str | None
    """Why the run ended or waits, when there is more to say than the status."""
    simulated: bool
    """What came back was made up: the editor's damage is written by hand, or the shipped fake server answered."""
    fake_server: bool
    """The shipped fake server answered for the editor or for a judge: no model was asked."""
    idle: list[str]
    """Settings of the editor that do nothing, each as `FIELD: why`; empty in runs of older versions."""
    truth: str | None
    """How truth was measured, and the value at which an image counts as damaged; None when it is not known."""
    verdict: RunVerdict
    answer: RunAnswer
    turns: int
    """Closed turns; `accepted` + `rejected` + `forced` + `no_change`."""
    turns_planned: int
    attempts: int
    """Editor calls."""
    accepted: int
    """Turns closed by the gate's accept."""
    rejected: int
    """Turns closed without a new image: skip, rollback, restart, stop."""
    forced: int
    """Turns closed by taking a candidate that the gate had rejected."""
    no_change: int
    """Turns closed by accepting an image that is byte-identical to the one edited: not an edit."""
    rejected_attempts: int
    """Candidates that the decision rejected, retries included."""
    no_images: int
    """Editor calls that gave no image."""
    truth_unknown: int
    """Candidates whose truth is not known; 0 in a run without a truth."""
    reviews: dict[str, int]
    """Who decided -> number of attempts, of those that a person decided about; `not said` where no name was given."""
    position_bias: dict[str, PositionBias]
    """Pairwise judge -> which place its answers name."""
    other_size: dict[str, int]
    """Evaluator -> scores without a reference of images of another size than the origin's: they compare less well."""
    counts: dict[str, Counts]
    """Evaluator -> counts over all attempts."""
    final_damaged: bool | None
    """Whether the image the run ends with is damaged; None when its truth is not known."""
    final_untouched: bool
    """That image is pixel for pixel its reference: it has no truth value to average."""
    final_truth: float | None
    """Truth of that image, in the measure's unit; None when it is untouched or not known."""
    cost_usd: float | None
    """Sum of the known costs of editor and judges; None when no call reported one."""
    usd_per_progressed_turn: float | None
    """`cost_usd` over the turns that brought a new and sound image; None without a cost or without such a turn."""
    tokens: int | None
    """Sum of the known input and output tokens of editor and judges."""
    lost_telemetry: LostTelemetry | None
    """As recorded; zero where none was sent. None when it is not known: a process was killed or is still at work, the
    application sends it, or an older turngate made the run."""

    def _repr_html_(self) -> str:
        return lines_html(summary_lines(self))


def summarise(run: RunView) -> RunSummary:
    """Count what happened."""
    attempts = run.attempts
    answer, truth = answer_run(run), truth_words(run)
    decisions = [attempt.decision for attempt in attempts]
    closing = [attempt for attempt in attempts if attempt.decision.closes_turn]
    kinds = Counter(_closing_kind(attempt) for attempt in closing)
    used = [usage for attempt in attempts for usage in _usages(attempt)]
    costs = [cost for _, cost in used if cost is not None]
    tokens = [number for number, _ in used if number is not None]
    cost, progressed = sum(costs) if costs else None, answer.turns.progressed
    edited = [attempt for attempt in attempts if attempt.row.outcome == "edited"]
    last = standings(run)[-1]
    # Damage is counted from the origin on: without a verdict of its own it is sound, as in `answer`.
    sound = True if last.sound is None and last.image_turn == 0 and answer.known else last.sound
    return RunSummary(
        run=str(run.folder.path),
        id=run.info.run,
        status=run.status,
        reason=_reason(run),
        simulated=run.simulated,
        fake_server=run.fake_server,
        idle=run.info.resolved.editor.idle,
        truth=truth,
        verdict=run_verdict(answer, run.status),
        answer=answer,
        turns=len(closing),
        turns_planned=run.config.turns,
        attempts=len(attempts),
        accepted=kinds["accepted"],
        rejected=kinds["rejected"],
        forced=kinds["forced"],
        no_change=kinds["no_change"],
        rejected_attempts=sum(attempt.decision.verdict == "reject" for attempt in attempts),
        no_images=sum(attempt.row.outcome == "no_image" for attempt in attempts),
        truth_unknown=sum(one.truth is None or one.truth.damaged is None for one in edited) if truth else 0,
        reviews=dict(Counter(row.decided_by or "not said" for row in decisions if row.rule == "human")),
        position_bias={name: bias for name in run.config.evaluators if (bias := _position_bias(attempts, name))},
        other_size={name: number for name in run.config.evaluators if (number := _other_size(attempts, name))},
        counts={name: _counts(attempts, name) for name in run.config.evaluators},
        final_damaged=None if sound is None else not sound,
        final_untouched=last.untouched,
        final_truth=last.truth_value,
        cost_usd=cost,
        usd_per_progressed_turn=None if cost is None or not progressed else cost / progressed,
        tokens=sum(tokens) if tokens else None,
        lost_telemetry=_lost_telemetry(run),
    )


def _lost_telemetry(run: RunView) -> LostTelemetry | None:
    """The sum over all processes; None as soon as one of them left no count."""
    found, owed = LostTelemetry(), 0
    for event in run.events:
        if event.kind == "started":
            sends = event.data.get("telemetry")
            if sends is None:
                return None
            owed += bool(sends)
        elif event.kind == "telemetry":
            owed -= 1
            lost = LostTelemetry(**event.data)
            found = LostTelemetry(
                spans=found.spans + lost.spans, events=found.events + lost.events, points=found.points + lost.points
            )
    return None if owed else found


def truth_words(run: RunView) -> str | None:
    """How truth is measured and from where on an image is damaged, in words; None when no truth was measured."""
    known = [attempt.truth for attempt in run.attempts if attempt.truth is not None]
    base = run.baseline_truth or (known[0] if known else None)
    unit = truth_unit(run)
    return None if base is None else f"{base.measure}, damaged at {base.damaged_at:g}{' ' if unit else ''}{unit}"


def _usages(attempt: AttemptView) -> Iterator[tuple[int | None, float | None]]:
    """Tokens and cost of the editor call and of each judge."""
    row = attempt.row
    for used in (
        {"input_tokens": row.input_tokens, "output_tokens": row.output_tokens, "cost_usd": row.cost_usd},
        *(score.usage for score in attempt.scores.values()),
    ):
        known = [number for name in ("input_tokens", "output_tokens") if (number := used.get(name)) is not None]
        yield sum(known) if known else None, used.get("cost_usd")


def _closing_kind(attempt: AttemptView) -> str:
    if attempt.decision.action not in _TAKEN:
        return "rejected"
    if attempt.decision.action != "accept":
        return "forced"
    return "no_change" if attempt.row.outcome == "no_change" else "accepted"


def _counts(attempts: list[AttemptView], evaluator: str) -> Counts:
    scores = [attempt.scores[evaluator] for attempt in attempts if evaluator in attempt.scores]
    statuses = Counter(str(score.status) for score in scores)
    return Counts(**statuses)


def _other_size(attempts: list[AttemptView], evaluator: str) -> int:
    return sum(evaluator in one.scores and one.scores[evaluator].other_size is not None for one in attempts)


def _position_bias(attempts: list[AttemptView], evaluator: str) -> PositionBias | None:
    return position_bias(attempt.scores[evaluator].components for attempt in attempts if evaluator in attempt.scores)


def _reason(run: RunView) -> str | None:
    ended = [event for event in run.events if event.kind == "ended"]
    if not ended or run.status in ("running", "complete"):
        return None
    return str(ended[-1].data.get("reason") or "") or None
