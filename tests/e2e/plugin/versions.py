"""A third party's evaluator, named by dotted path: its version comes from the environment, so that it can change."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from turngate import ComponentConfig, EvalInput, Facts, Score
from turngate.evaluators import Result


class VersionedConfig(ComponentConfig):
    """How slow it is."""

    seconds: float = 0.0
    """Slept per image."""


class Versioned:
    """The number of its version for every image."""

    Config: ClassVar[type[ComponentConfig]] = VersionedConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: VersionedConfig) -> None:
        self.config = config
        self.facts = Facts("versioned", os.environ.get("VERSION", "1"), "higher", (0.0, 100.0))

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        time.sleep(self.config.seconds * len(batch))
        return [Score(float(self.facts.version)) for _ in batch]
