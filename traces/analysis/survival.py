"""How long runs stay sound."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.run_measures import RunMeasures

__all__ = ["Survival", "survival"]


class Survival(BaseModel):
    """Kaplan-Meier estimate of the share of runs whose image is still sound."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    turns: list[int]
    """Turns at which a run's image became damaged, increasing."""
    share: list[float]
    """Share still sound after that turn, 0..1."""
    runs: int
    censored: int
    """Runs that were sound to their last turn."""


def survival(runs: Sequence[RunMeasures]) -> Survival:
    """Turn of the first damaged current image; a run that never has one is censored at its last turn.

    The first time counts, even if a rollback mends it. Runs without a closed turn are left out.
    """
    from scipy.stats import CensoredData, ecdf

    known = [run for run in runs if run.last_turn > 0 and any(sound is not None for sound in run.sound_at)]
    fell = [turn for run in known if (turn := run.first_unsound_turn) is not None]
    lasted = [run.last_turn for run in known if run.first_unsound_turn is None]
    if not fell:
        return Survival(turns=[], share=[], runs=len(known), censored=len(lasted))
    curve = ecdf(CensoredData(uncensored=fell, right=lasted)).sf
    events = sorted(set(fell))
    return Survival(
        turns=events,
        share=[float(value) for value in curve.evaluate(events)],
        runs=len(known),
        censored=len(lasted),
    )
