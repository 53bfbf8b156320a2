"""The images of a run, told from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from turngate.traces.records import AttemptRow, DecisionRow

__all__ = ["ImageKey", "ImageRole", "made_images", "run_images", "stored_files"]

ImageRole = Literal["origin", "candidate", "composite", "image"]
"""What an image was in its run (a `composite` is what a masked accept made and took); `image` elsewhere."""

ImageKey = tuple[int, int, ImageRole]
"""Turn, attempt and role of an image in its run; 0, 0, `origin` for the origin."""


def made_images(attempt: AttemptRow, decision: DecisionRow) -> Iterator[tuple[ImageRole, str]]:
    """Role and SHA-256 of what an attempt made: the candidate, and the composite of a masked accept."""
    if attempt.image is not None:
        yield "candidate", attempt.image
    composite = decision.composite
    if composite and composite["image"] is not None:
        yield "composite", composite["image"]


def run_images(origin: str, attempts: Iterable[tuple[AttemptRow, DecisionRow]]) -> dict[ImageKey, str]:
    """Place -> SHA-256 of everything that can be scored, in order."""
    images: dict[ImageKey, str] = {(0, 0, "origin"): origin}
    for attempt, decision in attempts:
        for role, sha256 in made_images(attempt, decision):
            images[attempt.turn, attempt.attempt, role] = sha256
    return images


def stored_files(attempt: AttemptRow) -> list[str]:
    """SHA-256 of all that an attempt put into the image store: candidate, other images, and what a model returned.

    A composite stands among the other images.
    """
    extras = (extra["image"] for extra in attempt.extras)
    return [sha256 for sha256 in (attempt.image, *extras, attempt.content) if sha256 is not None]
