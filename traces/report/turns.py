"""Turns and attempts as the run page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turngate.traces.analysis.run_view import AttemptView, RunView
from turngate.traces.records import ScoreRow
from turngate.traces.report._lineage import Standing, standings, turns_of
from turngate.traces.report._marks import Mark, Truth, mark_of, truth_of
from turngate.traces.report.thumbnails import Shot

__all__ = ["AttemptPage", "ScoreLine", "Stop", "TurnPage", "images_of", "stops", "turn_pages"]


@dataclass(frozen=True)
class ScoreLine:
    """One evaluator's result on the candidate beside those of the origin and of the image that was edited."""

    name: str
    candidate: ScoreRow | None
    current: ScoreRow | None
    origin: ScoreRow | None


@dataclass(frozen=True)
class AttemptPage:
    """One attempt with its pictures."""

    key: str
    """Name of the attempt within the page: `t12a2`."""
    view: AttemptView
    mark: Mark
    badge: str
    """The decision in a word or two."""
    follows: str
    """What followed from it, in a few words."""
    candidate: Shot | None
    current: Shot
    """The image that was edited."""
    current_truth: Truth
    extras: list[tuple[str, Shot]]
    """Role and picture of images that came along."""
    scores: list[ScoreLine]


@dataclass(frozen=True)
class TurnPage:
    """One turn: its attempts, and the image that the run stood at afterwards."""

    number: int
    attempts: list[AttemptPage]
    shown: AttemptPage
    """The attempt that stands for the turn: the one that was taken, otherwise the last one."""
    after: Shot | None
    """None while the turn is open."""
    after_turn: int
    after_truth: Truth


@dataclass(frozen=True)
class Stop:
    """An image that can be put beside another one."""

    key: str
    """`origin`, or the attempt's name within the page."""
    words: str
    sha256: str
    href: str | None
    size: str
    """Width x height in pixels."""


def stops(run: RunView, pictures: Mapping[str, Shot], turns: Sequence[TurnPage]) -> list[Stop]:
    """The origin and every candidate, in order."""
    origin = run.info.origin
    href = pictures[str(origin["image"])].href
    found = [Stop("origin", "origin", str(origin["image"]), href, f"{origin.get('width')} x {origin.get('height')}")]
    for turn in turns:
        several = len(turn.attempts) > 1
        for page in turn.attempts:
            row = page.view.row
            if page.candidate is not None:
                place = f"turn {turn.number}" + (f", attempt {row.attempt}" if several else "")
                words = f"{place}: {page.badge}, {page.mark.word}"
                shot = page.candidate
                found.append(Stop(page.key, words, shot.sha256, shot.href, f"{row.width} x {row.height}"))
    return found


def images_of(run: RunView) -> set[str]:
    """SHA-256 of every image that the run page shows."""
    origin = str(run.info.origin["image"])
    candidates = {attempt.row.image for attempt in run.attempts if attempt.row.image is not None}
    current = {attempt.decision.image_after for attempt in run.attempts}
    extras = {extra["image"] for attempt in run.attempts for extra in attempt.row.extras}
    return {origin, *candidates, *current, *extras, *(attempt.row.input_image for attempt in run.attempts)}


def turn_pages(run: RunView, shots: Mapping[str, Shot]) -> list[TurnPage]:
    """All turns, the open one included."""
    after = {stand.turn: stand for stand in standings(run)}
    holders = {attempt.row.turn: attempt for attempt in run.attempts if attempt.taken}
    pages = []
    for number, attempts in turns_of(run).items():
        members = [_attempt_page(run, attempt, shots, holders) for attempt in attempts]
        shown = next((page for page in members if page.view.taken), members[-1])
        stand = after.get(number)
        pages.append(TurnPage(number, members, shown, *_after(stand, shots)))
    return pages


def _after(stand: Standing | None, shots: Mapping[str, Shot]) -> tuple[Shot | None, int, Truth]:
    if stand is None:
        return None, 0, "none"
    return shots[stand.image], stand.image_turn, truth_of(stand.truth)


def _attempt_page(
    run: RunView, attempt: AttemptView, shots: Mapping[str, Shot], holders: Mapping[int, AttemptView]
) -> AttemptPage:
    row = attempt.row
    edited = holders.get(row.input_turn) if row.input_turn else None
    current = (run.baseline, run.baseline_truth) if edited is None else (edited.scores, edited.truth)
    names = [*run.info.config["evaluators"], *(n for n in attempt.scores if n not in run.info.config["evaluators"])]
    return AttemptPage(
        key=f"t{row.turn}a{row.attempt}",
        view=attempt,
        mark=mark_of(attempt),
        badge=_badge(attempt),
        follows=_follows(attempt),
        candidate=shots[row.image] if row.image is not None else None,
        current=shots[row.input_image],
        current_truth=truth_of(current[1]),
        extras=[(extra.get("role", "image"), shots[extra["image"]]) for extra in row.extras],
        scores=[ScoreLine(n, attempt.scores.get(n), current[0].get(n), run.baseline.get(n)) for n in names],
    )


def _badge(attempt: AttemptView) -> str:
    decision = attempt.decision
    if attempt.row.outcome == "no_image":
        return "no image"
    if attempt.taken and decision.verdict == "reject":
        return "forced in"
    word = {"accept": "accepted", "reject": "rejected", "accept_masked": "accepted, masked"}[decision.verdict]
    return f"{word}, no change" if attempt.row.outcome == "no_change" else word


def _follows(attempt: AttemptView) -> str:
    decision = attempt.decision
    where = f"turn {decision.image_turn_after}" if decision.image_turn_after else "the origin"
    if decision.composite is not None and decision.composite["image"] is not None:
        return f"the changed {decision.composite['changed']:.1%} of the candidate, laid over its input, is taken"
    return {
        "accept": "the candidate is the new current image",
        "retry": "the turn is tried again",
        "skip": f"the turn is spent, the image of {where} stays",
        "force_accept": "the last candidate is taken against the verdict",
        "keep_best": f"attempt {decision.taken_attempt}, the best of the turn, is taken against the verdict",
        "rollback": f"the run goes back to the image of {where}",
        "restart": "the run goes back to the origin",
        "stop": "the run stops",
    }[decision.action]
