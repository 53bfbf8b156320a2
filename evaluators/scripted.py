"""The shipped fake evaluator: known scores, and every way to give none."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast, get_args

from pydantic import Field, field_validator

from turngate.component import ComponentConfig
from turngate.errors import Fault
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.result import Failed, Result, Score, Unscored, UnscoredWhy

__all__ = ["ScriptedEvaluator", "ScriptedEvaluatorConfig"]


class ScriptedEvaluatorConfig(ComponentConfig):
    """Where the scores come from."""

    rule: Literal["mean_gray", "sequence"] = "mean_gray"
    """`mean_gray`: mean luma of the candidate / 255, so painted images have known scores. `sequence`: `values` in the
    order of calls, again from the start; depends on call order, so it is declared stochastic unless all are equal."""
    values: list[float | str] = Field(default=[], max_length=10_000)
    """Answers of `sequence`: a number, `unscored:WHY`, `failed:FAULT`, `nan`, `inf`, or `raise`."""
    direction: Literal["higher", "lower"] = "lower"
    """Which way is better."""
    range: tuple[float, float] | None = None
    """Exact range, a value outside it is a failure; None for any number."""
    delay_seconds: float = Field(default=0.0, ge=0)
    """Slept once per batch."""

    @field_validator("values")
    @classmethod
    def _answers(cls, values: list[float | str]) -> list[float | str]:
        for answer in values:
            word, _, why = str(answer).partition(":")
            known = isinstance(answer, int | float) or answer in ("nan", "inf", "raise")
            known = known or (word == "unscored" and why in get_args(UnscoredWhy))
            if not known and not (word == "failed" and why in get_args(Fault)):
                raise ValueError("an answer is a number, unscored:WHY, failed:FAULT, nan, inf or raise")
        return values


class ScriptedEvaluator:
    """Gives known scores (a fake): the mean gray level, or a list of answers and failures."""

    Config: ClassVar[type[ComponentConfig]] = ScriptedEvaluatorConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: ScriptedEvaluatorConfig) -> None:
        self.config = config
        repeatable = config.rule == "mean_gray" or len(set(config.values)) <= 1
        self.facts = Facts(
            name="scripted",
            version="1",
            direction=config.direction,
            range=config.range or (float("-inf"), float("inf")),
            deterministic=repeatable,
            batch_invariant=repeatable,
            source="a fake: see its configuration",
        )
        self._answers = itertools.cycle(config.values or ["unscored:undefined"])

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """One scripted answer per sample; raises `RuntimeError` where the script says `raise`."""
        time.sleep(self.config.delay_seconds)
        return [self._answer(sample) for sample in batch]

    def _answer(self, sample: EvalInput) -> Result:
        if self.config.rule == "mean_gray":
            return Score(float(sample.candidate.gray.mean()) / 255)
        answer: Any = next(self._answers)
        word, _, why = str(answer).partition(":")
        if word == "unscored":
            return Unscored(cast(UnscoredWhy, why), "the script says so")
        if word == "failed":
            return Failed(cast(Fault, why), "scripted", "the script says so")
        if word == "raise":
            raise RuntimeError("the script says so")
        return Score(float(answer))
