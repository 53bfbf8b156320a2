"""The words of an answer: which there are, what may stand after their colon, and which calls they can answer."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from turngate.fakes import MODES
from turngate.registry import nearest

__all__ = ["MODIFIERS", "WORDS", "Kind", "Place", "check_word", "split"]

Kind = Literal["edit", "judge"]
"""Whether a call wants an image or a text."""
Place = Literal["gemini_edit", "gemini_judge", "openai_edit", "openai_judge"]
"""An endpoint as the kind of call it gets."""

_GEMINI: frozenset[Place] = frozenset({"gemini_edit", "gemini_judge"})
_OPENAI: frozenset[Place] = frozenset({"openai_edit", "openai_judge"})
_EDIT: frozenset[Place] = frozenset({"gemini_edit", "openai_edit"})
_JUDGE: frozenset[Place] = frozenset({"gemini_judge", "openai_judge"})
_ALL = _GEMINI | _OPENAI
_NONE = ""
_SECONDS = r"\d+(\.\d+)?"
_ENUM = r"[A-Za-z][A-Za-z_]*"


class _Word(NamedTuple):
    argument: str
    """Pattern of what stands after the colon; empty where nothing may."""
    optional: bool
    places: frozenset[Place]


def _word(places: frozenset[Place], argument: str = _NONE, optional: bool = False) -> _Word:
    return _Word(argument, optional or not argument, places)


MODIFIERS = {
    "slow": _word(_ALL, _SECONDS),
    "model": _word(_ALL, r"[^+]+"),
    "size": _word(_EDIT, r"[1-9]\d{0,3}x[1-9]\d{0,3}"),
    "as": _word(_EDIT, "|".join(MODES)),
    "interim": _word(frozenset({"gemini_edit"}), r"[1-9]"),
    "jpeg_as_png": _word(_EDIT),
}
"""Words that change an answer and go together with others."""

_ENDINGS = {
    # A whole answer.
    "ok": _word(_ALL),
    "same": _word(_EDIT),
    "thought_image_only": _word(frozenset({"gemini_edit"})),
    "garbage": _word(_EDIT),
    "url_only": _word(frozenset({"openai_edit"})),
    "score": _word(_JUDGE, r"-?\d+(\.\d+)?"),
    "contradiction": _word(_JUDGE),
    "out_of_range": _word(_JUDGE),
    "text": _word(_JUDGE, r"(?s:.+)"),
    "fenced": _word(_JUDGE),
    # An answer without what was asked for.
    "no_image": _word(_EDIT),
    "text_only": _word(frozenset({"gemini_edit"})),
    "empty": _word(_ALL),
    "no_content": _word(_GEMINI),
    "no_candidates": _word(_GEMINI | {"openai_judge"}),
    "finish": _word(_GEMINI | {"openai_judge"}, _ENUM),
    "blocked": _word(_GEMINI, _ENUM),
    "no_json": _word(_JUDGE),
    "cut": _word(_JUDGE),
    "filtered": _word(_JUDGE),
    "refusal": _word(_JUDGE),
    # An error of the provider.
    "400": _word(_ALL),
    "400_key": _word(_GEMINI),
    "400_signature": _word(_GEMINI),
    "moderation_blocked": _word(frozenset({"openai_edit"})),
    "401": _word(_ALL),
    "403": _word(_ALL),
    "404": _word(_ALL),
    "429_per_minute": _word(_ALL, _SECONDS, optional=True),
    "429_per_day": _word(_ALL),
    "429_minute_and_day": _word(_GEMINI),
    "429_capacity": _word(_ALL),
    "429_retry_after": _word(_ALL, r"\d+", optional=True),
    "insufficient_quota": _word(_OPENAI),
    "500": _word(_ALL),
    "503": _word(_ALL),
    "504": _word(_ALL),
    # A fault of the connection, or of something in between.
    "hang": _word(_ALL, _SECONDS, optional=True),
    "drop": _word(_ALL),
    "malformed": _word(_ALL),
    "html": _word(_ALL, "200|403|413|429|502|503|504", optional=True),
}

WORDS = {**_ENDINGS, **MODIFIERS}
"""Every word of an answer."""


def split(text: str) -> list[tuple[str, str]]:
    """Words and what stands after their colons; `text:` takes all that follows."""
    found: list[tuple[str, str]] = []
    more, rest = "+", text
    while more:
        if rest.startswith("text:"):
            return [*found, ("text", rest.removeprefix("text:"))]
        one, more, rest = rest.partition("+")
        word, _, argument = one.partition(":")
        found.append((word, argument))
    return found


def check_word(word: str, argument: str, kind: Kind) -> None:
    """Raise `ValueError` when a call of this kind cannot be answered so."""
    fitting = [name for name, known in WORDS.items() if _fits(known, kind)]
    if word not in WORDS:
        raise ValueError(f"no answer is called {word!r}{nearest(word, fitting)}")
    if word not in fitting:
        raise ValueError(f"a call of kind {kind} cannot be answered with {word!r}; there are: {', '.join(fitting)}")
    known = WORDS[word]
    if not argument and not known.optional:
        raise ValueError(f"{word!r} needs more: write {word}:{_example(known.argument)}")
    if argument and not re.fullmatch(known.argument, argument):
        wanted = f"{word}:{_example(known.argument)}" if known.argument else f"{word!r} alone"
        raise ValueError(f"{word} does not take {argument!r}: write {wanted}")


def _fits(word: _Word, kind: Kind) -> bool:
    return any(place.endswith(kind) for place in word.places)


_EXAMPLES = {
    _SECONDS: "2.5",
    _ENUM: "IMAGE_SAFETY",
    MODIFIERS["size"].argument: "640x480",
    MODIFIERS["model"].argument: "NAME",
    MODIFIERS["interim"].argument: "2",
    _ENDINGS["score"].argument: "3",
    _ENDINGS["text"].argument: "ANYTHING",
    _ENDINGS["429_retry_after"].argument: "17",
}


def _example(pattern: str) -> str:
    return _EXAMPLES.get(pattern, pattern)
