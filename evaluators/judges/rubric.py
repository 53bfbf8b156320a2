"""A list of yes/no checks, each of which is a veto."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from turngate.evaluators.judges.answer import word
from turngate.evaluators.judges.form import (
    REASONS,
    Form,
    ReferenceImage,
    ShownImage,
    VerdictNames,
    answer_shape,
    check_name,
)
from turngate.evaluators.result import Score

__all__ = ["Rubric"]


class Rubric(Form):
    """The judge answers checks with yes (good) or no; the value is the share of yes, one no gives the label `veto`."""

    form: Literal["rubric"] = "rubric"
    references: tuple[ReferenceImage, ...] = Field(default=("origin",), max_length=3)
    """Images shown before the candidate; may be empty."""
    checks: dict[str, str] = Field(min_length=1, max_length=40)
    """Name -> question; yes must mean good."""
    vetoes: tuple[str, ...] = ()
    """Checks of which one no is a veto; all of them where left out."""
    labels: VerdictNames = ("pass", "veto")
    """Names of the two verdicts. The judge is asked for one too: one that contradicts its checks is flagged
    `inconsistent`."""

    @field_validator("checks")
    @classmethod
    def _names(cls, checks: dict[str, str]) -> dict[str, str]:
        for name, question in checks.items():
            check_name(name)
            if not question.strip():
                raise ValueError(f"{name}: a check is a question")
        return checks

    @field_validator("vetoes")
    @classmethod
    def _known(cls, vetoes: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for name in vetoes:
            if name not in info.data.get("checks", {}):
                raise ValueError(f"there is no check {name!r}")
        return vetoes

    @property
    def bounds(self) -> tuple[float, float]:
        """From no check passed to all of them."""
        return 0.0, 1.0

    @property
    def orders(self) -> tuple[tuple[ShownImage, ...], ...]:
        """One call: references, then the candidate."""
        return ((*self.references, "candidate"),)

    def places(self) -> Mapping[str, str]:
        """The checks, and the answer's shape."""
        good, bad = self.labels
        verdict = f'"{good}" if the candidate may be kept, "{bad}" if not'
        shown = {"reasoning": REASONS, **dict.fromkeys(self.checks, "true or false"), "verdict": verdict}
        return {
            "criteria": "\n".join(f"- {name}: {question}" for name, question in self.checks.items()),
            "answer": answer_shape(shown),
        }

    def fields(self) -> Mapping[str, Any]:
        """Yes or no per check, and a verdict."""
        return {"reasoning": str, **dict.fromkeys(self.checks, bool), "verdict": word(*self.labels)}

    def conclude(self, answers: Sequence[Mapping[str, Any]]) -> Score:
        """The share of checks that passed; they are the parts."""
        answer = answers[0]
        passed = {name: float(answer[name]) for name in self.checks}
        failed = [name for name, yes in passed.items() if not yes]
        vetoed = set(failed) & set(self.vetoes or self.checks)
        label = self.labels[1 if vetoed else 0]
        flags = () if answer["verdict"] == label else ("inconsistent", f"verdict:{answer['verdict']}")
        said = f"no: {', '.join(failed)}\n{answer['reasoning']}" if failed else answer["reasoning"]
        return Score(sum(passed.values()) / len(passed), label, said, passed, flags)
