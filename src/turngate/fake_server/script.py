"""What the fake servers answer, call by call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from turngate.errors import ConfigError
from turngate.fakes import MODES, size_of
from turngate.frozen import StrictModel
from turngate.registry import explain, nearest
from turngate.yaml_text import read_yaml

__all__ = [
    "MODIFIERS",
    "WORDS",
    "CallKind",
    "Endpoint",
    "Script",
    "ScriptedReply",
    "check_answer",
    "parse_script",
    "read_script",
    "split",
    "with_answers",
]


# The words of an answer, what may follow their colon, and which calls they can answer.

CallKind = Literal["edit", "judge"]
"""Whether a call wants an image or a text."""
Endpoint = Literal["gemini_edit", "gemini_judge", "openai_edit", "openai_judge"]
"""An endpoint as the kind of call it gets."""

_GEMINI: frozenset[Endpoint] = frozenset({"gemini_edit", "gemini_judge"})
_OPENAI: frozenset[Endpoint] = frozenset({"openai_edit", "openai_judge"})
_EDIT: frozenset[Endpoint] = frozenset({"gemini_edit", "openai_edit"})
_JUDGE: frozenset[Endpoint] = frozenset({"gemini_judge", "openai_judge"})
_ALL = _GEMINI | _OPENAI
_SECONDS = r"\d+(\.\d+)?"
_ENUM = r"[A-Za-z][A-Za-z_]*"


class _Word(NamedTuple):
    argument: str
    """Pattern of what follows the colon; empty where nothing may."""
    optional: bool
    places: frozenset[Endpoint]


def _word(places: frozenset[Endpoint], argument: str = "", optional: bool = False) -> _Word:
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
    "html": _word(_ALL, "200|502", optional=True),
}

WORDS = {**_ENDINGS, **MODIFIERS}
"""Every word of an answer."""


def split(text: str) -> list[tuple[str, str]]:
    """Words and what follows their colons; `text:` takes all that follows."""
    found: list[tuple[str, str]] = []
    more, rest = "+", text
    while more:
        if rest.startswith("text:"):
            return [*found, ("text", rest.removeprefix("text:"))]
        one, more, rest = rest.partition("+")
        word, _, argument = one.partition(":")
        found.append((word, argument))
    return found


def check_word(word: str, argument: str, kind: CallKind) -> None:
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


def _fits(word: _Word, kind: CallKind) -> bool:
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


# One answer of a script: words joined by `+`, for instance `slow:2+size:640x480` or `429_per_minute:17`.


@dataclass(frozen=True)
class ScriptedReply:
    """How to answer one call."""

    text: str = "ok"
    """As the script has it."""
    ending: str = "ok"
    """The one word that decides what comes back."""
    argument: str = ""
    """What follows the colon of `ending`."""
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
    def parse(cls, text: str) -> ScriptedReply:
        """From a checked answer."""
        answer = cls(text=text)
        for word, argument in split(text):
            answer = answer._with(word, argument)
        return answer

    def _with(self, word: str, argument: str) -> ScriptedReply:
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


def check_answer(text: str, kind: CallKind) -> str:
    """An answer that a call of this kind can be given; raises `ValueError` with the nearest one otherwise."""
    endings = []
    for word, argument in split(text):
        check_word(word, argument, kind)
        if word not in MODIFIERS:
            endings.append(word)
    if len(endings) > 1:
        raise ValueError(f"{' and '.join(endings)} exclude each other: one answer can have only one of them")
    return text


_KEY = re.compile(r"(?:judge\.)?(?:(\d+)(?:-(\d+))?|default)")


def _check_key(key: str) -> str:
    found = _KEY.fullmatch(key)
    if not found:
        raise ValueError("a key is a call ('3'), a range ('3-5') or 'default', for judges 'judge.3'")
    first, last = int(found[1] or 1), int(found[2] or found[1] or 1)
    if not 1 <= first <= last:
        raise ValueError("calls are counted from 1, and a range goes upwards")
    return key


CallKey = Annotated[str, BeforeValidator(str), AfterValidator(_check_key)]
"""`3`, `3-5` or `default` for editors; `judge.3`, ... for judges."""
EditEntry = Annotated[str, BeforeValidator(str), AfterValidator(lambda text: check_answer(text, "edit"))]
JudgeEntry = Annotated[str, BeforeValidator(str), AfterValidator(lambda text: check_answer(text, "judge"))]


class Script(StrictModel):
    """What to answer which call. Calls of editors and of judges are counted apart, retries included."""

    answers: dict[CallKey, Annotated[str, BeforeValidator(str)]] = Field(default_factory=dict)
    """Call -> answer. A single call wins over a range, a range over `default`, of two ranges the first."""
    queue: list[EditEntry] = Field(default_factory=list)
    """Answers to the first editor calls, one each; `answers` has the rest."""
    judge_queue: list[JudgeEntry] = Field(default_factory=list)
    """The same for judges."""
    noise: float = Field(default=2.0, ge=0, le=100)
    """Standard deviation of the Gaussian noise that an edit adds, 8-bit levels."""
    reasoning: str = "I looked at the image and changed nothing but a little noise."
    """Reasoning summary, where the request asks for one."""
    judge: dict[str, Any] = Field(default_factory=dict)
    """Values by field name that a judge's JSON has, instead of plausible ones."""
    require_signatures: bool = False
    """Refuse a conversation whose images of the model have lost their thought signatures."""
    require_key: str | None = Field(default=None, min_length=1, repr=False)
    """Refuse every other API key."""

    @model_validator(mode="after")
    def _check_answers(self) -> Script:
        for key, answer in self.answers.items():
            try:
                check_answer(answer, _kind_of(key))
            except ValueError as error:
                raise ValueError(f"answers.{key}: {error}") from None
        return self

    def answer(self, kind: CallKind, number: int) -> ScriptedReply:
        """What the call `number` (from 1) of a kind is answered."""
        queue = self.queue if kind == "edit" else self.judge_queue
        if number <= len(queue):
            return ScriptedReply.parse(queue[number - 1])
        own = {key.removeprefix("judge."): text
               for key, text in self.answers.items() if _kind_of(key) == kind}  # fmt: skip
        ranges = (text for key, text in own.items() if "-" in key and _in_range(number, key))
        return ScriptedReply.parse(own.get(str(number)) or next(ranges, None) or own.get("default", "ok"))


def parse_script(raw: Any, source: str) -> Script:
    """Check a raw mapping; raises `ConfigError` in one line that begins with `source`."""
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{source}: a script is a mapping of fields, for instance `answers: {{3: no_image}}`")
    try:
        return Script.model_validate(dict(raw))
    except ValidationError as error:
        raise ConfigError(f"{source}: {_explain(error)}") from None


def read_script(path: Path) -> Script:
    """Read a YAML or JSON file; raises `ConfigError` that names the file, the answer and the nearest right one."""
    return parse_script(read_yaml(path), str(path))


def with_answers(script: Script, options: Sequence[str]) -> Script:
    """Add `KEY=ANSWER` options; raises `ConfigError`."""
    answers = dict(script.answers)
    for option in options:
        key, equals, answer = option.partition("=")
        if not equals:
            raise ConfigError(f"--answer {option}: write it as CALL=ANSWER, for instance --answer 3=no_image")
        answers[key] = answer
    return parse_script({**script.model_dump(), "answers": answers}, "--answer")


def _kind_of(key: str) -> CallKind:
    return "judge" if key.startswith("judge.") else "edit"


def _in_range(number: int, key: str) -> bool:
    first, last = key.split("-")
    return int(first) <= number <= int(last)


def _explain(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    if problem["type"] == "value_error" and not problem["loc"]:  # it names the field itself
        return str(problem["msg"]).removeprefix("Value error, ")
    return explain(error, Script)
