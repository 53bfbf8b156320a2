"""A masked accept: pixels of the candidate are composed into the image, stored and scored as a candidate is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.agent.gate import Decision
from turngate.agent.rejection import Masking, Rejection, Tried
from turngate.errors import ConfigError
from turngate.graphs.decision import lacking, may_ask, next_action, readings, rule_decision
from turngate.graphs.measure_step import measure, measure_truths
from turngate.graphs.origin import Pictures
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.traces.progress import Progress, advance
from turngate.traces.records import (
    AttemptRecord,
    AttemptRow,
    CompositeRow,
    DecisionRow,
    ScoreRow,
    TruthRow,
    truths_by_name,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["composable", "compose", "decide", "masked", "mismatch", "skipped", "taken_masked", "taking"]


# Copies back the pixels of an image that its edit did not clearly change, with a soft border.

_ASPECT = 0.01
"""Aspect ratios that differ by no more than this share count as the same picture at another resolution."""


@dataclass(frozen=True)
class Composite:
    """The image that an edit was made of, with what the edit changed clearly laid over it."""

    picture: Picture | None
    """PNG of the base's size; None when nothing changed clearly."""
    changed: float
    """Share of the pixels that count as changed, 0..1, before the border is feathered."""


def mismatch(base: tuple[int, int], candidate: tuple[int, int]) -> str | None:
    """Why images of these sizes (width, height) cannot be laid over each other; None when they can."""
    (width, height), (wide, high) = base, candidate
    if abs(wide * height / (high * width) - 1) <= _ASPECT:
        return None
    return f"the candidate is {wide}x{high}, the image it was made of {width}x{height}: another aspect ratio"


def compose(base: Picture, candidate: Picture, masking: Masking) -> Composite:
    """Lay the clearly changed pixels of `candidate` over `base`.

    The images are compared pixel by pixel, without alignment; a candidate of another resolution is resampled to the
    base's size first (Lanczos). Raises `ValueError` when `mismatch` says that they do not fit.
    """
    why_not = mismatch((base.width, base.height), (candidate.width, candidate.height))
    if why_not:
        raise ValueError(why_not)
    old, new = base.rgb.astype(np.float32), _resized(candidate, base).astype(np.float32)
    mask = _changed(new - old, masking)
    if not mask.any():
        return Composite(None, 0.0)
    share = _feathered(mask, masking.feather)[:, :, None]
    blended = np.clip(np.rint(old + share * (new - old)), 0, 255).astype(np.uint8)
    return Composite(Picture.from_rgb(blended), float(mask.mean()))


def _resized(candidate: Picture, base: Picture) -> NDArray[np.uint8]:
    if (candidate.width, candidate.height) == (base.width, base.height):
        return candidate.rgb
    image = Image.fromarray(candidate.rgb).resize((base.width, base.height), Image.Resampling.LANCZOS)
    return np.asarray(image, dtype=np.uint8)


def _changed(difference: NDArray[np.float32], masking: Masking) -> NDArray[np.bool_]:
    """H x W: where the smoothed difference reaches the threshold in some channel, without specks and gaps."""
    from scipy.ndimage import binary_closing, binary_opening, gaussian_filter

    smooth = gaussian_filter(difference, (masking.smooth, masking.smooth, 0))
    mask: NDArray[np.bool_] = np.abs(smooth).max(axis=2) >= masking.threshold
    if masking.clean == 0:
        return mask
    offsets = np.arange(-masking.clean, masking.clean + 1)
    disk = offsets[:, None] ** 2 + offsets**2 <= masking.clean**2
    # Beyond its edge an image goes on as it is there: a change that touches the edge is no speck.
    padded = np.pad(mask, 2 * masking.clean, mode="edge")
    inner = slice(2 * masking.clean, -2 * masking.clean)
    cleaned: NDArray[np.bool_] = binary_closing(binary_opening(padded, disk), disk)[inner, inner]
    return cleaned


def _feathered(mask: NDArray[np.bool_], feather: float) -> NDArray[np.float32]:
    """H x W, 0..1: 1 where `mask` is, falling to 0 outside it within 6 times `feather` pixels."""
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    if feather == 0:
        return mask.astype(np.float32)
    reach = 3 * feather
    grown = distance_transform_edt(~mask) <= reach
    share: NDArray[np.float32] = gaussian_filter(grown.astype(np.float32), feather, truncate=3)
    return np.where(mask, np.float32(1), share)


def composable(pictures: Pictures, attempt: AttemptRow, decision: Decision) -> Decision:
    """`decision`, or a rejection where it would take masked what cannot be laid over the image that was edited."""
    if decision.verdict != "accept_masked" or attempt.width is None or attempt.height is None:
        return decision
    base = pictures.get(attempt.input_image)
    why_not = mismatch((base.width, base.height), (attempt.width, attempt.height))
    if why_not is None:
        return decision
    return replace(decision, verdict="reject", reason=f"{decision.reason}; cannot be masked: {why_not}")


def taken_masked(row: DecisionRow, attempt: AttemptRow, tried: Sequence[Tried], policy: Rejection) -> str | None:
    """SHA-256 of the candidate that `row` takes masked; None where it takes none, or one that changed nothing.

    `tried` are the candidates of this turn so far.
    """
    forced = row.action == "force_accept" and policy.then == "accept_masked"
    candidate = next((one.image for one in tried if one.attempt == row.taken_attempt), None)
    if candidate == attempt.input_image or not (forced or row.verdict == "accept_masked"):
        return None
    return candidate


def skipped(row: DecisionRow, progress: Progress, why: str) -> DecisionRow:
    """`row` where there is nothing to take masked: the turn is skipped."""
    return row.model_copy(
        update={
            "reason": f"{row.reason}; {why}",
            "action": "skip",
            "taken_attempt": None,
            "image_after": progress.image,
            "image_turn_after": progress.image_turn,
        }
    )


def masked(
    session: Session, progress: Progress, attempt: AttemptRow, row: DecisionRow
) -> tuple[AttemptRow, DecisionRow, CompositeRow | None]:
    """`attempt` and `row` as they are; where `row` takes a candidate masked, with the composite in its place.

    Where nothing changed clearly, or the images do not fit, there is nothing to take and the turn is skipped.
    """
    policy = session.config.on_reject
    candidate = taken_masked(row, attempt, session.gate_history.tried, policy)
    if candidate is None:
        return attempt, row, None
    composite = CompositeRow(turn=row.turn, attempt=row.attempt, base=attempt.input_image, candidate=candidate)
    try:
        made = compose(session.pictures.get(attempt.input_image), session.pictures.get(candidate), policy.masking)
    except ValueError as error:
        composite = composite.model_copy(update={"why": str(error)})
        return attempt, skipped(row, progress, str(error)), composite
    if made.picture is None:
        why = "no change of the candidate reaches masking.threshold"
        composite = composite.model_copy(update={"changed": made.changed, "why": why})
        return attempt, skipped(row, progress, why), composite
    session.pictures.put(made.picture)
    image = made.picture.sha256
    scores, truths = _measured(session, attempt, image)
    truth, more = truths_by_name(truths)
    found = {"image": image, "changed": made.changed, "scores": scores, "truth": truth, "more_truths": more}
    extras = [*attempt.extras, {"image": image, "role": "composite"}]
    return (
        attempt.model_copy(update={"extras": extras}),
        taking(row, image),
        composite.model_copy(update=found),
    )


def taking(row: DecisionRow, image: str) -> DecisionRow:
    """`row` with the composite `image` as what stands after it."""
    return row.model_copy(update={"image_after": image, "image_turn_after": row.turn})


def _measured(session: Session, attempt: AttemptRow, image: str) -> tuple[list[ScoreRow], tuple[TruthRow, ...]]:
    """Scores and truths of the composite `image` itself: the candidate's say nothing about it."""
    if None in session.components.truths.values():
        raise ConfigError(
            "truth.measure: a simulator does not know how damaged a composite is: measure truth with an evaluator"
        )
    shown = attempt.model_copy(update={"image": image, "damage": None})
    scores = [measure(session, shown, name) for name in session.components.evaluators]
    return scores, measure_truths(session, shown)


# Step 3 of an attempt: decide, and record what followed.


def decide(
    session: Session, progress: Progress, attempt: AttemptRow, scores: Iterable[ScoreRow], truths: Sequence[TruthRow]
) -> Progress:
    """Decide, record, and say how far the run is; of `truths` a gate that reads the truth is shown the leading one.

    The returned status is `running`, an ending, or `waiting` (a person must decide; nothing was recorded). An attempt
    that is recorded already is not decided again: what followed from it stands, and nobody is told twice.
    """
    if session.has(attempt):
        return _limit(session, session.progress, session.reason or "")
    config = session.config
    by_name = {score.evaluator: score for score in scores}
    ordered = [by_name[name] for name in session.components.evaluators]
    seen = readings(ordered)
    truth, more = truths_by_name(truths)
    session.gate_history.try_candidate(attempt, seen)
    review = session.review(attempt.turn, attempt.attempt) if may_ask(config) else None
    ruled = rule_decision(config, session.components.gate, session.gate_history, attempt, ordered, truth, review)
    row = None
    if ruled is not None:
        ruled = replace(ruled, decision=composable(session.pictures, attempt, ruled.decision))
        row = next_action(
            ruled, progress, attempt, session.gate_history.tried, config.on_reject, session.origin.sha256, config.turns,
            session.ledger.now_ns(),
        )  # fmt: skip
    if row is None:
        waits_for = ruled.decision.reason if ruled else lacking(session.components.gate, ordered)
        session.reason = f"turn {attempt.turn}, attempt {attempt.attempt} waits for a person: {waits_for}"
        session.status = "waiting"
        return replace(progress, status="waiting")
    attempt, row, composite = masked(session, progress, attempt, row)
    row = session.ledger.record(attempt, ordered, truth, row, composite, more)
    after = advance(progress, row)
    session.gate_history.note(attempt, seen, row, after, composite)
    session.divergence = session.divergence.after(attempt, row)
    session.budget_use.add(attempt)
    session.budget_use.add_scores(ordered)
    session.progress = after
    session.model = attempt.model or session.model
    session.latest = AttemptRecord(attempt, tuple(ordered), truth, row, composite, more)
    for observer in session.observers:
        observer.attempt(session.latest)
    return _limit(session, after, row.reason)


def _limit(session: Session, after: Progress, reason: str) -> Progress:
    """`after`, or the same position with an ending status when a budget is used up or a signal came."""
    used_up = session.budget_use.exhausted(session.config.budgets)
    if after.status != "running":
        session.reason = None if after.status == "complete" else reason
    elif used_up is not None or session.halt is not None:
        session.reason = used_up or session.halt
        after = replace(after, status="budget_exhausted" if used_up else "interrupted")
    session.status = after.status
    return after
