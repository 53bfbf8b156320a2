"""Ask for an exact copy, turn after turn: the paper's main scenario, and its wording with a request to remove noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from turngate.agent.scenario import Ideal, Step
from turngate.component import ComponentConfig

__all__ = ["PROMPT", "REWORDED", "Denoise", "Replicate"]


PROMPT = "Produce an exact replica of the provided image, with no alterations."
"""The replication prompt of Banana100 (arXiv 2604.03400), word for word."""

REWORDED = {
    "short": "Copy this image exactly.",
    "polite": "Please give this picture back to me just as it is.",
    "detailed": (
        "Reproduce the provided image with the same content, colours, sharpness, framing and size. "
        "Add nothing, remove nothing, improve nothing."
    ),
    "technical": "Return an image that equals the input pixel by pixel. Apply no processing of any kind.",
    "negative": "Do not edit this image. Do not crop, retouch, restyle or denoise it. Return it unchanged.",
}
"""Other wordings of the same request, by name. Ours: those that the paper tried are not known."""


class ReplicateConfig(ComponentConfig):
    """How the request is worded."""

    wording: Literal["paper", "short", "polite", "detailed", "technical", "negative", "cycle"] = "paper"
    """`paper`: its prompt, verbatim. The others are ours; `cycle` takes ours in turn, one each turn."""


class Replicate:
    """Asks for an exact replica each turn; the ideal result is the origin."""

    Config: ClassVar[type[ComponentConfig]] = ReplicateConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "origin"
    length: int | None = None

    def __init__(self, config: ReplicateConfig) -> None:
        wording = config.wording
        self._texts = list(REWORDED.values()) if wording == "cycle" else [{"paper": PROMPT, **REWORDED}[wording]]

    def instruction(self, turn: int) -> Step:
        """The same request every turn."""
        return Step(self._texts[(turn - 1) % len(self._texts)], {"kind": "replicate"}, edit_boxes=())


DENOISE_TEXT = (
    "Produce an exact replica of the provided image, with no alterations, "
    "except that noise, grain and colour casts are removed where there are any."
)
"""Our wording: the paper's is not known. It begins as the paper's replication prompt does."""


class DenoiseConfig(ComponentConfig):
    """No settings."""


class Denoise:
    """Asks for an exact replica without noise each turn; the ideal result is the origin, taken to be clean."""

    Config: ClassVar[type[ComponentConfig]] = DenoiseConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "origin"
    length: int | None = None

    def __init__(self, config: DenoiseConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(DENOISE_TEXT, {"kind": "denoise"}, edit_boxes=())
