"""The page of a study: its answer with intervals, its arms side by side, and the way to every run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from turngate.errors import UserError, counted
from turngate.pages.report.charts import (
    Arm,
    Panel,
    SeriesStyle,
    Truth,
    arms_of,
    arms_score_panel,
    arms_truth_panel,
    delta_panel,
    equal_calls_panel,
    evaluator_series,
    plane_panel,
    roc_panels,
    sensitivity_panels,
    survival_panel,
    truth_of,
)
from turngate.pages.report.page import write_page
from turngate.pages.report.thumbnails import Shot, shots
from turngate.traces.analysis.run import MARK, VERDICT_WORDS, Standing, goes_on_words, truth_unit
from turngate.traces.analysis.statistics import FEW_ORIGINS, how_simulated, why_simulated
from turngate.traces.analysis.study import ArmAnswer, FailureAnswer, LoadedRun, LoadedStudy, StudyAnswer
from turngate.traces.analysis.taxonomy import FAILURES
from turngate.traces.redact import redact

__all__ = ["Cell", "study_content", "study_headline", "write_study_page"]


# Contact sheets: the current image of every arm after some turns, one sheet per cell of the grid.

ShotsOf = Callable[[LoadedRun, Iterable[str], int], Mapping[str, Shot]]
"""Makes the pictures (SHA-256 -> shot) of images of a run, with a given largest side in pixels."""

_TURNS = (0, 1, 5, 10, 20, 50, 100)
_PICTURES = 700
"""Most thumbnails on a page: about 4 MB."""


@dataclass(frozen=True)
class Cell:
    """The current image of an arm after one turn."""

    shot: Shot | None
    """None when the arm never closed that turn."""
    image_turn: int
    truth: Truth
    value: str
    """Truth with its unit, `untouched`, or empty where it is not known."""


@dataclass(frozen=True)
class Sheet:
    """One cell of the grid: arms by turns."""

    label: str
    rows: list[tuple[Arm, LoadedRun, list[Cell]]]


def contact_sheets(arms: Sequence[Arm], pictures: ShotsOf) -> tuple[list[int], list[Sheet], int]:
    """Turns, sheets, and how many sheets were left out because the page would be too large."""
    last = max(run.stands[-1].turn for arm in arms for run in arm.runs)
    turns = sorted({turn for turn in _TURNS if turn <= last} | {last})
    cells: dict[tuple[str, str, str, int], list[tuple[Arm, LoadedRun]]] = defaultdict(list)
    for arm in arms:
        for run in arm.runs:
            cells[run.run.cell].append((arm, run))
    room = max(1, _PICTURES // (len(arms) * len(turns)))
    kept = list(cells.values())[:room]
    edge = 176 if sum(map(len, kept)) * len(turns) <= 120 else 144
    sheets = [
        Sheet(members[0][1].run.label, [(arm, run, _row(run, turns, pictures, edge)) for arm, run in members])
        for members in kept
    ]
    return turns, sheets, len(cells) - len(kept)


def _row(run: LoadedRun, turns: Sequence[int], pictures: ShotsOf, edge: int) -> list[Cell]:
    stands = {stand.turn: stand for stand in run.stands}
    made = pictures(run, [stands[turn].image for turn in turns if turn in stands], edge)
    return [_cell(stands.get(turn), made) for turn in turns]


def _cell(stand: Standing | None, made: Mapping[str, Shot]) -> Cell:
    if stand is None:
        return Cell(None, 0, "none", "")
    return Cell(made[stand.image], stand.image_turn, truth_of(stand.truth), _value(stand))


def _value(stand: Standing) -> str:
    if stand.truth is None:
        return ""
    if stand.untouched:
        return "untouched"
    unit = truth_unit(stand.run)
    return "" if stand.truth_value is None else f"{stand.truth_value:.3g}{' ' if unit else ''}{unit}"


# The strip under the headline: what stands in each arm as the turns go by, in one cell of the grid.

_STACKED = 8
"""Most arms whose pictures lie in a row each; those of more stand in columns, the origin once before them."""


@dataclass(frozen=True)
class ArmPictures:
    """The standing image of one arm after a few turns."""

    name: str
    style: SeriesStyle | None
    """None for the origin."""
    moments: list[tuple[int, Shot]]
    """Turn and picture; the last turn last."""
    words: str
    """The last turn and the truth after it."""
    truth: Truth
    """Of the last one."""
    href: str | None
    """The run's report; None for the origin."""


def arm_pictures(
    arms: Sequence[Arm], turns: Sequence[int], pictures: ShotsOf, address: Callable[[LoadedRun], str]
) -> list[ArmPictures]:
    """Every arm in the first cell of the grid after its last turn and two or three earlier ones, the origin first."""
    cell = arms[0].runs[0].run.cell
    members = [(arm, run) for arm in arms for run in arm.runs if run.run.cell == cell]
    stacked = len(members) > _STACKED
    between = [turn for turn in turns[:-1] if turn]
    parts = 4 if len(members) <= 2 else 3
    earlier = sorted({between[len(between) * part // parts] for part in range(1, parts) if between})
    found: list[ArmPictures] = []
    for arm, run in members:
        stands = {stand.turn: stand for stand in run.stands}
        last = run.stands[-1]
        shown = [turn for turn in ([] if stacked else [0]) + earlier if turn < last.turn] + [last.turn]
        made = pictures(run, [stands[turn].image for turn in {0, *shown}], 176)
        if stacked and not found:
            found.append(ArmPictures("origin", None, [(0, made[stands[0].image])], "", "sound", None))
        words = f"turn {last.turn}{', ' if (value := _value(last)) else ''}{value}"
        moments = [(turn, made[stands[turn].image]) for turn in shown]
        found.append(ArmPictures(arm.name, arm.style, moments, words, truth_of(last.truth), address(run)))
    return found


# What a reader should know before trusting the numbers of a study.


def study_notices(answer: StudyAnswer) -> list[str]:
    """One line per thing that is not as one would expect."""
    found = []
    if answer.origins < FEW_ORIGINS:
        number = counted(answer.origins, "origin")
        found.append(f"{number}: too few for intervals and p; the values per origin stand in their place.")
    if answer.base is None:
        found.append("No arm is without a gate: how well evaluators tell damage is not told, add a no-gate arm.")
    if len(answer.truth) > 1:
        found.append(f"The runs measure truth in {len(answer.truth)} ways: {'; '.join(answer.truth)}.")
    if answer.missing:
        more = f" and {len(answer.missing) - 3} more" if len(answer.missing) > 3 else ""
        found.append(f"{counted(len(answer.missing), 'run')} never begun: {', '.join(answer.missing[:3])}{more}.")
    for title, field in (("candidate", "truth_unknown"), ("editor call", "no_images")):
        number_of = sum(getattr(arm, field) for arm in answer.arms)
        if number_of:
            what = "whose truth could not be measured" if field == "truth_unknown" else "that gave no image"
            found.append(f"{counted(number_of, title)} {what}.")
    found.extend([*answer.remarks, *(remark for arm in answer.failures for remark in arm.remarks)])
    found.extend(apart.words for apart in answer.disagreements)
    return [*found, *_evaluator_notices(answer)]


def _evaluator_notices(answer: StudyAnswer) -> list[str]:
    found: list[str] = []
    parts: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for one in answer.evaluators:
        if one.rescored is not None and one.rescored.partial:
            parts[one.rescored.extent, one.candidates, one.of_candidates].append(one.evaluator.removesuffix(MARK))
    found.extend(
        f"{', '.join(names)}{MARK} looked at a part only, {extent}: an AUC over {known} of "
        f"{counted(every, 'candidate')} is not that of all."
        for (extent, known, every), names in parts.items()
    )
    for one in answer.evaluators:
        counts = one.counts
        if one.position_bias is not None:
            found.append(f"{one.evaluator} {one.position_bias.words}.")
        if one.other_size:
            found.append(
                f"{one.evaluator} scored {counted(one.other_size, 'image')} of another size than the origin's: "
                "without a reference such values compare less well."
            )
        if one.like_truth:
            found.append(f"{one.evaluator} is what the truth is measured by: its AUC is no merit.")
        if counts.unscored or counts.failed:
            found.append(
                f"{one.evaluator} gave no score for {counted(counts.unscored + counts.failed, 'candidate')}: "
                f"{counts.unscored} unscored, {counts.failed} failed."
            )
    return found


_AXES = ("origin", "scenario", "editor", "repeat")


@dataclass(frozen=True)
class StudyPage:
    """What the template of a study needs."""

    figures: dict[str, str]
    """Plotly figures as JSON by their place in the page."""
    shots: list[Shot]
    values: dict[str, Any]


def write_study_page(loaded: LoadedStudy, answer: StudyAnswer, out: Path | None = None) -> Path:
    """Write the page to `out`, by default `index.html` in the study's folder, and return its path.

    Links to the runs' reports and images are relative, so the study's folder can be moved as a whole. Raises
    `UserError` when no run was begun, `MachineError` when the page cannot be written.
    """
    target = out or loaded.study.folder / "index.html"
    page = study_content(loaded, answer, partial(_report_of, target.parent), partial(_shots_of, target.parent))
    return write_page(target, "study.html.j2", page.figures, page.shots, **page.values)


def study_content(
    loaded: LoadedStudy, answer: StudyAnswer, address: Callable[[LoadedRun], str], pictures: ShotsOf
) -> StudyPage:
    """Everything on the page of a study; `address` and `pictures` say where its runs and images are found."""
    name, question, notes = (str(loaded.study.config[field]) for field in ("name", "question", "notes"))
    runs = loaded.runs
    if not runs:
        raise UserError(f"the study {name!r} has no run yet: `turngate study FILE` makes them")
    arms = arms_of(answer, runs)
    turns, sheets, sheets_left_out = contact_sheets(arms, pictures)
    strip = arm_pictures(arms, turns, pictures, address)
    others = [(truth, arms_of(truth, runs)) for truth in answer.more_truths]
    all_series = evaluator_series(answer.evaluators)
    evaluators = dict.fromkeys(name for run in runs for name in run.evaluators)
    extents = {one.evaluator: one.rescored.extent for one in answer.evaluators if one.rescored is not None}
    rescored = [replace(arm, runs=_with_evaluators(loaded.rescored_runs, arm.name)) for arm in arms]
    panels = {
        "plane": plane_panel(arms, answer.unbeaten),
        "equal-calls": equal_calls_panel(arms),
        **{f"plane-{n}": plane_panel(members, truth.unbeaten) for n, (truth, members) in enumerate(others, 1)},
        "truth": arms_truth_panel(arms),
        "survival": survival_panel(arms),
        **{f"roc-{number}": panel for number, panel in enumerate(roc_panels(all_series), 1)},
        **{f"score-{number}": arms_score_panel(arms, name) for number, name in enumerate(evaluators, 1)},
        **{f"rescored-{number}": arms_score_panel(rescored, name) for number, name in enumerate(extents, 1)},
        **{f"delta-{number}": delta_panel(series) for number, series in enumerate(all_series, 1)},
        **{
            f"at-{n}": panel
            for n, panel in enumerate(sensitivity_panels(arms, answer.sensitivity, answer.truth_unit), 1)
        },
    }
    shown = {place: panel for place, panel in panels.items() if panel is not None}
    values = {
        "title": f"turngate study {redact(name)}",
        "name": redact(name),
        "question": redact(question),
        "notes": redact(notes),
        "headline": study_headline(answer),
        "notices": study_notices(answer),
        "answer": answer,
        "arms": arms,
        "runs": [(arm, run) for arm in arms for run in arm.runs],
        "address": address,
        "strip": strip,
        "strip_cell": arms[0].runs[0].run.label,
        "stacked": strip[0].style is None,
        "others": others,
        "apart": {one.other: one.words for one in answer.disagreements},
        "axes": [axis for axis in _AXES if len({getattr(run.run, axis) for run in runs}) > 1],
        "single": all(len(arm.runs) == 1 for arm in arms),
        "simulated": _simulated(runs),
        "replayed": all(run.view.replayed for run in runs),
        "fake_server": any(run.summary.fake_server for run in runs),
        "why_simulated": why_simulated(*(sum(getattr(run.summary, name) for run in runs) for name in _MADE_UP)),
        "mixed": len({arm.simulated for arm in arms}) > 1,
        "how_simulated": how_simulated,
        "verdict_words": VERDICT_WORDS,
        "turns": turns,
        "sheets": sheets,
        "sheets_left_out": sheets_left_out,
        "unknown": any(cell.truth == "unknown" for sheet in sheets for _, _, row in sheet.rows for cell in row),
        "all_series": all_series,
        "failures": _seen(answer),
        "panels": shown,
        "extents": extents,
        "figures_of": lambda start: _starting(shown, start),
    }
    found = [shot for one in strip for _, shot in one.moments]
    found += [cell.shot for sheet in sheets for _, _, row in sheet.rows for cell in row if cell.shot is not None]
    return StudyPage({place: panel.figure for place, panel in shown.items()}, found, values)


def _with_evaluators(runs: list[LoadedRun], arm: str) -> list[LoadedRun]:
    return [run for run in runs if run.run.arm == arm and run.evaluators]


_MADE_UP = ("simulated", "fake_server")


def _simulated(runs: list[LoadedRun]) -> str:
    """In which runs what came back was made up, in words; empty where in none."""
    written = [run for run in runs if run.summary.simulated]
    if len(written) == len(runs):
        return "in every run"
    editors = {run.run.editor for run in written}
    apart = editors.isdisjoint(run.run.editor for run in runs if not run.summary.simulated)
    which = f", those of {', '.join(sorted(editors))}," if apart and all(editors) else ""
    return f"in {len(written)} of {counted(len(runs), 'run')}{which}" if written else ""


def _seen(answer: StudyAnswer) -> list[tuple[str, FailureAnswer]]:
    """Arm and failure, of those that were found or labelled, failure by failure."""
    found = [(one.arm, failure) for one in answer.failures for failure in one.failures]
    seen = [(arm, failure) for arm, failure in found if failure.found or failure.labelled]
    return sorted(seen, key=lambda pair: list(FAILURES).index(pair[1].name))


def _starting(panels: dict[str, Panel], start: str) -> dict[str, Panel]:
    return {place: panel for place, panel in panels.items() if place.startswith(start)}


def _report_of(page: Path, run: LoadedRun) -> str:
    return quote(Path(os.path.relpath(run.run.path / "report.html", page)).as_posix())


def _shots_of(page: Path, run: LoadedRun, wanted: Any, edge: int) -> dict[str, Shot]:
    return shots(run.images, wanted, page, edge)


# The answer in one sentence: what happened in each arm, not only in the best one.


_PLURALS = {"catches": "catch", "goes": "go", "stalls": "stall", "propagates": "propagate", "is": "are"}
_KINDS = ("goes_on", "stalls", "propagates", "not_told")
_MOST = 4
"""Most names of one kind; of more only the number is said, the sentences beside the plane have the names."""


def study_headline(answer: StudyAnswer) -> str:
    """Own arms by what most of their runs came to; the arm without a gate is named last."""
    if not answer.truth:
        return "No truth was measured, so nothing is told of damage."
    own = [arm for arm in answer.arms if not arm.control and arm.arm != answer.base]
    groups: dict[str, list[str]] = defaultdict(list)
    for arm in sorted(own, key=lambda arm: _KINDS.index(next(iter(arm.verdict.runs)))):
        groups[_word(arm)].append(_named(arm))
    parts = [f"{_listed(names)} {word if len(names) == 1 else _plural(word)}" for word, names in groups.items()]
    base = next((arm for arm in answer.arms if arm.arm == answer.base), None)
    if base is not None:
        parts.append(f"without a gate the loop {_word(base)}")
    return f"{'; '.join(parts)}." if parts else "No arm has a run."


def _word(arm: ArmAnswer) -> str:
    """What most of its runs came to."""
    kind = next(iter(arm.verdict.runs))
    if kind == "goes_on":
        return goes_on_words(arm.episodes)
    return "is not told" if kind == "not_told" else VERDICT_WORDS[kind]


def _plural(word: str) -> str:
    return " ".join(_PLURALS.get(one, one) for one in word.split())


def _named(arm: ArmAnswer) -> str:
    """The name, with how many of its runs the verdict holds for where that is not all of them."""
    most = next(iter(arm.verdict.runs.values()))
    return arm.arm if most == arm.runs else f"{arm.arm} (in {most} of {counted(arm.runs, 'run')})"


def _listed(names: list[str]) -> str:
    if len(names) > _MOST:
        return counted(len(names), "arm")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
