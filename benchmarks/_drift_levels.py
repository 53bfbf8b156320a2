"""How well a set of alarm levels does, and levels learnt from clean edits and some editors' chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from turngate.evaluators.drift import ALARM, EXPONENT, UNITS

__all__ = ["Found", "Run", "auc", "learn", "value"]

Found = Mapping[str, float]
"""Components of one image."""
Run = Mapping[int, Found]
"""Components by turn."""

_EARLY, _LATE = 1, 10
_LEAST = {"grey levels": 0.2, "octaves": 0.02, "dB": 0.5}
"""Lower 99th percentiles of clean edits are taken for these, so that a level is never nothing."""


def value(found: Found, levels: Found = ALARM, exponent: float = EXPONENT) -> float:
    """Drift with other alarm levels or another exponent."""
    return float(sum((found[name] / levels[name]) ** exponent for name in levels) ** (1 / exponent))


def auc(runs: Sequence[Run], levels: Found = ALARM, exponent: float = EXPONENT, first: int = 0) -> float:
    """Chance that a turn from 10 on scores above one of `first` to 1 (to 3 where `first` is later); ties count half."""
    last = max(_EARLY, first + 1) if first > _EARLY else _EARLY
    early = [value(run[turn], levels, exponent) for run in runs for turn in run if first <= turn <= last]
    late = [value(run[turn], levels, exponent) for run in runs for turn in run if turn >= _LATE]
    low, high = np.array(early)[:, None], np.array(late)[None, :]
    return float(((high > low) + 0.5 * (high == low)).mean())


def learn(clean: Sequence[Found], editors: Sequence[Sequence[Run]]) -> tuple[dict[str, float], float]:
    """Levels and exponent from clean edits and some editors' chains.

    A level is the geometric mean of the 99th percentile on clean edits and the 90th percentile at turns from 10 on, or
    three times the former where the chains hardly show that component. The exponent is the one of 2, 3, 4 and 8 with
    the highest lowest AUC over the editors.
    """
    levels = {}
    for name in ALARM:
        quiet = max(float(np.quantile([found[name] for found in clean], 0.99)), _LEAST[UNITS[name]])
        turns = [found for runs in editors for run in runs for turn, found in run.items() if turn >= _LATE]
        late = float(np.quantile([found[name] for found in turns], 0.9))
        levels[name] = float(np.sqrt(quiet * late)) if late > 3 * quiet else 3 * quiet

    def lowest(exponent: float) -> float:
        return min(auc(runs, levels, exponent) for runs in editors)

    return levels, max((2.0, 3.0, 4.0, 8.0), key=lowest)
