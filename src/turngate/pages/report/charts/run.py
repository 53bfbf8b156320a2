"""The curves of one run: the truth, and one panel per evaluator."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from itertools import groupby
from statistics import median

from turngate.component import Direction
from turngate.errors import counted
from turngate.pages.report.charts.figure import (
    LANE_AXIS,
    Figure,
    Panel,
    limit_line,
    panel,
    step_line,
)
from turngate.pages.report.charts.series_style import Marker, marker_of
from turngate.pages.report.page import visible
from turngate.traces.analysis.run import AttemptView, RunView, standings, truth_direction, truth_unit
from turngate.traces.records import ScoreRow

__all__ = ["score_panel", "thresholds", "truth_panel"]


def thresholds(run: RunView) -> dict[str, list[tuple[int, float]]]:
    """Evaluator -> (turn, worst value that was still accepted) of every turn whose decision has one.

    The last attempt of a turn stands for it.
    """
    found: dict[str, dict[int, float]] = {}
    for attempt in run.attempts:
        for evaluator, value in attempt.decision.thresholds.items():
            found.setdefault(evaluator, {})[attempt.row.turn] = value
    return {evaluator: sorted(turns.items()) for evaluator, turns in found.items()}


_NO_VALUE = {"unscored": "diamond-open", "failed": "x-thin-open", "skipped": "line-ns-open"}
_HOVER = "turn %{customdata[1]}, attempt %{customdata[2]}<br>%{y:.4g}"


@dataclass(frozen=True)
class _Point:
    attempt: AttemptView
    value: float


@dataclass(frozen=True)
class _Missing:
    """A result without a value; without an attempt it is the origin's."""

    attempt: AttemptView | None
    status: str
    text: str


def truth_panel(run: RunView) -> Panel | None:
    """Truth of every candidate and of the standing image, with the threshold at which it counts as damage.

    Untouched images have no value here; candidates that were refused again and again from one input are one bar.
    """
    rows = [attempt.truth for attempt in run.attempts if attempt.truth is not None]
    base = run.baseline_truth or (rows[0] if rows else None)
    if base is None:
        return None
    stands = standings(run)
    current = [stand.truth_value for stand in stands]
    known = [(a, a.truth) for a in run.attempts if a.truth is not None and not a.truth.untouched]
    points = [_Point(a, truth.value) for a, truth in known if truth.value is not None]
    missing = [
        _Missing(a, "skipped", f"{_place(a)}: no image")
        if a.row.outcome == "no_image"
        else _Missing(a, "failed", f"{_place(a)}: truth not known")
        for a in run.attempts
        if a.truth is None or a.truth.value is None
    ]
    figure = _figure(run, points, missing, [stand.turn for stand in stands], current)
    last = max((stand.turn for stand in stands), default=1)
    unit = f" {found}" if (found := truth_unit(run)) else ""
    damaged_at = f"damaged at {base.damaged_at:g}{unit}"
    limit_line(figure, [(0, base.damaged_at), (max(last, 1), base.damaged_at)], damaged_at)
    words = f"{_words([p.value for p in points], current)}; {damaged_at}"
    untouched = sum(stand.untouched for stand in stands[1:])
    note = f"Untouched after {counted(untouched, 'turn')}: no value there." if untouched else ""
    title = f"Truth: {base.measure}{',' if unit else ''}{unit}"
    return Panel(title, truth_direction(run), figure.json(), words, note)


def score_panel(run: RunView, evaluator: str) -> Panel | None:
    """Scores of one evaluator: candidates, the standing image, the origin at turn 0, the gate's threshold.

    None when nothing has a score. A score of an untouched image that ends its scale is left out.
    """
    stands = standings(run)
    current = [_value(stand.scores.get(evaluator)) for stand in stands]
    points, missing = [], []
    for attempt in run.attempts:
        score = attempt.scores.get(evaluator)
        value = _value(score)
        if value is not None:
            points.append(_Point(attempt, value))
        else:
            missing.append(_no_value(attempt, score, _place(attempt)))
    origin = run.baseline.get(evaluator)
    if not points and _value(origin) is None and not any(entry.status != "skipped" for entry in missing):
        return None
    if origin is not None and origin.value is None:
        missing.append(_no_value(None, origin, "origin"))
    figure = _figure(run, points, missing, [stand.turn for stand in stands], current)
    _add_origin(figure, _value(origin))
    limits = thresholds(run).get(evaluator, [])
    if limits:
        limit_line(figure, [(float(turn), value) for turn, value in limits], f"threshold {limits[-1][1]:.4g}")
    facts = run.info.resolved.evaluators.get(evaluator)
    rows = [attempt.scores[evaluator] for attempt in run.attempts if evaluator in attempt.scores]
    recorded: Direction = facts.direction if facts is not None else "higher"
    direction = rows[0].direction if rows else origin.direction if origin else recorded
    words = _words([p.value for p in points], current) + (f"; threshold {limits[-1][1]:.4g}" if limits else "")
    return Panel(evaluator, direction, figure.json(), words)


def _figure(
    run: RunView, points: list[_Point], missing: list[_Missing], turns: list[int], current: list[float | None]
) -> Figure:
    most = max((attempt.row.attempt for attempt in run.attempts), default=1)
    figure = panel(max([*turns, *(a.row.turn for a in run.attempts), 1]), lane=bool(missing))
    step_line(figure, turns, current, "var(--line)")
    size = next(size for limit, size in ((40, 10), (120, 8), (250, 6.5), (len(points), 5.5)) if len(points) <= limit)
    groups: dict[Marker, list[_Point]] = defaultdict(list)
    bars, single = _bars(points)
    for bar in bars:
        _add_bar(figure, bar)
    for point in single:
        groups[marker_of(point.attempt)].append(point)
    for marker, members in groups.items():
        edge = "var(--ink)" if marker.fate == "forced" else marker.colour
        outline = {"width": 0 if marker.fate == "taken" else 1.6, "color": edge}
        figure.add(
            x=[_x(p.attempt, most) for p in members], y=[p.value for p in members], mode="markers", name=marker.words,
            marker={"symbol": marker.symbol, "color": marker.colour, "size": size, "line": outline},
            customdata=[[_key(p.attempt), p.attempt.row.turn, p.attempt.row.attempt] for p in members],
            hovertemplate=f"{_HOVER}<br>{marker.words}<extra></extra>",
        )  # fmt: skip
    outline = {"width": 1.6, "color": "var(--ink)"}
    for status, symbol in _NO_VALUE.items():
        here = [entry for entry in missing if entry.status == status]
        if here:
            figure.add(
                x=[_x(entry.attempt, most) for entry in here], y=[0] * len(here), yaxis=LANE_AXIS, mode="markers",
                marker={"symbol": symbol, "size": 9, "color": "var(--ink)", "line": outline},
                customdata=[[_key(entry.attempt)] for entry in here], name=status,
                text=[escape(visible(entry.text)) for entry in here], hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    return figure


_REPEATED = 4
"""From so many refusals of candidates from one input on they are one bar."""


def _bars(points: list[_Point]) -> tuple[list[list[_Point]], list[_Point]]:
    """Refusals in a row that were made from one input, and the points that stand alone."""
    bars: list[list[_Point]] = []
    single: list[_Point] = []
    for _, members in groupby(points, lambda one: (one.attempt.row.input_image, one.attempt.taken)):
        row = list(members)
        if not row[0].attempt.taken and len(row) >= _REPEATED:
            bars.append(row)
        else:
            single += row
    return bars, single


def _add_bar(figure: Figure, members: list[_Point]) -> None:
    """One bar from the first refusal to the last, as high as the values spread."""
    first, last = members[0].attempt, members[-1].attempt
    values = sorted(point.value for point in members)
    damaged = sum(one.attempt.truth is not None and one.attempt.truth.damaged is True for one in members)
    colour = "var(--damaged)" if 2 * damaged > len(members) else "var(--sound)"
    words = (
        f"turns {first.row.turn} to {last.row.turn}: {counted(len(members), 'candidate')} refused from one input, "
        f"{damaged} of them damaged"
    )
    right = last.row.turn + 0.7
    figure.add(
        x=[first.row.turn, right, right, first.row.turn, first.row.turn],
        y=[values[0], values[0], values[-1], values[-1], values[0]], mode="lines", fill="toself",
        fillcolor=f"{colour}/0.22", line={"color": colour, "width": 1.2}, name=words, hoverinfo="skip",
    )  # fmt: skip
    figure.add(
        x=[first.row.turn, (first.row.turn + right) / 2, right], y=[median(values)] * 3, mode="lines+markers",
        line={"color": colour, "width": 2}, marker={"symbol": "line-ns-open", "size": 9, "color": colour}, name=words,
        customdata=[[_key(first)], [_key(members[len(members) // 2].attempt)], [_key(last)]],
        hovertemplate=f"{words}<br>{values[0]:.4g} to {values[-1]:.4g}<extra></extra>",
    )  # fmt: skip
    times = counted(len(members), "time")
    figure.layout.setdefault("annotations", []).append(
        {"x": (first.row.turn + right) / 2, "y": values[-1], "yanchor": "bottom", "showarrow": False,
         "text": f"refused {times}: the same input", "font": {"size": 11, "color": "var(--soft)"}}
    )  # fmt: skip


def _add_origin(figure: Figure, value: float | None) -> None:
    if value is not None:
        figure.add(
            x=[0], y=[value], mode="markers", name="origin", hovertemplate="origin<br>%{y:.4g}<extra></extra>",
            marker={"symbol": "star-diamond", "size": 11, "color": "var(--ink)"},
        )  # fmt: skip


def _x(attempt: AttemptView | None, most: int) -> float:
    """Retries are beside each other within their turn; None is the origin."""
    return attempt.row.turn + 0.7 * (attempt.row.attempt - 1) / most if attempt else 0.0


def _key(attempt: AttemptView | None) -> str:
    return f"t{attempt.row.turn}a{attempt.row.attempt}" if attempt else ""


def _place(attempt: AttemptView) -> str:
    return f"turn {attempt.row.turn}, attempt {attempt.row.attempt}"


def _value(score: ScoreRow | None) -> float | None:
    if score is None or score.status != "scored" or score.untouched:
        return None
    return score.value


def _no_value(attempt: AttemptView | None, score: ScoreRow | None, place: str) -> _Missing:
    if score is None:
        return _Missing(attempt, "skipped", f"{place}: not asked")
    return _Missing(attempt, score.status, f"{place}: {score.status} ({score.why})")


def _words(values: list[float], current: list[float | None]) -> str:
    known = [value for value in current if value is not None]
    if not values:
        return "no candidate has a value"
    span = f"candidates from {min(values):.4g} to {max(values):.4g}"
    return f"standing image from {known[0]:.4g} to {known[-1]:.4g}, {span}" if known else span
