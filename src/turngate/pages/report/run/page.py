"""The page of one run: `report.html` in its folder."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turngate.errors import counted
from turngate.pages.report.charts import Truth, score_panel, truth_of, truth_panel
from turngate.pages.report.page import as_data, clip, write_page
from turngate.pages.report.run.registered import registered
from turngate.pages.report.run.rescored import rescored_section
from turngate.pages.report.run.turns import (
    Stop,
    TurnPage,
    images_of,
    mean_score,
    stops,
    turn_pages,
    untouched,
    without_score,
)
from turngate.pages.report.thumbnails import Shot, edge_for, shots
from turngate.traces.analysis.run import (
    RunSummary,
    RunView,
    Standing,
    as_yaml,
    made_with,
    models,
    seen_by,
    setup_lines,
    standings,
    summarise,
    truth_doubts,
    truth_unit,
)

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import ReaderResult, SummaryReader

__all__ = ["notices", "run_content", "write_run_report"]


# What a reader should know before trusting the numbers of a run.

_ENDINGS = {
    "stopped": "The run was stopped",
    "attempts_exhausted": "The run used up its attempts",
    "budget_exhausted": "The run used up its budget",
    "waiting": "The run waits for a person",
    "interrupted": "The run was interrupted",
    "failed": "The run failed",
}


def notices(run: RunView, summary: RunSummary, shots: Mapping[str, Shot]) -> list[str]:
    """One line per thing that is not as one would expect."""
    found = []
    if summary.reason:
        found.append(f"{_ENDINGS.get(summary.status, 'The run ended')}: {summary.reason}")
    used = models(run)
    if len(used) > 1:
        changes = ", then ".join(f"{model} from turn {turn}" for model, turn in used)
        found.append(f"The editor's model changed during the run: {changes}.")
    if summary.no_images:
        reasons = Counter(a.row.why or "unknown" for a in run.attempts if a.row.outcome == "no_image")
        listed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        found.append(f"{counted(summary.no_images, 'editor call')} gave no image: {listed}.")
    if summary.no_change:
        found.append(f"{counted(summary.no_change, 'turn')} closed with an unchanged image: not an edit.")
    flags = Counter(flag for attempt in run.attempts for flag in attempt.row.flags)
    found.extend(f"{counted(count, 'candidate')} flagged {flag}." for flag, count in flags.most_common())
    for name, bias in summary.position_bias.items():
        found.append(f"{name} {bias.words}.")
    for name, number in summary.other_size.items():
        found.append(
            f"{name} scored {counted(number, 'image')} of another size than the origin's: without a reference such "
            "values compare less well."
        )
    found.extend(f"{idle}." for idle in run.info.resolved.editor.idle)
    if run.info.resolved.editor.left_out:
        found.append(f"{run.info.resolved.editor.left_out}.")
    found.extend(sentence for name in summary.counts if (sentence := without_score(run, name)))
    found.extend(truth_doubts([run]))
    broken = [shot for shot in shots.values() if shot.thumbnail is None]
    if broken:
        found.append(f"{counted(len(broken), 'image')} cannot be shown: {broken[0].sha256[:12]}: {broken[0].problem}.")
    return found


_WORDS = {
    "claims_success": "says that it succeeded",
    "denies_damage": "says that there is no damage",
    "mentions_damage": "mentions damage",
    "hedges": "limits its certainty",
}


@dataclass(frozen=True)
class MarkedSummary:
    """One summary."""

    parts: list[tuple[str, str]]
    """The text in pieces, each with the label of the claim that it is, or empty."""
    labels: list[str]
    """What it says, in words; empty when nobody read it."""
    confident: bool
    """It says that all is well and mentions no damage."""


def claims_in(run: RunView, reader: SummaryReader | None) -> Mapping[str, MarkedSummary]:
    """Summary -> what it says, for every summary of the run; without a reader nothing is marked."""
    texts = list(dict.fromkeys(attempt.row.reasoning for attempt in run.attempts if attempt.row.reasoning))
    readings: list[ReaderResult | None] = list(reader.read(texts)) if reader is not None else [None] * len(texts)
    return {text: _marked(text, reading) for text, reading in zip(texts, readings, strict=True)}


def _marked(text: str, reading: ReaderResult | None) -> MarkedSummary:
    findings = getattr(reading, "findings", ())  # a summary that could not be read has none
    shown = clip(text)
    spans: list[tuple[int, int, str]] = []
    for finding in findings:
        found = re.search(r"\W+".join(map(re.escape, finding.words.split())), shown, re.IGNORECASE)
        if found and found.end() > found.start():
            spans.append((found.start(), found.end(), finding.label))
    parts, at = [], 0
    for start, end, label in sorted(spans):
        if start >= at:
            parts += [(shown[at:start], ""), (shown[start:end], label)]
            at = end
    claims = [label for label in _WORDS if getattr(reading, label, False)]
    confident = bool({"claims_success", "denies_damage"} & set(claims)) and "mentions_damage" not in claims
    return MarkedSummary(
        [part for part in [*parts, (shown[at:], "")] if part[0]], [_WORDS[label] for label in claims], confident
    )


@dataclass(frozen=True)
class RunPage:
    """What the template of a run needs."""

    figures: dict[str, str]
    """Plotly figures as JSON by their place in the page."""
    shots: list[Shot]
    values: dict[str, Any]


def write_run_report(run: Path, reader: SummaryReader | None = None, out: Path | None = None) -> Path:
    """Write the page of the run at `run` to `out`, by default its `report.html`, and return its path.

    One file that opens without network; full images are linked where they lie in the run folder. With a `reader`, what
    reasoning summaries claim is marked. Raises `NoSuchRun` or `DamagedRun` when there is no run to read, `MachineError`
    when the page cannot be written.
    """
    view = RunView.load(run)
    images, target = images_of(view), out or view.folder.report_file
    page = run_content(view, shots(view.folder.images, images, target.parent, edge_for(len(images))), reader)
    return write_page(target, "run.html.j2", page.figures, page.shots, **page.values)


def run_content(
    view: RunView, pictures: Mapping[str, Shot], reader: SummaryReader | None = None, more: Sequence[Stop] = ()
) -> RunPage:
    """Everything on the page of a run.

    `pictures` has a shot of every image that `images_of` names; `more` are images that can be compared besides.
    """
    summary = summarise(view)
    rescored = rescored_section(view)
    turns = turn_pages(view, pictures, rescored.run)
    truth = truth_panel(view)
    found_panels = {name: score_panel(view, name) for name in view.config.evaluators}
    panels = {name: panel for name, panel in found_panels.items() if panel is not None}
    figures = {"truth": truth.figure} if truth else {}
    figures |= {f"score-{number}": panel.figure for number, panel in enumerate(panels.values(), 1)}
    figures |= {
        f"rescored-{number}": one.panel.figure for number, one in enumerate(rescored.evaluators, 1) if one.panel
    }
    laid = registered(view, rescored.run)
    found = [*stops(view, pictures, turns, laid.frames if laid else {}), *more]
    values = {
        "title": f"turngate run {view.info.run}",
        "run": view,
        "summary": summary,
        "headline": f"{summary.verdict.words[:1].upper()}{summary.verdict.words[1:]}.",
        "strip": strip_of(view, summary, pictures),
        "unit": truth_unit(view),
        "others": _others(view),
        "notices": [*notices(view, summary, pictures), *rescored.notices],
        "settings": setup_lines(view, summary),
        "made_with": made_with(view),
        "models": models(view),
        "facts": view.info.resolved.evaluators,
        "config": as_yaml(view.info.config),
        "origin": pictures[view.info.origin.image],
        "turns": turns,
        "rescored": rescored,
        "claims": claims_in(view, reader),
        "stops": found,
        "laid_by": laid.by if laid else "",
        "stops_json": as_data(json.dumps([_plain(stop) for stop in found])),
        "shape": f"{view.info.origin.width} / {view.info.origin.height}",
        "aspect": _aspect(view),
        "without_score": _without_score(view),
        "retries": any(len(turn.attempts) > 1 for turn in turns),
        "telling": _telling(summary, turns),
        "truth_panel": truth,
        "panels": panels,
        "means": {name: mean_score(view, name) for name in panels},
        "untouched": {name: untouched(view, name) for name in panels},
        "took": _took(view),
    }
    return RunPage(figures if view.attempts else {}, list(pictures.values()), values)


@dataclass(frozen=True)
class StripPicture:
    """One image of the strip under the headline."""

    title: str
    shot: Shot
    words: str
    """Its truth with the unit, or `untouched`; empty where it is not known."""
    truth: Truth
    key: str
    """Attempt that made it, within the page; empty for the origin."""


def strip_of(view: RunView, summary: RunSummary, pictures: Mapping[str, Shot]) -> list[StripPicture]:
    """What stood at the turns that tell the story: origin, before and after the first damage, last new, last."""
    stands = {stand.turn: stand for stand in standings(view)}
    answer, last = summary.answer, max(stands)
    first = answer.first_damage_turn
    wanted = {0: "origin", 1: "turn 1", 5: "turn 5", 10: "turn 10", 20: "turn 20", 50: "turn 50"}
    wanted |= {last: f"turn {last}, the last"} if last else {}
    wanted |= {answer.last_new_turn: f"turn {answer.last_new_turn}, the last new one"} if answer.last_new_turn else {}
    wanted |= {first: f"turn {first}, first damage"} if first else {}
    return [strip_picture(view, stands[turn], wanted[turn], pictures) for turn in sorted(wanted) if turn in stands]


def strip_picture(view: RunView, stand: Standing, title: str, pictures: Mapping[str, Shot]) -> StripPicture:
    """A standing image with its truth in words; `pictures` has its shot."""
    unit = truth_unit(view)
    value = stand.truth_value
    words = "" if stand.truth is None else "untouched" if stand.untouched else ""
    if value is not None:
        words = f"{value:.4g}{' ' if unit else ''}{unit}"
    taken = view.taken.get(stand.image_turn)
    key = f"t{taken.row.turn}a{taken.row.attempt}" if taken else ""
    return StripPicture(title, pictures[stand.image], words, truth_of(stand.truth), key)


def _others(view: RunView) -> list[tuple[str, RunSummary]]:
    """Every further truth of the run: its name, and the summary as it sees it."""
    return [(name, summarise(seen_by(view, name))) for name in view.truths[1:]]


def _plain(stop: Stop) -> dict[str, Any]:
    fields = {"key": stop.key, "words": stop.words, "sha": stop.sha256, "href": stop.href, "size": stop.size}
    return fields if stop.frame is None else {**fields, "frame": asdict(stop.frame)}


def _without_score(view: RunView) -> list[str]:
    """Kinds of results without a value that occur in the run."""
    rows = [*view.baseline.values(), *(score for attempt in view.attempts for score in attempt.scores.values())]
    return [kind for kind in ("unscored", "failed", "skipped") if any(row.status == kind for row in rows)]


def _aspect(view: RunView) -> str:
    """Width by height of the places for pictures in the filmstrip; very long images are letterboxed."""
    return f"{min(2.0, max(0.6, view.info.origin.width / view.info.origin.height)):.3f}"


def _telling(summary: RunSummary, turns: list[TurnPage]) -> str:
    """The attempt to show first: after which a damaged image first stands, else the last that brought a new image."""
    wanted = summary.answer.first_damage_turn or summary.answer.last_new_turn
    return next((turn.shown.key for turn in turns if turn.number == wanted), turns[-1].shown.key if turns else "")


def _took(view: RunView) -> int | None:
    """Nanoseconds from the first editor call to the last decision."""
    if not view.attempts:
        return None
    return view.attempts[-1].decision.at_ns - view.attempts[0].row.started_ns
