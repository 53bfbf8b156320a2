"""The answer of a study as charts: how long runs stay sound, how late damage is noticed, what soundness costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from turngate.pages.report.charts.figure import SHARE, Direction, Panel, panel, plane
from turngate.pages.report.study.arms import Arm
from turngate.traces.analysis.sensitivity import SensitivityRow
from turngate.traces.analysis.study.arms import ArmAnswer
from turngate.traces.report.answer_points import caught_within, cost_points, survival_points, thresholds_of
from turngate.traces.report.inert import visible

__all__ = ["cost_panel", "delay_panel", "sensitivity_panels", "survival_panel"]


def survival_panel(arms: Sequence[Arm]) -> Panel | None:
    """Share of runs whose image was never damaged so far; None without a truth."""
    known = [arm for arm in arms if arm.answer.soundness.runs]
    if not known:
        return None
    last = max(run.stands[-1].turn for arm in known for run in arm.runs)
    figure = panel(last, lane=False, y="share of runs still sound", y_range=SHARE)
    words = []
    for arm in known:
        turns, shares = survival_points(arm.answer.soundness, max(run.stands[-1].turn for run in arm.runs))
        name = escape(visible(arm.name))
        figure.add(
            x=turns, y=shares, mode="lines+markers", name=name, legendgroup=arm.look.group,
            line=arm.look.line(shape="hv"), marker=arm.look.marker(),
            hovertemplate=f"{name}<br>turn %{{x}}<br>%{{y:.0%}} still sound<extra></extra>",
        )  # fmt: skip
        words.append(f"{arm.name} ends at {shares[-1]:.0%}")
    return Panel("Still sound", "higher", figure.json(), "; ".join(words))


def delay_panel(arms: Sequence[Arm]) -> Panel | None:
    """Share of the runs with damage in which some was kept out within n turns; None when no arm met any."""
    met = [arm for arm in arms if arm.answer.delays or arm.answer.never_detected]
    if not met:
        return None
    last = max([1, *(delay for arm in met for delay in arm.answer.delays)])
    figure = panel(last, lane=False, y="share of runs with a catch", y_range=SHARE)
    figure.layout["xaxis"]["title"]["text"] = "turns after the first damaged candidate"
    words = []
    for arm in met:
        turns, shares = caught_within(arm.answer, last)
        name = escape(visible(arm.name))
        figure.add(
            x=turns, y=shares, mode="lines+markers", name=name, legendgroup=arm.look.group,
            line=arm.look.line(shape="hv"), marker=arm.look.marker(),
            hovertemplate=f"{name}<br>within %{{x}} turns<br>%{{y:.0%}} of its runs with damage<extra></extra>",
        )  # fmt: skip
        words.append(f"{arm.name}: {len(arm.answer.delays)} runs caught some, {arm.answer.never_detected} none")
    return Panel("Detection delay", None, figure.json(), "; ".join(words))


def cost_panel(arms: Sequence[Arm]) -> Panel | None:
    """New and sound images per turn against what a turn costs; None without a truth."""
    unit, points = cost_points([arm.answer for arm in arms])
    if not points:
        return None
    top = max(point.cost for point in points.values())
    figure = plane(f"{unit} per turn", "new sound images per turn", [0, top * 1.12 or 1], SHARE)
    words = []
    for arm in arms:
        point = points.get(arm.name)
        if point is None:
            continue
        name = escape(visible(arm.name))
        figure.add(
            x=[point.cost], y=[point.sound], mode="markers", name=name, legendgroup=arm.look.group,
            marker=arm.look.marker(12),
            hovertemplate=f"{name}<br>%{{x:.3g}} {unit} per turn<br>%{{y:.2f}} new and sound images<extra></extra>",
        )  # fmt: skip
        words.append(f"{arm.name}: {point.cost:.3g} {unit} and {point.sound:.2f} sound images per turn")
    return Panel("Cost against soundness", None, figure.json(), "; ".join(words))


_OfArm = Callable[[ArmAnswer], float | None]
_OfRow = Callable[[SensitivityRow], float | None]
_MEASURES: tuple[tuple[str, Direction, _OfArm, _OfRow], ...] = (
    ("Caught, of damaged candidates", "higher", lambda arm: arm.catch_rate.value, lambda row: row.catch_rate),
    ("False alarms, of sound candidates", "lower", lambda arm: arm.false_alarm_rate.value,
     lambda row: row.false_alarm_rate),
    ("Propagated, of new images", "lower", lambda arm: arm.propagated_share.value, lambda row: row.propagated_share),
    ("Collapsed, of runs", "lower", lambda arm: arm.collapsed.value, lambda row: row.collapsed),
)  # fmt: skip


def sensitivity_panels(arms: Sequence[Arm], rows: Sequence[SensitivityRow]) -> list[Panel]:
    """Each rate over the thresholds of damaged; empty when the study names no further ones."""
    if not rows:
        return []
    own = thresholds_of([run for arm in arms for run in arm.runs])
    limits = sorted({*own, *(row.damaged_at for row in rows)})
    panels = []
    for title, direction, of_arm, of_row in _MEASURES:
        figure = plane("damaged at", "", None, SHARE)
        figure.layout["xaxis"]["tickvals"] = limits
        for arm in arms:
            points = {row.damaged_at: of_row(row) for row in rows if row.arm == arm.name}
            if len(own) == 1:
                points[own[0]] = of_arm(arm.answer)
            name = escape(visible(arm.name))
            figure.add(
                x=sorted(points), y=[points[limit] for limit in sorted(points)], mode="lines+markers", name=name,
                legendgroup=arm.look.group, line=arm.look.line(), marker=arm.look.marker(), connectgaps=False,
                hovertemplate=f"{name}<br>damaged at %{{x}}<br>%{{y:.0%}}<extra></extra>",
            )  # fmt: skip
        words = f"thresholds {', '.join(f'{limit:g}' for limit in limits)}"
        panels.append(Panel(title, direction, figure.json(), words))
    return panels
