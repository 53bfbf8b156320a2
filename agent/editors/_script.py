"""The words of the scripted editor: what a key and an answer may be."""

from __future__ import annotations

import re
from typing import get_args

from turngate.agent.editor import NoImageWhy
from turngate.fakes import MODES
from turngate.registry import nearest

__all__ = ["RAISES", "check_answer", "check_key", "look_up"]

RAISES = ("bug", "provider", "machine", "user")
"""Kinds of exception."""

_PLAIN = ("paint", "same", "garbage", "empty", "raise")
_CHOICES = {"no_image": get_args(NoImageWhy), "blocked": get_args(NoImageWhy), "raise": RAISES, "as": tuple(MODES)}
_NUMBERS = {"noise": r"\d+(\.\d+)?", "size": r"[1-9]\d{0,3}x[1-9]\d{0,3}"}
_FORMS = (*_PLAIN, *(f"{word}:..." for word in (*_CHOICES, *_NUMBERS)))


def check_key(key: str) -> str:
    """A turn ("7") or a turn and an attempt ("7.2"); raises `ValueError` otherwise."""
    if not re.fullmatch(r"[1-9]\d*(\.[1-9]\d*)?", key):
        raise ValueError(f"{key!r} is no turn ('7') and no turn.attempt ('7.2')")
    return key


def check_answer(answer: str | float) -> str | float:
    """An answer that the scripted editor knows; raises `ValueError` with the nearest one otherwise."""
    if not isinstance(answer, str):
        if not 0 <= answer <= 1:
            raise ValueError(f"a gray level lies in 0..1, not {answer}")
        return answer
    word, colon, argument = answer.partition(":")
    if not colon and word in _PLAIN:
        return answer
    if word in _CHOICES:
        if argument in _CHOICES[word]:
            return answer
        raise ValueError(f"{word}: nothing is called {argument!r}{nearest(argument, list(_CHOICES[word]))}")
    if re.fullmatch(_NUMBERS.get(word, "(?!)"), argument):
        return answer
    raise ValueError(f"no answer {answer!r}; there are: a gray level 0..1, {', '.join(_FORMS)}")


def look_up(table: dict[str, str | float], turn: int, attempt: int, default: str | float) -> str | float:
    """The entry of turn and attempt, of the turn, or `default`."""
    return table.get(f"{turn}.{attempt}", table.get(str(turn), default))
