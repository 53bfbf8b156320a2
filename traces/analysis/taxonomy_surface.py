"""Failures that go on from image to image: noise that stays, clean images that are not made use of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.analysis.taxonomy import Judgement
from turngate.traces.analysis.taxonomy_rules import candidates, frame_stays, judged, scores_of, taken_images

__all__ = ["NOISE", "surface_failures"]

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
    asked = run.info.config["scenario"]["type"] == "denoise"
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
