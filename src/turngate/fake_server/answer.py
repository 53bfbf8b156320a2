"""One answer of a script: words joined by `+`, for instance `slow:2+size:640x480` or `429_per_minute:17`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turngate.fake_server._words import MODIFIERS, Kind, check_word, split
from turngate.fakes import size_of

__all__ = ["Answer", "check_answer"]


@dataclass(frozen=True)
class Answer:
    """How to answer one call."""

    text: str = "ok"
    """As the script has it."""
    ending: str = "ok"
    """The one word that decides what comes back."""
    argument: str = ""
    """What stands after the colon of `ending`."""
    slow: float = 0.0
    """Seconds to wait first."""
    model: str | None = None
    """Model version to report instead of the one asked for."""
    size: tuple[int, int] | None = None
    """Width and height of the image, pixels; none keeps those of the input."""
    mode: str | None = None
    """File type or colour mode of the image."""
    declared: str | None = None
    """Media type to declare, whatever the image is."""
    interim: int = 0
    """Thought images before the final one."""

    @classmethod
    def parse(cls, text: str) -> Answer:
        """From a checked answer."""
        answer = cls(text=text)
        for word, argument in split(text):
            answer = answer._with(word, argument)
        return answer

    def _with(self, word: str, argument: str) -> Answer:
        match word:
            case "slow":
                return replace(self, slow=float(argument))
            case "model":
                return replace(self, model=argument)
            case "size":
                return replace(self, size=size_of(argument))
            case "as":
                return replace(self, mode=argument)
            case "interim":
                return replace(self, interim=int(argument))
            case "jpeg_as_png":
                return replace(self, mode="jpeg", declared="image/png")
        return replace(self, ending=word, argument=argument)


def check_answer(text: str, kind: Kind) -> str:
    """An answer that a call of this kind can be given; raises `ValueError` with the nearest one otherwise."""
    endings = []
    for word, argument in split(text):
        check_word(word, argument, kind)
        if word not in MODIFIERS:
            endings.append(word)
    if len(endings) > 1:
        raise ValueError(f"{' and '.join(endings)} exclude each other: one answer can have only one of them")
    return text
