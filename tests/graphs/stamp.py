"""Parts for the tests of masked accepts: an editor that does what it was asked and harms the rest, and two gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from turngate import ComponentConfig, Decision, Edited, EditRequest, Past, Picture
from turngate.agent.gate import Readings, Verdict

SIDE = 24


class StampConfig(ComponentConfig):
    """How much harm."""

    noise: float = Field(default=5.0, ge=0)
    """SD of the noise over the whole image, 8-bit levels."""


class Stamp:
    """Stamps a red square at a place of the turn's own, and adds noise everywhere."""

    Config: ClassVar[type[ComponentConfig]] = StampConfig
    requires: ClassVar[Mapping[str, str]] = {}
    model = "stamp"
    stochastic = True
    simulated = True
    paid = False

    def __init__(self, config: StampConfig) -> None:
        self.config = config

    def edit(self, request: EditRequest) -> Edited:
        rng = np.random.default_rng(request.seed)
        noisy = request.image.rgb + self.config.noise * rng.standard_normal(request.image.rgb.shape)
        rgb = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
        return Edited.of(Picture.from_rgb(stamped(rgb, request.turn)))


def stamped(rgb: NDArray[np.uint8], turn: int) -> NDArray[np.uint8]:
    """A copy of `rgb` with the square of one turn."""
    made = rgb.copy()
    left = (8 + 30 * (turn - 1)) % (rgb.shape[1] - SIDE)
    made[16 : 16 + SIDE, left : left + SIDE] = (250, 10, 20)
    return made


class SaysConfig(ComponentConfig):
    """What to say."""

    verdicts: list[Verdict]
    """By attempt; the last one from there on."""


class Says:
    """Gives a verdict by attempt."""

    Config: ClassVar[type[ComponentConfig]] = SaysConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: SaysConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        verdict = self.config.verdicts[min(past.attempt, len(self.config.verdicts)) - 1]
        return Decision(verdict, f"says {verdict}")
