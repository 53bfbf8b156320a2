"""The shipped fake editor: answers by script, depends on nothing but the request."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, BeforeValidator, Field

from turngate.agent.editor import Edited, EditRequest, NoImage, NoImageWhy, Usage
from turngate.agent.editors._painting import paint
from turngate.agent.editors._script import check_answer, check_key, look_up
from turngate.errors import ConfigError, MachineError, ProviderError
from turngate.fakes import add_noise, save_as, size_of
from turngate.part import PartConfig
from turngate.picture import encode_png

__all__ = ["ScriptedConfig", "ScriptedEditor"]

Key = Annotated[str, BeforeValidator(str), AfterValidator(check_key)]
"""Turn ("7", or the number 7) or turn.attempt ("7.2")."""
Answer = Annotated[str | float, AfterValidator(check_answer)]


class ScriptedConfig(PartConfig):
    """What to answer at which turn and attempt."""

    script: dict[Key, Answer] = Field(default_factory=dict)
    """Turn ("7") or turn.attempt ("7.2") -> answer; the more exact key wins, `default` answers the rest. Answers:

    - `paint`: a mid-gray square; a number 0..1: a square of that gray level
    - `same`: the input's bytes; `noise:SD`: the input plus Gaussian noise that the seed draws (8-bit levels)
    - `size:WxH`: painted at that size; `as:MODE`: painted and saved as png, jpeg, webp, rgba, palette, cmyk, gray16
      or exif (stored rotated)
    - `no_image:WHY`, `blocked:WHY` (not retryable); `garbage` (bytes that are no image); `empty`
    - `raise` or `raise:bug` (a RuntimeError), `raise:provider`, `raise:machine`, `raise:user` (turngate's errors)
    """
    default: Answer = "paint"
    """Answer where the script says nothing."""
    size: int = Field(default=16, ge=1, le=4096)
    """Side of the painted square, pixels."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Reported per call, with and without image."""
    reasoning: str | dict[Key, str] | None = None
    """Reported with every image, or with those named; `{turn}` and `{attempt}` are filled in."""
    damage: dict[Key, float] = Field(default_factory=dict)
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

    Config: ClassVar[type[PartConfig]] = ScriptedConfig
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
        usage = Usage(cost_usd=self.config.cost_usd)
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
