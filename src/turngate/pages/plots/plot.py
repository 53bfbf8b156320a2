"""One plot of a study: its figures, what its caption must say, and the numbers that it draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turngate.errors import counted
from turngate.pages.plots._style import name_of
from turngate.traces.analysis.statistics import FEW_ORIGINS, how_simulated, why_simulated
from turngate.traces.analysis.study import ArmAnswer, LoadedRun, TruthAnswer, thresholds_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "LeftOut",
    "Plot",
    "PlotArm",
    "PlotData",
    "control_words",
    "interval_words",
    "label_of",
    "limit_words",
    "runs_of",
    "sample_words",
]


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


@dataclass(frozen=True)
class LeftOut:
    """A plot that the study has nothing to draw for."""

    name: str
    reason: str
    """One sentence without a full stop."""


@dataclass(frozen=True)
class PlotArm:
    """One arm as the plots draw it."""

    place: int
    """Among the arms of the study, from 0: the same sign in all plots."""
    answer: ArmAnswer
    runs: list[LoadedRun]

    @property
    def name(self) -> str:
        """As the study has it."""
        return self.answer.arm

    @property
    def control(self) -> bool:
        """It is a control arm."""
        return self.answer.control


@dataclass(frozen=True)
class PlotData:
    """A study as one of its truths sees it."""

    truth: TruthAnswer
    arms: list[PlotArm]
    suffix: str = ""
    """Of the names of its plots: empty for the leading truth."""
    never_begun: int = 0
    """Planned runs that were never begun."""

    @classmethod
    def of(cls, truth: TruthAnswer, runs: Sequence[LoadedRun], suffix: str = "", never_begun: int = 0) -> PlotData:
        """Every arm that has a run, in the order of the plan."""
        arms = [
            PlotArm(place, answer, [run for run in runs if run.run.arm == answer.arm])
            for place, answer in enumerate(truth.arms)
        ]
        return cls(truth, arms, suffix, never_begun)

    @property
    def truth_words(self) -> str:
        """What damaged means here, as a sentence."""
        measures = {
            stand.truth.measure for run in runs_of(self.arms) for stand in run.stands if stand.truth is not None
        }
        name = f" {name_of(self.truth.truth_name)}" if self.suffix else ""
        unit = f" in {self.truth.truth_unit}" if self.truth.truth_unit else ""
        limit = limit_words(self)
        better = f" ({self.truth.truth_better} is better), {limit}" if limit else ""
        return f"Truth{name}: {', '.join(map(name_of, sorted(measures))) or 'not measured'}{unit}{better}."


# What a plot rests on, in words: how many runs and origins, which are simulated, what counts as damaged.


def runs_of(arms: Sequence[PlotArm]) -> list[LoadedRun]:
    """All their runs."""
    return [run for arm in arms for run in arm.runs]


def sample_words(runs: Sequence[LoadedRun], never_begun: int = 0) -> str:
    """Runs, origins, simulated editors and what is missing, as sentences; `runs` are those that the plot shows."""
    arms = Counter(run.run.arm for run in runs)
    least, most = min(arms.values()), max(arms.values())
    each = " per arm" if len(arms) > 1 else ""
    number = counted(most, "run") if least == most else f"{least} to {most} runs"
    sentences = [f"n = {number}{each}, {counted(_origins(runs), 'origin')}."]
    simulated = sum(run.summary.simulated for run in runs)
    why = why_simulated(simulated, sum(run.summary.fake_server for run in runs))
    if simulated == len(runs):
        sentences.append(f"SIMULATED: {why}.")
    elif simulated:
        sentences.append(f"SIMULATED in {simulated} of {counted(len(runs), 'run')}: there {why}.")
    short = sum(bool(run.answer.turns.not_reached) for run in runs)
    if short:
        sentences.append(f"{short} of {counted(len(runs), 'run')} ended before the last turn: the last image is kept.")
    at_work = sum(run.answer.going_on for run in runs)
    if at_work:
        sentences.append(f"{at_work} of {counted(len(runs), 'run')} still at work: drawn as far as known.")
    if never_begun:
        sentences.append(f"{never_begun} planned run{' was' if never_begun == 1 else 's were'} never begun.")
    return " ".join(sentences)


def interval_words(runs: Sequence[LoadedRun]) -> str:
    """Whether there are intervals over the origins of these runs, as a sentence."""
    if _origins(runs) < FEW_ORIGINS:
        return f"Fewer than {FEW_ORIGINS} origins: no intervals; each origin's own value is in the CSV."
    return "Intervals: 95 %, over origins (Gaffke's bound)."


def limit_words(data: PlotData) -> str:
    """From where on an image counts as damaged, with the unit; empty when no truth has a threshold."""
    limits = thresholds_of(runs_of(data.arms))
    if not limits or data.truth.truth_better is None:
        return ""
    unit = f" {data.truth.truth_unit}" if data.truth.truth_unit else ""
    worse = "less" if data.truth.truth_better == "higher" else "more"
    return f"damaged at {' or '.join(f'{limit:g}' for limit in limits)}{unit} or {worse}"


def control_words(arms: Sequence[PlotArm]) -> str:
    """Which arms are controls, as a sentence and a space, where there are some beside others."""
    names = [name_of(arm.name) for arm in arms if arm.control]
    return f"Control arms: {', '.join(names)}. " if 0 < len(names) < len(arms) else ""


def label_of(arm: PlotArm, beside: Sequence[PlotArm]) -> str:
    """Name of an arm; says that it is simulated where that tells it from the arms beside it."""
    words = {other.name: how_simulated(other.answer.simulated_runs, other.answer.runs) for other in beside}
    alike = len(set(words.values())) == 1
    return name_of(arm.name) + ("" if alike or not words[arm.name] else f" ({words[arm.name]})")


def _origins(runs: Sequence[LoadedRun]) -> int:
    return len({run.cluster for run in runs})
