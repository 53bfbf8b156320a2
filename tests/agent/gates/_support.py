"""Gates from settings, and pasts from scores of one evaluator called `q`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from turngate.agent.gate import Accepted, Gate, Past, Reading
from turngate.agent.gates import GATES

__all__ = ["accepts", "direction", "finite", "gate", "past", "reading", "score", "stream"]

finite = st.floats(-1e6, 1e6, allow_nan=False)
score = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 3))
stream = st.lists(score, max_size=12)
direction = st.sampled_from(["higher", "lower"])


def gate(**config: Any) -> Gate:
    return GATES.build(GATES.configure(config, "gate"))


def reading(value: float, which: Any = "lower", label: str | None = None) -> dict[str, Reading]:
    return {"q": Reading("q", value, which, label)}


def past(origin: float | None = None, accepted: Sequence[float] = (), which: Any = "lower", **more: Any) -> Past:
    images = [Accepted(turn, reading(value, which)) for turn, value in enumerate(accepted, 1)]
    start = {} if origin is None else reading(origin, which)
    return Past(len(accepted) + 1, 1, more.pop("seed", 0), start, images, **more)


def accepts(made: Gate, value: float, before: Past, which: Any = "lower") -> bool:
    return made.decide(reading(value, which), before).verdict == "accept"
