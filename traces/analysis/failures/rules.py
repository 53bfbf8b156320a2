"""Rules of the failure taxonomy: the frame, the surface, the objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turngate.component import ObjectFailure
from turngate.frozen import FrozenModel
from turngate.traces.analysis.labels import Labels
from turngate.traces.analysis.run import AttemptView, RunView
from turngate.traces.analysis.taxonomy import FAILURES, FailureName, Judgement
from turngate.traces.records import ScoreRow

__all__ = [
    "CROP",
    "LABEL_FILE",
    "RunFailures",
    "candidates",
    "find_failures",
    "frame_failures",
    "judged",
    "object_failures",
    "operation",
    "scores_of",
    "surface_failures",
]


# What the rules of the failure taxonomy have in common: what was asked for, and what a candidate was made of.

_OPERATIONS = {"mirror_twice": "mirror", "rotate_four_times": "rotate"}
_FRAME_STAYS = frozenset({"add_apple", "add_fruits", "decolorise_recolorise"})


def operation(run: RunView) -> str | None:
    """`mirror` or `rotate`, where every turn asks for it."""
    return _OPERATIONS.get(run.config.scenario.type)


def frame_stays(run: RunView) -> bool:
    """Every turn asks for an image with the frame and the surface of the one before. False where that is not known."""
    return run.info.resolved.scenario.ideal == "origin" or run.config.scenario.type in _FRAME_STAYS


def candidates(run: RunView) -> Iterator[AttemptView]:
    """Attempts that gave a new image."""
    return (attempt for attempt in run.attempts if attempt.row.outcome == "edited")


def taken_images(run: RunView) -> dict[int, AttemptView]:
    """Turn -> the attempt whose image it ended with; a composite is no editor's image and is left out."""
    return {turn: attempt for turn, attempt in run.taken.items() if attempt.composite is None}


def scores_of(
    run: RunView, type_: str, attempt: AttemptView, given: AttemptView | None
) -> Iterator[tuple[str, dict[str, Any], ScoreRow, ScoreRow | None]]:
    """Scored results of every evaluator of a type: its name, its settings, its score of the candidate, and of the image
    that was edited (`given`, or the origin), where there is one."""
    for name, score in attempt.scores.items():
        if score.type == type_ and score.status == "scored":
            before = run.baseline if attempt.row.input_turn == 0 else given.scores if given else {}
            part = run.config.evaluators.get(name)
            yield name, part.settings if part is not None else {}, score, before.get(name)


def judged(attempt: AttemptView, name: FailureName, found: bool, source: str, evidence: str) -> Judgement:
    """A judgement of one candidate."""
    row = attempt.row
    return Judgement(turn=row.turn, attempt=row.attempt, name=name, found=found, source=source, evidence=evidence)


ASPECT = 0.01
"""Share by which an aspect ratio must differ to count as another: less is rounding to whole pixels."""

CROP = 1.0
"""Per cent of width or height that must be missing, or by which things must be stretched."""

_NAMES: Mapping[str, FailureName] = {"mirror": "mirroring", "rotate": "rotation"}


def frame_failures(run: RunView) -> Iterator[Judgement]:
    """Judge the frame of every candidate, as far as size, geometry evaluators and the simulator tell."""
    images = taken_images(run)
    if not (frame_stays(run) or operation(run)):
        return
    for attempt in candidates(run):
        given = images.get(attempt.row.input_turn)
        yield from _aspect(run, attempt, given)
        yield from _crop(run, attempt, given)
        yield from _orientation(run, attempt, given)


def _aspect(run: RunView, attempt: AttemptView, given: AttemptView | None) -> Iterator[Judgement]:
    before = _size_before(run, attempt, given)
    width, height = attempt.row.width, attempt.row.height
    if before is None or not width or not height:
        return
    wanted = [before, before[::-1]] if operation(run) == "rotate" else [before]  # not rotated is another failure
    found = all(abs(width * high / (height * wide) - 1) > ASPECT for wide, high in wanted)
    yield judged(attempt, "aspect_ratio", found, "size", f"{width}x{height} from {before[0]}x{before[1]}")


def _size_before(run: RunView, attempt: AttemptView, given: AttemptView | None) -> tuple[int, int] | None:
    if attempt.row.input_turn == 0:
        return run.info.origin.width, run.info.origin.height
    if given is None or not given.row.width or not given.row.height:
        return None
    return given.row.width, given.row.height


def _crop(run: RunView, attempt: AttemptView, given: AttemptView | None) -> Iterator[Judgement]:
    for name, settings, score, _ in scores_of(run, "geometry", attempt, given):
        parts = score.components
        if not {"crop_x", "crop_y", "stretch"} <= parts.keys():
            continue
        largest = max(parts["crop_x"], parts["crop_y"], abs(parts["stretch"]))
        evidence = (
            f"cropped by {parts['crop_x']:.1f} % across and {parts['crop_y']:.1f} % down, stretched by "
            f"{parts['stretch']:.1f} %, against the {settings.get('against', 'origin')}"
        )
        yield judged(attempt, "aspect_ratio", largest >= CROP, f"geometry {name}", evidence)


def _orientation(run: RunView, attempt: AttemptView, given: AttemptView | None) -> Iterator[Judgement]:
    asked = operation(run)
    if asked is None:
        return
    failed = attempt.row.operation_failed
    if attempt.row.simulated and failed is not None:
        yield judged(attempt, _NAMES[asked], failed, "simulator", "not carried out" if failed else "carried out")
    for name, settings, score, earlier in scores_of(run, "geometry", attempt, given):
        if settings.get("align", "full") != "full":  # it looks for no other orientation
            continue
        found = _turned(score)
        before = (
            (False, 0) if settings.get("against") == "previous" or attempt.row.input_turn == 0 else _turned(earlier)
        )
        if found is not None and before is not None:
            wanted = _after(before, asked)
            evidence = f"{_words(found)} where it should be {_words(wanted)}" if found != wanted else _words(found)
            yield judged(attempt, _NAMES[asked], found != wanted, f"geometry {name}", evidence)


def _turned(score: ScoreRow | None) -> tuple[bool, int] | None:
    """Whether mirrored, and quarter turns clockwise after that; None where it is not known."""
    if score is None or "mirrored" not in score.components or "rotation" not in score.components:
        return None
    return bool(score.components["mirrored"]), round(score.components["rotation"] / 90) % 4


def _after(turned: tuple[bool, int], asked: str) -> tuple[bool, int]:
    """Mirroring after q quarter turns is q quarter turns the other way after mirroring."""
    mirrored, quarters = turned
    return (not mirrored, -quarters % 4) if asked == "mirror" else (mirrored, (quarters + 1) % 4)


def _words(turned: tuple[bool, int]) -> str:
    mirrored, quarters = turned
    words = ["mirrored"] * mirrored + [f"rotated by {90 * quarters}"] * bool(quarters)
    return " and ".join(words) or "upright"


# Failures that go on from image to image: noise that stays, clean images that are not made use of.

NOISE = 2.5
"""Standard deviation of noise that counts as noise, 8-bit grey levels above the reference, as `drift` measures it."""

_WITH_ORIGIN = frozenset({"chat", "anchor"})
"""History protocols that show the editor the origin beside the image that it edits."""


def surface_failures(run: RunView) -> Iterator[Judgement]:
    """Judge what became of noise and damage that were in the image that was edited."""
    images = taken_images(run)
    yield from _noise(run, images)
    yield from _context(run, images)


def _noise(run: RunView, images: Mapping[int, AttemptView]) -> Iterator[Judgement]:
    """Noise is persistent when it is in the image that was edited and in what came of it."""
    if not frame_stays(run):  # drift compares the same places
        return
    asked = run.config.scenario.type == "denoise"
    for attempt in candidates(run):
        for name, _, score, earlier in scores_of(run, "drift", attempt, images.get(attempt.row.input_turn)):
            before = earlier.components.get("noise") if earlier else None
            after = score.components.get("noise")
            if before is None or after is None:
                continue
            evidence = f"noise {before:.1f}, then {after:.1f} grey levels" + (", asked to remove it" if asked else "")
            stays = min(before, after) >= NOISE
            yield judged(attempt, "persistent_noise", stays, f"drift {name}", evidence)


def _context(run: RunView, images: Mapping[int, AttemptView]) -> Iterator[Judgement]:
    """A sound origin was shown beside a damaged image: the candidate is damaged all the same."""
    if run.baseline_truth is None or run.baseline_truth.damaged is not False:
        return
    for attempt in candidates(run):
        given = images.get(attempt.row.input_turn)
        truth = attempt.truth
        if attempt.row.history not in _WITH_ORIGIN or given is None or truth is None or truth.damaged is None:
            continue
        if given.truth is not None and given.truth.damaged:
            evidence = f"the origin was shown as well ({attempt.row.history})"
            yield judged(attempt, "clean_context", truth.damaged, f"truth {truth.measure}", evidence)


# Failures of adding an object, from what a simulator tells about its own work.

_FAILURES: Mapping[ObjectFailure, FailureName] = {
    "nothing_added": "counting",
    "row_too_many": "counting",
    "replaced": "replacement",
}
"""What a simulator recorded -> failure."""


def object_failures(run: RunView) -> Iterator[Judgement]:
    """Judge every candidate of a simulator that recorded what became of the object that it was asked to add."""
    for attempt in candidates(run):
        failure = attempt.row.object_failure
        if not attempt.row.simulated or failure is None:
            continue
        for name in dict.fromkeys(_FAILURES.values()):
            found = _FAILURES.get(failure) == name
            evidence = "added as asked" if failure == "none" else failure.replace("_", " ")
            yield judged(attempt, name, found, "simulator", evidence)


LABEL_FILE = "label file"
"""Source of what people say."""


class RunFailures(FrozenModel):
    """Every judgement about the candidates of a run."""

    run: str
    """Run id."""
    judgements: list[Judgement]
    """Found and not found, in order of turn and attempt; what no source can know has none."""

    def found(self, name: FailureName) -> list[Judgement]:
        """Judgements that find it, from any source."""
        return [one for one in self.judgements if one.name == name and one.found]

    def measured(self, name: FailureName) -> dict[tuple[int, int], bool]:
        """(turn, attempt) -> whether a measuring source finds it there; a label file names only what is there."""
        places: dict[tuple[int, int], bool] = {}
        for one in self.judgements:
            if one.name == name and one.source != LABEL_FILE:
                place = (one.turn, one.attempt)
                places[place] = places.get(place, False) or one.found
        return places

    def unknown(self) -> list[FailureName]:
        """Failures that nothing was known about."""
        return [name for name in FAILURES if not any(one.name == name for one in self.judgements)]


def find_failures(run: RunView, labels: Labels | None = None) -> RunFailures:
    """Judge every candidate by what was recorded, and add what people say."""
    judgements = [*frame_failures(run), *surface_failures(run), *object_failures(run)]
    if labels is not None:
        judgements += _labelled(run, labels)
    order = {name: number for number, name in enumerate(FAILURES)}
    judgements.sort(key=lambda one: (one.turn, one.attempt, order[one.name], one.source))
    return RunFailures(run=run.info.run, judgements=judgements)


def _labelled(run: RunView, labels: Labels) -> Iterator[Judgement]:
    given = labels.of(run)
    composites = {(turn, run.taken[turn].row.attempt): row for turn, row in given.composites.items()}
    rows = {**given.candidates, **composites}
    for (turn, attempt), row in rows.items():
        for name in row.labels:
            yield Judgement(
                turn=turn,
                attempt=attempt,
                name=name,
                found=True,
                source=LABEL_FILE,
                evidence=" ".join(part for part in (row.source, row.failure) if part),
            )
