"""The shipped fake editor: answers by script, depends on nothing but the request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field

from turngate.agent.editor import Edited, EditRequest, EditUsage, NoImage, NoImageWhy
from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MachineError, ProviderError
from turngate.fakes import MODES, add_noise, save_as, size_of
from turngate.picture import encode_png
from turngate.registry import nearest

__all__ = ["ScriptedConfig", "ScriptedEditor", "check_answer", "check_key", "paint"]


# The words of the scripted editor: what a key and an answer may be.

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


# How the scripted editor paints an image.


def paint(level: float, width: int, height: int, request: EditRequest, seed: int) -> NDArray[np.uint8]:
    """Height x width x 3 pixels of one gray `level` (0..1), except for the first row.

    The first row differs by up to 2 levels and names turn, attempt, seed and input, so that every answer has a hash
    of its own.
    """
    pixels = np.full((height, width, 3), round(level * 255), dtype=np.uint8)
    name = np.random.default_rng([request.turn, request.attempt, seed, int(request.image.sha256[:15], 16)])
    pixels[0] = np.clip(pixels[0].astype(int) + name.integers(-2, 3, pixels[0].shape), 0, 255)
    return pixels


ScriptKey = Annotated[str, BeforeValidator(str), AfterValidator(check_key)]
"""Turn ("7", or the number 7) or turn.attempt ("7.2")."""
ScriptAnswer = Annotated[str | float, AfterValidator(check_answer)]


class ScriptedConfig(ComponentConfig):
    """What to answer at which turn and attempt."""

    script: dict[ScriptKey, ScriptAnswer] = Field(default_factory=dict)
    """Turn ("7") or turn.attempt ("7.2") -> answer; the more exact key wins, `default` answers the rest. Answers:

    - `paint`: a mid-gray square; a number 0..1: a square of that gray level
    - `same`: the input's bytes; `noise:SD`: the input plus Gaussian noise that the seed draws (8-bit levels)
    - `size:WxH`: painted at that size; `as:MODE`: painted and saved as png, jpeg, webp, rgba, palette, cmyk, gray16
      or exif (stored rotated)
    - `no_image:WHY`, `blocked:WHY` (not retryable); `garbage` (bytes that are no image); `empty`
    - `raise` or `raise:bug` (a RuntimeError), `raise:provider`, `raise:machine`, `raise:user` (turngate's errors)
    """
    default: ScriptAnswer = "paint"
    """Answer where the script says nothing."""
    size: int = Field(default=16, ge=1, le=4096)
    """Side of the painted square, pixels."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Reported per call, with and without image."""
    reasoning: str | dict[ScriptKey, str] | None = None
    """Reported with every image, or with those named; `{turn}` and `{attempt}` are filled in."""
    damage: dict[ScriptKey, float] = Field(default_factory=dict)
    """Damage on record by turn or turn.attempt, as a simulator would give it; none where nothing is said."""
    models: dict[Annotated[int, Field(ge=1)], str] = Field(default_factory=dict)
    """Model version that answers from a turn on: `{1: fake-1, 7: fake-2}`."""
    delay_seconds: float = Field(default=0.0, ge=0)
    """Slept before each answer."""
    raise_while: Path | None = None
    """Raise only while this file exists and paint otherwise, so that a resumed run gets past the failure."""
    stochastic: bool = True
    """Let the seed change the painted image."""
    paid: bool = False
    """Declare that calls cost money; a `cost_usd` above 0 declares it too."""


class ScriptedEditor:
    """Answers by script (a fake): images of known gray level, refusals, garbage, crashes, costs."""

    Config: ClassVar[type[ComponentConfig]] = ScriptedConfig
    requires: ClassVar[Mapping[str, str]] = {}
    model = "scripted"
    simulated = True

    def __init__(self, config: ScriptedConfig) -> None:
        self.config = config
        self.stochastic = config.stochastic
        self.paid = config.paid or bool(config.cost_usd)

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """The scripted answer; raises what the script says."""
        time.sleep(self.config.delay_seconds)
        answer = look_up(self.config.script, request.turn, request.attempt, self.config.default)
        usage = EditUsage(cost_usd=self.config.cost_usd)
        word, _, argument = str(answer).partition(":")
        if word == "raise":
            if self.config.raise_while is None or self.config.raise_while.exists():
                raise _exception(argument)
            answer = "paint"
        model = self._model(request.turn)
        if word in ("no_image", "blocked"):
            why = cast(NoImageWhy, argument)
            return NoImage(why, "the script says so", retryable=word == "no_image", model=model, usage=usage)
        damage = look_up(cast("dict[str, str | float]", self.config.damage), request.turn, request.attempt, "")
        return Edited(
            self._data(answer, request),
            reasoning=self._reasoning(request),
            model=model,
            usage=usage,
            damage=None if damage == "" else float(damage),
        )

    def _data(self, answer: str | float, request: EditRequest) -> bytes:
        seed = request.seed if self.config.stochastic else 0
        width = height = self.config.size
        word, _, argument = str(answer).partition(":")
        match word:
            case "same":
                return request.image.data
            case "garbage":
                return b"this is not an image"
            case "empty":
                return b""
            case "noise":
                return encode_png(add_noise(request.image.rgb, float(argument), seed))
            case "size":
                width, height = size_of(argument)
        level = 0.5 if isinstance(answer, str) else answer
        painted = paint(level, width, height, request, seed)
        return save_as(argument if word == "as" else "png", painted)

    def _model(self, turn: int) -> str:
        begun = [first for first in self.config.models if first <= turn]
        return self.config.models[max(begun)] if begun else "scripted-1"

    def _reasoning(self, request: EditRequest) -> str | None:
        said: Any = self.config.reasoning
        if isinstance(said, dict):
            said = look_up(said, request.turn, request.attempt, "") or None
        if said is None:
            return None
        return str(said).replace("{turn}", str(request.turn)).replace("{attempt}", str(request.attempt))


def _exception(kind: str) -> Exception:
    match kind:
        case "provider":
            return ProviderError("the script says that the provider fails: resume later")
        case "machine":
            return MachineError("the script says that the machine fails: free some disk space")
        case "user":
            return ConfigError("the script says that the configuration is wrong: mend it")
    return RuntimeError("the script says so")
