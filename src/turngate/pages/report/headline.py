"""The answer of a study in one sentence: what happened in each arm, not only in the best one."""

from __future__ import annotations

from turngate.traces.analysis.run import VerdictKind
from turngate.traces.analysis.study import ArmAnswer, StudyAnswer

__all__ = ["study_headline"]

_ONE: dict[VerdictKind, str] = {
    "goes_on": "catches and goes on", "stalls": "stalls", "propagates": "propagates", "not_told": "is not told",
}  # fmt: skip
_MANY: dict[VerdictKind, str] = {
    "goes_on": "catch and go on", "stalls": "stall", "propagates": "propagate", "not_told": "are not told",
}  # fmt: skip
_MOST = 4
"""Most names of one kind; of more only the number is said, the sentences beside the plane have the names."""


def study_headline(answer: StudyAnswer) -> str:
    """Own arms by what most of their runs came to; the arm without a gate is named last."""
    if not answer.truth:
        return "No truth was measured, so nothing is told of damage."
    own = [arm for arm in answer.arms if not arm.control and arm.arm != answer.base]
    parts = []
    for kind in ("goes_on", "stalls", "propagates", "not_told"):
        names = [_named(arm) for arm in own if next(iter(arm.verdict.runs)) == kind]
        if names:
            parts.append(f"{_listed(names)} {(_ONE if len(names) == 1 else _MANY)[kind]}")
    base = next((arm for arm in answer.arms if arm.arm == answer.base), None)
    if base is not None:
        parts.append(f"without a gate the loop {_ONE[next(iter(base.verdict.runs))]}")
    return f"{'; '.join(parts)}." if parts else "No arm has a run."


def _named(arm: ArmAnswer) -> str:
    """The name, with how many of its runs the verdict holds for where that is not all of them."""
    most = next(iter(arm.verdict.runs.values()))
    return arm.arm if most == arm.runs else f"{arm.arm} (in {most} of {arm.runs} runs)"


def _listed(names: list[str]) -> str:
    if len(names) > _MOST:
        return f"{len(names)} arms"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
