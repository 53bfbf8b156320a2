"""Ensembles of scripted members."""

from __future__ import annotations

from typing import Any

import numpy as np

from turngate import Picture
from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Result, Score
from turngate.evaluators.scoring import score

__all__ = ["GRAYS", "build", "once", "says", "value"]

GRAYS = [Picture.from_rgb(np.full((16, 16, 3), level, dtype=np.uint8)) for level in (0, 51, 102, 153, 204)]


def build(rule: str, members: dict[str, Any], **fields: Any) -> Evaluator:
    """An ensemble."""
    raw = {"type": "ensemble", "rule": rule, "members": members, **fields}
    return EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.both"))


def says(*values: Any, direction: str = "higher", **fields: Any) -> dict[str, Any]:
    """A member that answers as told."""
    return {"type": "scripted", "rule": "sequence", "values": list(values), "direction": direction, **fields}


def once(evaluator: Evaluator, candidate: Picture = GRAYS[0], **sample: Any) -> Result:
    """One image's result."""
    return score(evaluator, [EvalInput(candidate, **sample)])[0]


def value(result: Result) -> float:
    """Of what must be a score."""
    assert isinstance(result, Score), result
    return result.value
