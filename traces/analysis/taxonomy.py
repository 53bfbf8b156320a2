"""The failures that Banana100 (arXiv 2604.03400) names, as labels of candidates. Names of the labels are ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from turngate.frozen import FrozenModel

__all__ = ["FAILURES", "FailureLevel", "FailureMode", "FailureName", "Judgement"]

FailureLevel = Literal["sub-object", "object", "image"]
"""What a failure is about."""

FailureName = Literal[
    "simplification", "counting", "replacement", "background_decay",
    "aspect_ratio", "persistent_noise", "clean_context", "mirroring", "rotation",
]  # fmt: skip


class FailureMode(FrozenModel):
    """One named failure."""

    name: FailureName
    level: FailureLevel
    what: str
    """In one line."""


_KINDS = (
    FailureMode(
        name="simplification", level="sub-object", what="parts of an object are simplified: four eye colours become two"
    ),
    FailureMode(name="counting", level="object", what="one more was asked for: none was added, or a whole row"),
    FailureMode(name="replacement", level="object", what="a new object takes the place of an old one"),
    FailureMode(name="background_decay", level="object", what="the new object is clean while the rest decays"),
    FailureMode(name="aspect_ratio", level="image", what="the frame is cropped, or its aspect ratio is another"),
    FailureMode(name="persistent_noise", level="image", what="noise stays from image to image, asked away or not"),
    FailureMode(name="clean_context", level="image", what="a clean image in the request does not mend a damaged one"),
    FailureMode(name="mirroring", level="image", what="the image was to be mirrored and is not"),
    FailureMode(name="rotation", level="image", what="the image was to be rotated and is not"),
)

FAILURES: Mapping[FailureName, FailureMode] = {kind.name: kind for kind in _KINDS}
"""All of them, by name."""

assert tuple(FAILURES) == get_args(FailureName)


class Judgement(FrozenModel):
    """Whether one candidate shows one failure, by one source. What a source cannot know gives no judgement."""

    turn: int
    attempt: int
    name: FailureName
    found: bool
    source: str
    """What it was read from: `size`, `geometry NAME`, `drift NAME`, `truth MEASURE`, `simulator`, `label file`."""
    evidence: str
    """One line: the numbers, or who labelled it."""

    @property
    def level(self) -> FailureLevel:
        """What the failure is about."""
        return FAILURES[self.name].level
