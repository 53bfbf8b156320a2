"""A limit from scores of clean edits, and what it is worth on photographs and editors that it has not seen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from turngate.component import Direction
from turngate.errors import UserError, counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import AttemptView, RunView, in_words, origin_identity
from turngate.traces.recorded import RecordedComponent

__all__ = [
    "Calibration",
    "ChartBaseline",
    "CleanEdit",
    "EditorRate",
    "LeftOutOrigin",
    "Reference",
    "calibrate",
    "chart_baseline",
    "clean_edits",
    "limit_of",
]


Reference = Literal["origin", "first"]
"""What a score is held against: the run's origin, or the first image that it accepted."""


class CleanEdit(FrozenModel):
    """One edit that is not damaged."""

    run: str
    """Run id."""
    turn: int
    attempt: int
    origin: str
    """Pixel identity of the origin."""
    origin_name: str
    """The origin as it was configured, with its size where two pictures have one name."""
    editor: str
    """Type and settings in words."""
    score: float
    """In the evaluator's unit."""
    from_origin: float | None
    """Score minus the origin's; None when the origin was not scored."""
    from_first: float | None
    """Score minus that of the first image that the run accepted; None for that image itself, and where it has none."""
    direction: Direction
    """Which way is better."""
    known: bool
    """Truth says that it is sound; otherwise it is taken for clean because of its turn."""

    def value(self, reference: Reference | None) -> float | None:
        """The score, or the difference to that of `reference`."""
        match reference:
            case "origin":
                return self.from_origin
            case "first":
                return self.from_first
            case None:
                return self.score


class LeftOutOrigin(FrozenModel):
    """One origin, judged by the limit that the other origins give."""

    origin: str
    """Pixel identity."""
    name: str
    edits: int
    """Clean edits of it."""
    limit: float | None
    """In the evaluator's unit; None where the other origins have too few edits for the rate."""
    rejected: int
    """Clean edits of it that are worse than that limit."""
    rate: float | None
    """Rejected share, 0..1."""


class EditorRate(FrozenModel):
    """The edits of one editor, each judged by the limit of the other origins."""

    editor: str
    """Type and settings in words."""
    origins: int
    edits: int
    rate: float | None
    """Rejected share within an origin, mean over the origins, 0..1; None where no limit was found for any."""


class ChartBaseline(FrozenModel):
    """Mean and SD of clean edits, for a control chart on a photograph that is not among them."""

    mean: float
    """Mean over origins of the origin's mean, in the evaluator's unit."""
    sd: float
    """Root of the pooled variance within origins plus the variance of the origins' means, in the evaluator's unit."""
    between: float | None
    """Share of that variance that lies between origins, 0..1; None with one origin, where it is not in the SD."""


class Calibration(FrozenModel):
    """What `turngate calibrate` found."""

    evaluator: str
    direction: Direction
    """Which way is better."""
    reference: Reference | None
    """Limits are of score minus the score of this; None: of the score itself."""
    alpha: float
    """Share of clean edits that may be rejected, as asked for, 0..1."""
    limit: float
    """Worst score that is accepted, from all clean edits, in the evaluator's unit."""
    runs: int
    edits: int
    """Clean edits, each image once."""
    known_sound: int
    """Those of them that truth calls sound; the others are taken for clean because of their turn."""
    in_sample: float
    """Share of the very same edits that the limit rejects, 0..1. It is no promise."""
    out_of_sample: float | None
    """Mean over origins of the rejected share on an origin that was left out, 0..1; None with fewer than two."""
    worst: LeftOutOrigin | None
    """The left-out origin of which most was rejected."""
    origins: list[LeftOutOrigin]
    editors: list[EditorRate]
    baseline: ChartBaseline | None
    """None with a single edit, or where all are alike."""
    gates: list[RecordedComponent]
    """Gates that can be used as they are: `conformal`, the plain limit, and with `--chart` a control chart."""
    notes: list[str]
    """What to know before it is used, one sentence each."""


def clean_edits(runs: Iterable[RunView], evaluator: str, last_turn: int) -> list[CleanEdit]:
    """Scored candidates of turns 1..`last_turn` that truth does not call damaged, whatever the gate decided.

    An image counts once: the arms of a study begin with the same candidates. Raises `DamagedRun` when an origin's image
    is missing.
    """
    found: list[CleanEdit] = []
    images: set[str | None] = set()
    for run in runs:
        firsts = [run.taken[turn] for turn in sorted(run.taken) if run.taken[turn].row.outcome == "edited"]
        start, first = run.baseline.get(evaluator), firsts[0].standing_scores.get(evaluator) if firsts else None
        for attempt in run.attempts:
            if attempt.row.turn > last_turn or attempt.row.image in images:
                continue
            edit = _clean_edit(run, attempt, evaluator, start.value if start else None)
            if edit is None:
                continue
            if first is not None and first.value is not None and attempt is not firsts[0]:
                edit = edit.model_copy(update={"from_first": edit.score - first.value})
            images.add(attempt.row.image)
            found.append(edit)
    return _named_apart(found, {run.info.run: f"{run.info.origin.width} x {run.info.origin.height}" for run in runs})


def _clean_edit(run: RunView, attempt: AttemptView, evaluator: str, start: float | None) -> CleanEdit | None:
    score, damaged = attempt.scores.get(evaluator), attempt.truth.damaged if attempt.truth else None
    if attempt.row.outcome != "edited" or score is None or score.value is None or damaged:
        return None
    return CleanEdit(
        run=run.info.run,
        turn=attempt.row.turn,
        attempt=attempt.row.attempt,
        origin=origin_identity(run),
        origin_name=run.info.origin.source or run.info.origin.image[:12],
        editor=in_words(run.config.editor.as_mapping()),
        score=score.value,
        from_origin=None if start is None else score.value - start,
        from_first=None,
        direction=score.direction,
        known=damaged is False,
    )


def _named_apart(edits: list[CleanEdit], sizes: Mapping[str, str]) -> list[CleanEdit]:
    """One name for one picture, the first that it had; the size is added where two pictures have the same."""
    names: dict[str, str] = {}
    size: dict[str, str] = {}
    for edit in edits:
        names.setdefault(edit.origin, edit.origin_name)
        size.setdefault(edit.origin, sizes[edit.run])
    often = Counter(names.values())
    for origin, name in names.items():
        if often[name] > 1:
            names[origin] = f"{name} {size[origin]} {origin[:6]}"
    return [edit.model_copy(update={"origin_name": names[edit.origin]}) for edit in edits]


def limit_of(values: Sequence[float], direction: Direction, alpha: float) -> float | None:
    """Worst value that is accepted: the ceil((n + 1)(1 - alpha))-th best of n, as the gate `conformal` has it.

    None where n is too small for the rate.
    """
    rank = math.ceil((len(values) + 1) * (1 - Fraction(str(alpha))))
    ordered = sorted(values, reverse=direction == "higher")
    return ordered[rank - 1] if rank <= len(ordered) else None


def chart_baseline(groups: Iterable[Sequence[float]]) -> ChartBaseline | None:
    """Mean and SD of a new origin's clean edits from groups of values, one per origin; None when the SD is 0.

    Each origin counts alike in the mean. The variance is that within origins (pooled, n - 1 each) plus that of the
    origins' means (n - 1), which has a part of the former in it again: the SD is rather too large than too small.
    """
    known = [np.asarray(group, dtype=np.float64) for group in groups if len(group)]
    if not known:
        return None
    means = np.array([group.mean() for group in known])
    freedom = sum(len(group) - 1 for group in known)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in known) / max(freedom, 1)
    between = float(means.var(ddof=1)) if len(means) > 1 else 0.0
    if not within + between > 0:
        return None
    share = between / (within + between) if len(means) > 1 else None
    return ChartBaseline(mean=float(means.mean()), sd=math.sqrt(within + between), between=share)


def calibrate(
    edits: Sequence[CleanEdit],
    evaluator: str,
    alpha: float,
    *,
    reference: Reference | None = None,
    chart: bool = False,
    source: str | None = None,
) -> Calibration:
    """The limit that rejects a share `alpha` of clean edits, and what it rejects of origins that are left out in turn.

    With `reference` of score minus that one's score; edits whose reference has none are left out. `source` is the file
    in which the calibration scores are written down; without it the gates hold them. Raises `UserError` when there is
    nothing to calibrate with, or too little for `alpha`.
    """
    usable = [(edit, value) for edit in edits if (value := edit.value(reference)) is not None]
    if not usable:
        lacking = (
            f"no score of their {reference} image"
            if reference and edits
            else f"no score of {evaluator!r} on a clean edit"
        )
        raise UserError(f"the runs have {lacking}: nothing to calibrate with")
    direction, values = usable[0][0].direction, [value for _, value in usable]
    limit = limit_of(values, direction, alpha)
    if limit is None:
        needed = math.ceil((1 - Fraction(str(alpha))) / Fraction(str(alpha)))
        raise UserError(
            f"too few for this rate: {counted(len(values), 'clean edit')}, at least {needed} are needed; "
            "give more runs, more --turns, or a larger --alpha"
        )
    groups: dict[str, list[tuple[CleanEdit, float]]] = {}
    for edit, value in usable:
        groups.setdefault(edit.origin, []).append((edit, value))
    origins = [_left_out(origin, groups, direction, alpha) for origin in groups]
    rates = [one.rate for one in origins if one.rate is not None]
    baseline = chart_baseline([[value for _, value in group] for group in groups.values()])
    found = Calibration(
        evaluator=evaluator,
        direction=direction,
        reference=reference,
        alpha=alpha,
        limit=limit,
        runs=len({edit.run for edit, _ in usable}),
        edits=len(usable),
        known_sound=sum(edit.known for edit, _ in usable),
        in_sample=_rejected(values, limit, direction) / len(values),
        out_of_sample=float(np.mean(rates)) if rates else None,
        worst=max((one for one in origins if one.rate is not None), key=lambda one: one.rate or 0.0, default=None),
        origins=origins,
        editors=_editors(groups, {one.origin: one.limit for one in origins}, direction),
        baseline=baseline,
        gates=[],
        notes=[],
    )
    gates = _gates(found, [*groups], source or values, chart)
    return found.model_copy(update={"gates": gates, "notes": _notes(found, chart)})


def _rejected(values: Iterable[float], limit: float, direction: Direction) -> int:
    return sum(value < limit if direction == "higher" else value > limit for value in values)


def _left_out(
    origin: str, groups: Mapping[str, Sequence[tuple[CleanEdit, float]]], direction: Direction, alpha: float
) -> LeftOutOrigin:
    others = [value for other, group in groups.items() if other != origin for _, value in group]
    own = [value for _, value in groups[origin]]
    limit = limit_of(others, direction, alpha)
    rejected = 0 if limit is None else _rejected(own, limit, direction)
    return LeftOutOrigin(
        origin=origin,
        name=groups[origin][0][0].origin_name,
        edits=len(own),
        limit=limit,
        rejected=rejected,
        rate=None if limit is None else rejected / len(own),
    )


def _editors(
    groups: Mapping[str, Sequence[tuple[CleanEdit, float]]], limits: Mapping[str, float | None], direction: Direction
) -> list[EditorRate]:
    by_editor: dict[str, dict[str, list[float]]] = {}
    for origin, group in groups.items():
        for edit, value in group:
            by_editor.setdefault(edit.editor, {}).setdefault(origin, []).append(value)
    found = []
    for editor, own in by_editor.items():
        rates = [
            _rejected(values, limit, direction) / len(values)
            for origin, values in own.items()
            if (limit := limits[origin]) is not None
        ]
        edits = sum(map(len, own.values()))
        rate = float(np.mean(rates)) if rates else None
        found.append(EditorRate(editor=editor, origins=len(own), edits=edits, rate=rate))
    return found


def _gates(found: Calibration, origins: list[str], calibration: Any, chart: bool) -> list[RecordedComponent]:
    relative = {"relative_to_origin": True} if found.reference == "origin" else {}
    column = {"column": "score"} if isinstance(calibration, str) else {}
    gates: list[dict[str, Any]] = []
    if found.reference != "first":
        conformal = {"type": "conformal", "evaluator": found.evaluator, "calibration": calibration, **column}
        gates.append({**conformal, "alpha": found.alpha, **relative})
    # Scores are recorded to six decimals; what a difference has beyond them is noise of the subtraction.
    margin = round(-found.limit if found.direction == "higher" else found.limit, 6)
    if found.reference is None:
        gates.append({"type": "threshold", "evaluator": found.evaluator, "at": found.limit})
    elif margin >= 0:
        gates.append({
            "type": "relative", "evaluator": found.evaluator, "reference": found.reference, "margin": margin,
        })  # fmt: skip
    if chart and found.baseline is not None and found.reference != "first":
        known = {"mean": found.baseline.mean, "sd": found.baseline.sd, **relative}
        gates.append({"type": "k_sigma", "evaluator": found.evaluator, "baseline": known})
    return [RecordedComponent.model_validate({**gate, "calibrated_on": origins}) for gate in gates]


_MOSTLY_BETWEEN = 0.5
"""From this share on the origin's own level says more than the edit does."""


def _notes(found: Calibration, chart: bool) -> list[str]:
    notes = []
    if found.known_sound < found.edits:
        notes.append(
            f"{found.edits - found.known_sound} of the edits have no known truth and are taken for clean because of "
            "their turn."
        )
    notes.append(
        "The rate is that of one edit that is exchangeable with these: same editor, same kind of images and "
        "instructions, independent edits. It is no promise for all turns of a run together: "
        f"by turn 25 {100 * (1 - (1 - found.alpha) ** 25):.3g} % of runs would have a false alarm if edits were "
        "independent. It grows when sound images slide away from these."
    )
    if found.edits > found.runs:
        notes.append("Several edits are of one run and not independent: the rate is approximate.")
    short = [one.name for one in found.origins if one.limit is None]
    if len(found.origins) > 1 and short:
        notes.append(f"Without {', '.join(short)} the other origins have too few edits for this rate: not judged.")
    gained = -found.limit if found.direction == "lower" else found.limit
    if found.reference is not None and gained > 0:
        instead = ", use `conformal`" if found.reference == "origin" else ""
        notes.append(
            f"The limit is better than the {found.reference} itself: `relative` has no margin for that{instead}."
        )
    if chart:
        notes += _chart_notes(found.baseline)
    return notes


def _chart_notes(baseline: ChartBaseline | None) -> list[str]:
    if baseline is None:
        return ["There is no baseline for a chart: at least two scores that differ are needed."]
    if baseline.between is None:
        return ["The chart's SD is that of one origin; how much origins differ is not in it."]
    if baseline.between < _MOSTLY_BETWEEN:
        return []
    told = (
        f"{100 * baseline.between:.0f} % of the chart's variance lies between origins: charts that add up (`cusum`, "
        "`ewma`) take an origin's own level for worsening; use `k_sigma`, the difference to the origin, or a warm-up."
    )
    return [told]
