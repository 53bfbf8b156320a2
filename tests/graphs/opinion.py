"""A judge for tests: says how good an image looks to it, without a reference, and never says the same twice."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import ClassVar

from turngate import ComponentConfig
from turngate.evaluators import EvalInput, Facts, Result, Score

ASKED = itertools.count(1)
"""Grows with every image that any of them is shown."""


class OpinionConfig(ComponentConfig):
    """What kind of judge."""

    steady: bool = False
    """Say what the image's mean level is, and so the same of the same image."""
    paid: bool = False


class Opinion:
    """Needs no reference: its value is a verdict."""

    Config: ClassVar[type[ComponentConfig]] = OpinionConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: OpinionConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="opinion", version="1", direction="higher", range=(0.0, 1e9), deterministic=config.steady,
            inputs=frozenset({"candidate", "instruction"}), paid=config.paid, judge=True,
        )  # fmt: skip

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        return [Score(float(one.candidate.rgb.mean()) if self.config.steady else next(ASKED)) for one in batch]
