"""The shipped fake editor: answers by script, depends on nothing but the request."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, cast, get_args

import numpy as np
from pydantic import Field, field_validator

from turngate.agent.editor import Edited, EditRequest, NoImage, NoImageWhy, Usage
from turngate.part import PartConfig
from turngate.picture import encode_png

__all__ = ["ScriptedConfig", "ScriptedEditor"]


class ScriptedConfig(PartConfig):
    """What to answer at which turn and attempt."""

    script: dict[str, str | float] = Field(default_factory=dict)
    """Turn ("7") or turn.attempt ("7.2") -> answer; the more exact key wins, `default` answers the rest. Answers:
    `paint`, a gray level 0..1, `same` (the input's bytes), `no_image:WHY`, `blocked:WHY` (not retryable), `garbage`
    (bytes that are no image), `empty`, `raise`."""
    default: str | float = "paint"
    """Answer where the script says nothing."""
    size: int = Field(default=16, ge=1, le=4096)
    """Side of the painted square, pixels."""
    cost_usd: float | None = None
    """Reported per call."""
    reasoning: str | None = None
    """Reported with every image; `{turn}` and `{attempt}` are filled in."""
    delay_seconds: float = Field(default=0.0, ge=0)
    """Slept before each answer."""
    stochastic: bool = True
    """Let the seed change the painted image."""
    paid: bool = False
    """Declare that calls cost money."""

    @field_validator("script", mode="before")
    @classmethod
    def _keys(cls, raw: Any) -> Any:
        return {str(key): value for key, value in raw.items()} if isinstance(raw, dict) else raw

    @field_validator("script", "default")
    @classmethod
    def _answers(cls, value: Any) -> Any:
        for answer in value.values() if isinstance(value, dict) else [value]:
            word, _, why = str(answer).partition(":")
            known = word in ("paint", "same", "garbage", "empty", "raise") or isinstance(answer, int | float)
            if not known and not (word in ("no_image", "blocked") and why in get_args(NoImageWhy)):
                raise ValueError(
                    "an answer is paint, a gray level, same, no_image:WHY, blocked:WHY, garbage, empty or raise"
                )
        return value


class ScriptedEditor:
    """Answers by script (a fake): images of known gray level, refusals, garbage, crashes, costs."""

    Config: ClassVar[type[PartConfig]] = ScriptedConfig
    requires: ClassVar[Mapping[str, str]] = {}
    model = "scripted"
    simulated = True

    def __init__(self, config: ScriptedConfig) -> None:
        self.config = config
        self.stochastic = config.stochastic
        self.paid = config.paid

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """The scripted answer; raises `RuntimeError` where the script says `raise`."""
        time.sleep(self.config.delay_seconds)
        exact = f"{request.turn}.{request.attempt}"
        answer = self.config.script.get(exact, self.config.script.get(str(request.turn), self.config.default))
        usage = Usage(cost_usd=self.config.cost_usd)
        word, _, why = str(answer).partition(":")
        if word == "raise":
            raise RuntimeError("the script says so")
        if word in ("no_image", "blocked"):
            return NoImage(cast(NoImageWhy, why), "the script says so", retryable=word == "no_image", usage=usage)
        reasoning = self.config.reasoning
        if reasoning is not None:
            reasoning = reasoning.replace("{turn}", str(request.turn)).replace("{attempt}", str(request.attempt))
        return Edited(self._data(answer, request), reasoning=reasoning, model="scripted-1", usage=usage)

    def _data(self, answer: str | float, request: EditRequest) -> bytes:
        match answer:
            case "same":
                return request.image.data
            case "garbage":
                return b"this is not an image"
            case "empty":
                return b""
            case "paint":
                level = 0.5
            case _:
                level = float(answer)
        pixels = np.full((self.config.size, self.config.size, 3), round(level * 255), dtype=np.uint8)
        seed = request.seed if self.config.stochastic else 0
        # The first row names turn, attempt, seed and input, so that every answer has a hash of its own.
        name = np.random.default_rng([request.turn, request.attempt, seed, int(request.image.sha256[:15], 16)])
        pixels[0] = np.clip(pixels[0].astype(int) + name.integers(-2, 3, pixels[0].shape), 0, 255)
        return encode_png(pixels)
