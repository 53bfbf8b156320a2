"""One plot of a study: its figures, what its caption must say, and the numbers that it draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import name_of
from turngate.pages.report.charts import Arm
from turngate.traces.analysis.statistics import FEW_ORIGINS
from turngate.traces.analysis.study import LoadedRun, thresholds_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plot", "control_words", "interval_words", "label_of", "limit_words", "runs_of", "sample_words"]


@dataclass(frozen=True)
class Plot:
    """What one plot consists of."""

    name: str
    """Of its files."""
    figures: list[Figure]
    """More than one when its panels do not fit on a page."""
    caption: str
    """Plain text, ready for a paper."""
    columns: tuple[str, ...]
    """Of the table."""
    rows: Sequence[Sequence[Any]]
    """The numbers as the answer has them; None is an empty cell."""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.name} does not have {len(self.columns)} cells")

    def stems(self) -> list[str]:
        """Names of the figures without a suffix: `truth`, or `truth-1`, `truth-2`."""
        if len(self.figures) == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number, _ in enumerate(self.figures, 1)]


# What a plot rests on, in words: how many runs and origins, which are simulated, what counts as damaged.


def runs_of(arms: Sequence[Arm]) -> list[LoadedRun]:
    """All their runs."""
    return [run for arm in arms for run in arm.runs]


def sample_words(runs: Sequence[LoadedRun], never_begun: int = 0) -> str:
    """Runs, origins, simulated editors and what is missing, as sentences; `runs` are those that the plot shows."""
    arms = Counter(run.run.arm for run in runs)
    least, most = min(arms.values()), max(arms.values())
    each = " per arm" if len(arms) > 1 else ""
    number = f"{least} to {most}" if least != most else str(most)
    origins = _origins(runs)
    sentences = [f"n = {number} run{'' if most == 1 else 's'}{each}, {origins} origin{'' if origins == 1 else 's'}."]
    simulated = sum(run.summary.simulated for run in runs)
    if simulated == len(runs):
        sentences.append("SIMULATED editor: the damage is written by hand.")
    elif simulated:
        sentences.append(f"SIMULATED editor in {simulated} of {len(runs)} runs: there the damage is written by hand.")
    short = sum(run.summary.status != "complete" for run in runs)
    if short:
        sentences.append(f"{short} of {len(runs)} runs did not come to their last turn.")
    if never_begun:
        sentences.append(f"{never_begun} planned run{' was' if never_begun == 1 else 's were'} never begun.")
    return " ".join(sentences)


def interval_words(runs: Sequence[LoadedRun]) -> str:
    """What is to be sentences of intervals over the origins of these runs; empty when there is nothing."""
    origins = _origins(runs)
    if origins == 1:
        return "One origin: no interval."
    return f"Intervals from fewer than {FEW_ORIGINS} origins are rough." if origins < FEW_ORIGINS else ""


def limit_words(arms: Sequence[Arm]) -> str:
    """From where on an image counts as damaged; empty when no truth has a threshold."""
    limits = thresholds_of(runs_of(arms))
    better = arms[0].runs[0].truth_direction
    worse = "less" if better == "higher" else "more"
    return f"damaged at {' or '.join(f'{limit:g}' for limit in limits)} or {worse}" if limits else ""


def control_words(arms: Sequence[Arm]) -> str:
    """Which arms are controls, where there are some beside others."""
    names = [name_of(arm.name) for arm in arms if arm.answer.control]
    return f"Control arms: {', '.join(names)}. " if 0 < len(names) < len(arms) else ""


def label_of(arm: Arm, beside: Sequence[Arm]) -> str:
    """Name of an arm; says that it is simulated where that tells it from the arms beside it."""
    alike = len({other.simulated for other in beside}) == 1
    return name_of(arm.name) + ("" if alike or not arm.simulated else f" ({arm.simulated})")


def _origins(runs: Sequence[LoadedRun]) -> int:
    return len({run.run.origin for run in runs})
