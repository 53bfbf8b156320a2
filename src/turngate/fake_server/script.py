"""What the fake servers answer, call by call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from turngate.errors import ConfigError
from turngate.fake_server._words import Kind
from turngate.fake_server.answer import Answer, check_answer
from turngate.registry import explain

__all__ = ["Script", "parse_script", "read_script", "with_answers"]

_KEY = re.compile(r"(?:(edit|judge)\.)?(?:(\d+)(?:-(\d+))?|default)")


def _check_key(key: str) -> str:
    found = _KEY.fullmatch(key)
    if not found:
        raise ValueError("a key is a call ('3'), a range ('3-5') or 'default', for judges 'judge.3'")
    first, last = int(found[2] or 1), int(found[3] or found[2] or 1)
    if not 1 <= first <= last:
        raise ValueError("calls are counted from 1, and a range goes upwards")
    return key


Key = Annotated[str, BeforeValidator(str), AfterValidator(_check_key)]
"""`3`, `3-5` or `default`; `judge.3`, ... for judges, `edit.3` for the same as `3`."""
EditAnswer = Annotated[str, BeforeValidator(str), AfterValidator(lambda text: check_answer(text, "edit"))]
JudgeAnswer = Annotated[str, BeforeValidator(str), AfterValidator(lambda text: check_answer(text, "judge"))]


class Script(BaseModel):
    """What to answer which call. Calls of editors and of judges are counted apart, retries included."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: dict[Key, Annotated[str, BeforeValidator(str)]] = Field(default_factory=dict)
    """Call -> answer. A single call wins over a range, a range over `default`, of two ranges the first."""
    queue: list[EditAnswer] = Field(default_factory=list)
    """Answers to the first editor calls, one each; `answers` has the rest."""
    judge_queue: list[JudgeAnswer] = Field(default_factory=list)
    """The same for judges."""
    noise: float = Field(default=2.0, ge=0, le=100)
    """Standard deviation of the Gaussian noise that an edit adds, 8-bit levels."""
    format: Literal["png", "jpeg", "webp"] = "png"
    """File type of images, where neither the request nor an answer says another."""
    reasoning: str = "I looked at the image and changed nothing but a little noise."
    """Reasoning summary, where the request asks for one."""
    reasoning_content: bool = False
    """Give it in chat completions too, as some local servers do."""
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

    def answer(self, kind: Kind, number: int) -> Answer:
        """What the call `number` (from 1) of a kind is answered."""
        queue = self.queue if kind == "edit" else self.judge_queue
        if number <= len(queue):
            return Answer.parse(queue[number - 1])
        own = {key.removeprefix("edit.").removeprefix("judge."): text
               for key, text in self.answers.items() if _kind_of(key) == kind}  # fmt: skip
        ranges = (text for key, text in own.items() if "-" in key and _in_range(number, key))
        return Answer.parse(own.get(str(number)) or next(ranges, None) or own.get("default", "ok"))


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
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise ConfigError(f"{path}: not valid YAML: {problem}") from None
    return parse_script(raw, str(path))


def with_answers(script: Script, options: Sequence[str]) -> Script:
    """Add `KEY=ANSWER` options; raises `ConfigError`."""
    answers = dict(script.answers)
    for option in options:
        key, equals, answer = option.partition("=")
        if not equals:
            raise ConfigError(f"--answer {option}: write it as CALL=ANSWER, for instance --answer 3=no_image")
        answers[key] = answer
    return parse_script({**script.model_dump(), "answers": answers}, "--answer")


def _kind_of(key: str) -> Kind:
    return "judge" if key.startswith("judge.") else "edit"


def _in_range(number: int, key: str) -> bool:
    first, last = key.split("-")
    return int(first) <= number <= int(last)


def _explain(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    if problem["type"] == "value_error" and not problem["loc"]:  # it names the field itself
        return str(problem["msg"]).removeprefix("Value error, ")
    return explain(error, Script)
