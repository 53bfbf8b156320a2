"""Failures of the frame: another aspect ratio, crops, mirroring and rotation that were not carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.analysis.taxonomy import FailureName, Judgement
from turngate.traces.analysis.taxonomy_rules import candidates, frame_stays, judged, operation, scores_of, taken_images
from turngate.traces.records import ScoreRow

__all__ = ["ASPECT", "CROP", "frame_failures"]

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
        return int(run.info.origin["width"]), int(run.info.origin["height"])
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
    failed = attempt.row.told.get("operation_failed")
    if attempt.row.simulated and isinstance(failed, bool):
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
