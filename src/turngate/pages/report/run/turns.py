"""Turns and attempts as the run page shows them, with their scores and means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean

from turngate.errors import counted
from turngate.pages.report.charts import Marker, Truth, marker_of, truth_of
from turngate.pages.report.run.registered import Frame
from turngate.pages.report.thumbnails import Shot
from turngate.traces.analysis.run import (
    MARK,
    AttemptView,
    RunView,
    Standing,
    standings,
    stretch_of,
    turn_results,
    turns_of,
)
from turngate.traces.images import run_images
from turngate.traces.records import ScoreRow

__all__ = [
    "Stop",
    "TurnPage",
    "images_of",
    "mean_score",
    "score_lines",
    "stops",
    "turn_pages",
    "untouched",
    "without_score",
]


@dataclass(frozen=True)
class ScoreLine:
    """One evaluator's result on the candidate beside those of the origin and of the image that was edited."""

    name: str
    candidate: ScoreRow | None
    current: ScoreRow | None
    origin: ScoreRow | None

    @property
    def label(self) -> str:
        """The name, without the mark of what was scored afterwards: such lines have a heading of their own."""
        return self.name.removesuffix(MARK)


def score_lines(run: RunView) -> dict[tuple[int, int], list[ScoreLine]]:
    """Turn and attempt -> one line per evaluator."""
    found = {}
    for attempt in run.attempts:
        current = run.image_scores(attempt.row.input_turn)
        names = dict.fromkeys([*run.config.evaluators, *attempt.scores])
        found[attempt.row.turn, attempt.row.attempt] = [
            ScoreLine(name, attempt.scores.get(name), current.get(name), run.baseline.get(name)) for name in names
        ]
    return found


@dataclass(frozen=True)
class AttemptPage:
    """One attempt with its pictures."""

    key: str
    """Name of the attempt within the page: `t12a2`."""
    view: AttemptView
    marker: Marker
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
    rescored: list[ScoreLine]
    """Scores that were made after the run: no gate saw them."""


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
    result: str
    """What the turn came to, in words."""
    new: bool
    """It brought a new image, or went back to an earlier one."""
    repeated: int
    """Turns in a row, from this one on, that held the same image against the same input; 0 within such a stretch."""


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
    frame: Frame | None = None
    """Where it lies on the origin; None when that was not registered."""


def stops(
    run: RunView, pictures: Mapping[str, Shot], turns: Sequence[TurnPage], frames: Mapping[tuple[int, int], Frame]
) -> list[Stop]:
    """The origin and every candidate, in order; `frames` say where those lie that were registered."""
    origin = run.info.origin
    href = pictures[origin.image].href
    size = f"{origin.width} x {origin.height}"
    found = [Stop("origin", "origin", origin.image, href, size, Frame((1.0, 1.0), (0.0, 0.0)))]
    for turn in turns:
        several = len(turn.attempts) > 1
        for page in turn.attempts:
            row = page.view.row
            if page.candidate is not None:
                place = f"turn {turn.number}" + (f", attempt {row.attempt}" if several else "")
                words = f"{place}: {page.badge}, {page.marker.word}"
                shot = page.candidate
                frame = frames.get((row.turn, row.attempt))
                found.append(Stop(page.key, words, shot.sha256, shot.href, f"{row.width} x {row.height}", frame))
    return found


def images_of(run: RunView) -> set[str]:
    """SHA-256 of every image that the run page shows."""
    made = run_images(run.info.origin.image, ((attempt.row, attempt.made) for attempt in run.attempts))
    return {*made.values(), *(extra["image"] for attempt in run.attempts for extra in attempt.row.extras)}


def turn_pages(run: RunView, shots: Mapping[str, Shot], rescored: RunView) -> list[TurnPage]:
    """All turns, the open one included; `rescored` is the run with the scores that were made after it."""
    after = {stand.turn: stand for stand in standings(run)}
    results = {result.turn: result for result in turn_results(stretch_of(run))}
    seen, added = score_lines(run), score_lines(rescored)
    pages = []
    for number, attempts in turns_of(run).items():
        members = []
        for one in attempts:
            place, current = (number, one.row.attempt), truth_of(run.image_truth(one.row.input_turn))
            members.append(_attempt_page(one, shots, current, seen[place], added[place]))
        shown = next((page for page in members if page.view.taken), members[-1])
        stand = after.get(number)
        result = results.get(number)
        words, new = ("open", True) if result is None else (_RESULTS[result.result], result.result not in _STILL)
        pages.append(TurnPage(number, members, shown, *_after(stand, shots), words, new, 1))
    return _gathered(pages)


_RESULTS = {
    "progressed": "progressed", "propagated": "propagated", "held": "held", "went_back": "went back",
    "no_change": "no change", "not_reached": "not reached", "unknown": "unknown",
}  # fmt: skip
_STILL = ("held", "no_change", "not_reached")
_REPEATED = 4
"""From so many turns in a row that hold the same image on they are one entry of the strip."""


def _gathered(pages: list[TurnPage]) -> list[TurnPage]:
    """The first turn of a stretch that holds one image says how long it is; the ones within say 0."""
    found: list[TurnPage] = []
    for new, group in groupby(pages, lambda page: page.new):
        members = list(group)
        long = not new and len(members) >= _REPEATED
        found.append(replace(members[0], repeated=len(members) if long else 1))
        found += [replace(page, repeated=0 if long else 1) for page in members[1:]]
    return found


def _after(stand: Standing | None, shots: Mapping[str, Shot]) -> tuple[Shot | None, int, Truth]:
    if stand is None:
        return None, 0, "none"
    return shots[stand.image], stand.image_turn, truth_of(stand.truth)


def _attempt_page(
    attempt: AttemptView,
    shots: Mapping[str, Shot],
    current_truth: Truth,
    scores: list[ScoreLine],
    rescored: list[ScoreLine],
) -> AttemptPage:
    row = attempt.row
    return AttemptPage(
        key=f"t{row.turn}a{row.attempt}",
        view=attempt,
        marker=marker_of(attempt),
        badge=_badge(attempt),
        follows=_follows(attempt),
        candidate=shots[row.image] if row.image is not None else None,
        current=shots[row.input_image],
        current_truth=current_truth,
        extras=[(extra.get("role", "image"), shots[extra["image"]]) for extra in row.extras],
        scores=scores,
        rescored=rescored,
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
    made = attempt.made
    if made is not None and made.image is not None and made.changed is not None:
        return f"the changed {made.changed:.1%} of the candidate, laid over its input, is taken"
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


# An evaluator's results on the candidates of a run, in words.


def mean_score(run: RunView, evaluator: str) -> float | None:
    """Mean over the candidates that have a score and are not untouched; None where there is none."""
    rows = _scored(run, evaluator)
    values = [row.value for row in rows if row.value is not None and not row.untouched]
    return fmean(values) if values else None


def untouched(run: RunView, evaluator: str) -> int:
    """Candidates with the very pixels of what they were compared with: the mean leaves them out."""
    return sum(row.untouched for row in _scored(run, evaluator))


def _scored(run: RunView, evaluator: str) -> list[ScoreRow]:
    rows = (attempt.scores.get(evaluator) for attempt in run.attempts)
    return [row for row in rows if row is not None and row.status == "scored"]


def without_score(run: RunView, evaluator: str) -> str | None:
    """How many candidates have no score, and why; None where all have one or were not shown to it."""
    reasons: dict[str, Counter[str]] = {"unscored": Counter(), "failed": Counter()}
    for attempt in run.attempts:
        row = attempt.scores.get(evaluator)
        if row is not None and row.status in reasons:
            reasons[row.status][row.why or "unknown"] += 1
    number = sum(counter.total() for counter in reasons.values())
    if not number:
        return None
    listed = ", ".join(
        f"{counter.total()} {status}" + (f" ({_listed(counter)})" if counter else "")
        for status, counter in reasons.items()
    )
    return f"{evaluator} gave no score for {counted(number, 'candidate')}: {listed}."


def _listed(counter: Counter[str]) -> str:
    return ", ".join(f"{why} {count}" for why, count in counter.most_common())
