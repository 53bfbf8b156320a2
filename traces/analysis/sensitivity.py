"""What a study would say under another threshold of `damaged`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.run.recast import with_threshold
from turngate.traces.analysis.run_measures import measure_run

__all__ = ["SensitivityRow", "sensitivity_at"]


class SensitivityRow(BaseModel):
    """The same study under another threshold of `damaged`."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    damaged_at: float
    arm: str
    catch_rate: float | None
    false_alarm_rate: float | None
    propagated_share: float | None
    collapsed: float | None


def sensitivity_at(by_arm: Mapping[str, Sequence[Measured]], damaged_at: float) -> list[SensitivityRow]:
    """Every arm with `damaged` taken anew at another threshold."""
    rows = []
    for arm, runs in by_arm.items():
        again = [measure_run(with_threshold(one.view, damaged_at)) for one in runs]
        caught, alarms, through = (
            sum(getattr(one.summary, field) or 0 for one in again) for field in ("caught", "false_alarms", "propagated")
        )
        passed = sum(one.summary.passed or 0 for one in again)
        collapsed = sum(one.summary.collapse_turn is not None for one in again)
        rows.append(
            SensitivityRow(
                damaged_at=damaged_at,
                arm=arm,
                catch_rate=_share(caught, caught + through),
                false_alarm_rate=_share(alarms, alarms + passed),
                propagated_share=_share(through, through + passed),
                collapsed=_share(collapsed, len(again)),
            )
        )
    return rows


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
