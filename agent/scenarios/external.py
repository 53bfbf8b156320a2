"""Instructions that a program outside gives with each image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from turngate.agent.scenario import Ideal, Step
from turngate.component import Box, ComponentConfig

__all__ = ["ExternalScenario", "ExternalScenarioConfig"]


_KEY = "told"


class ExternalScenarioConfig(ComponentConfig):
    """What is known of the program's instructions."""

    ideal: Literal["origin"] | None = None
    """`origin` when a perfect editor would return the origin at every turn; needed to measure truth by reference."""


class ExternalScenario:
    """Needs nothing; instructions come from a program, see `turngate.open_run`."""

    Config: ClassVar[type[ComponentConfig]] = ExternalScenarioConfig
    requires: ClassVar[Mapping[str, str]] = {}

    length = None

    def __init__(self, config: ExternalScenarioConfig) -> None:
        self.config = config
        self.ideal: Ideal | None = config.ideal
        self._told: dict[int, Step] = {}

    def tell(self, turn: int, text: str, edit_boxes: tuple[Box, ...] | None = None) -> dict[str, Any]:
        """What the program asked for at a 1-based turn, and where it meant to change something.

        Returns what the attempt's metadata must hold, so that `restore` finds it again. Raises `ConfigError` for a
        rectangle without an area or beyond the picture.
        """
        self._told[turn] = Step(text, {"kind": "instruction"}, edit_boxes=edit_boxes)
        return {_KEY: {"instruction": text, "edit_boxes": edit_boxes}}

    def restore(self, recorded: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """What earlier processes were told, as turn and metadata of its attempts."""
        for turn, metadata in recorded:
            told = metadata.get(_KEY)
            if told is not None:
                boxes = told["edit_boxes"]
                self.tell(turn, told["instruction"], None if boxes is None else tuple(map(tuple, boxes)))

    def instruction(self, turn: int) -> Step:
        """What was told for a turn; an empty text before that."""
        return self._told.get(turn, Step("", {"kind": "instruction"}))
