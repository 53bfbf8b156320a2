"""Add an object each turn: one apple, or a hundred different fruits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from turngate.agent.scenario import Ideal, Step
from turngate.component import Box, ComponentConfig

__all__ = ["FRUITS", "AddApple", "AddFruits", "addition"]


class AddingConfig(ComponentConfig):
    """Where the objects go."""

    place: str = Field(default="the picture", min_length=1, max_length=200)
    """Named in the instruction after "Add one apple to": `the table` for a picture that has one."""
    box: Box | None = None
    """Where that place is in the picture, if you know it: what lies outside must stay (see `outside_edit`)."""


def addition(name: str, place: str, box: Box | None = None) -> Step:
    """Ask for one more object, and nothing else. Our wording: the paper's is not known."""
    text = f"Add one {name} to {place}. Keep everything that is there and change nothing else."
    return Step(text, {"kind": "add", "object": name}, edit_boxes=None if box is None else (box,))


class AddApple:
    """Adds one apple each turn; where a perfect editor would put it is not known, so there is no ideal image."""

    Config: ClassVar[type[ComponentConfig]] = AddingConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = None
    length: int | None = None

    def __init__(self, config: AddingConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return addition("apple", self.config.place, self.config.box)


# A hundred fruits, common ones first. The list is ours: the paper's is not known.

FRUITS: tuple[str, ...] = (
    "apple", "banana", "orange", "lemon", "lime", "pear", "peach", "plum", "strawberry", "cherry",
    "kiwi", "mango", "pineapple", "grape", "watermelon", "apricot", "fig", "pomegranate", "papaya", "grapefruit",
    "mandarin", "nectarine", "blueberry", "raspberry", "blackberry", "coconut", "melon", "lychee", "passion fruit",
    "dragon fruit", "persimmon", "quince", "guava", "date", "cranberry", "redcurrant", "blackcurrant", "gooseberry",
    "mulberry", "elderberry", "kumquat", "tangerine", "clementine", "pomelo", "blood orange", "star fruit",
    "jackfruit", "durian", "rambutan", "mangosteen", "longan", "tamarind", "avocado", "olive", "plantain",
    "breadfruit", "custard apple", "soursop", "cherimoya", "sapodilla", "loquat", "medlar", "damson", "greengage",
    "mirabelle", "sloe", "rowan berry", "hawthorn berry", "rose hip", "sea buckthorn berry", "cloudberry",
    "lingonberry", "bilberry", "boysenberry", "loganberry", "tayberry", "dewberry", "salmonberry", "huckleberry",
    "saskatoon berry", "honeyberry", "goji berry", "acai berry", "acerola", "jabuticaba", "feijoa", "pepino",
    "tamarillo", "physalis", "horned melon", "cactus pear", "ugli fruit", "yuzu", "calamansi", "bergamot", "citron",
    "finger lime", "crab apple", "salak", "santol",
)  # fmt: skip
"""Different names, each one step of `add_fruits`."""


class AddFruits:
    """Adds another fruit each turn, 100 in all (the list is ours); there is no ideal image."""

    Config: ClassVar[type[ComponentConfig]] = AddingConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = None
    length: int | None = len(FRUITS)

    def __init__(self, config: AddingConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """One fruit per turn; raises `IndexError` past the last one."""
        if turn > len(FRUITS):
            raise IndexError(f"the scenario has {len(FRUITS)} fruits, turn {turn} was asked for")
        return addition(FRUITS[turn - 1], self.config.place, self.config.box)
