"""The summary of a run in words, for the terminal and for notebooks."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from turngate.errors import counted
from turngate.traces.analysis.statistics import why_simulated

if TYPE_CHECKING:
    from turngate.traces.analysis.run.summary import RunSummary

__all__ = ["summary_lines"]


def summary_lines(summary: RunSummary) -> list[tuple[str, str]]:
    """Short titles with a sentence each: the verdict, the numbers behind it, and how the turns closed."""
    status = summary.status + (f": {summary.reason}" if summary.reason else "")
    lines = [("verdict", summary.verdict.words)]
    if summary.simulated:
        lines.append(
            ("server" if summary.fake_server else "editor", f"SIMULATED: {why_simulated(1, summary.fake_server)}")
        )
    lines += [("no effect", idle) for idle in summary.idle]
    lines += _answer_lines(summary)
    lines += [("run", summary.run), ("status", status)]
    turns = (
        f"{summary.turns} of {summary.turns_planned} closed: {summary.accepted} accepted, {summary.rejected} rejected"
    )
    turns += f", {summary.forced} forced" if summary.forced else ""
    turns += f", {summary.no_change} unchanged" if summary.no_change else ""
    lines.append(("turns", turns))
    attempts = f"{counted(summary.attempts, 'editor call')}, {summary.rejected_attempts} rejected"
    lines.append(("attempts", attempts + (f", {summary.no_images} without an image" if summary.no_images else "")))
    return [*lines, *_more_lines(summary)]


def _more_lines(summary: RunSummary) -> list[tuple[str, str]]:
    """Reviews, counts of scores, position bias, cost, lost telemetry."""
    lines = []
    if summary.reviews:
        who = ", ".join(f"{number} by {name}" for name, number in summary.reviews.items())
        lines.append(("reviews", who.replace("by not said", "by a person whose name was not said")))
    for name, counts in summary.counts.items():
        text = f"{counts.scored} scored, {counts.unscored} unscored, {counts.failed} failed, {counts.skipped} skipped"
        if other := summary.other_size.get(name):
            text += f", {other} of them on images of another size than the origin's: they compare less well"
        lines.append(("scores", f"{name}: {text}"))
    for name, bias in summary.position_bias.items():
        lines.append(("WARNING" if bias.always else "place", f"{name}: {bias.words}"))
    if summary.cost_usd is not None:
        lines.append(("cost", f"${summary.cost_usd:.4f}"))
    lost = summary.lost_telemetry
    if lost is None:
        lines.append(("telemetry", "how much of it was lost is not known"))
    elif any((lost.spans, lost.events, lost.points)):
        signals = {"span": lost.spans, "event": lost.events, "metric point": lost.points}
        lines.append(("telemetry", "lost: " + ", ".join(counted(each, what) for what, each in signals.items() if each)))
    return lines


def _answer_lines(summary: RunSummary) -> list[tuple[str, str]]:
    """The numbers behind the verdict, in the order that every table has."""
    answer = summary.answer
    last = f"turn {answer.last_new_turn}" if answer.last_new_turn else "none"
    stalled = ", stalled since" if answer.stalled_since is not None else ""
    if not answer.known:
        return [("truth", summary.truth or "not measured in this run"), ("last new", last + stalled)]
    turns, ends = answer.turns, answer.episodes
    known = answer.planned - turns.unknown  # what the rates rest on
    per_call, each = answer.progress_per_100_calls, summary.usd_per_progressed_turn
    beside = "" if per_call is None else f", {per_call:.3g} per 100 editor calls"
    beside += "" if each is None else f", ${each:.4f} each"
    images = f"{counted(turns.progressed, 'new sound image')} in {counted(known, 'turn')}"
    still = "" if not ends.open else f", {ends.open} still open"
    alarms, first = answer.alarms, answer.first_damage_turn
    delays = ", ".join(map(str, answer.delays)) if len(answer.delays) <= 8 else f"median {median(answer.delays):g}"
    never = f", never in {answer.never_detected}" if answer.never_detected else ""
    recovered = f", recovered at turn {answer.recovered_turn}" if answer.recovered_turn else ""
    unknown = f", {counted(summary.truth_unknown, 'candidate')} without one" if summary.truth_unknown else ""
    lines = [
        ("truth", f"{summary.truth or ''}{unknown}"),
        ("progress", f"{images}: {_number(answer.progress)} per 100 turns{beside}"),
        ("exposure", f"a damaged image stands after {answer.exposed_turns} of {counted(known, 'turn')}"),
        ("last new", last + stalled),
        ("episodes", f"{ends.caught} caught, {ends.stalled} stalled, {ends.propagated} propagated{still}"),
        ("damage", f"first stands after turn {first}" if first else "none stands"),
        ("alarms", f"{alarms.alarmed} of {counted(alarms.inputs, 'input')} had a sound candidate refused"),
    ]
    if ends.total:
        lines.append(("delay", f"{delays or 'none'} turns from first damage to the turn that refused it all{never}"))
    lines.append(("collapse", f"turn {answer.collapse_turn}{recovered}" if answer.collapse_turn else "none"))
    planned = {
        "progressed": turns.progressed, "propagated": turns.propagated,
        "held": turns.held_sound + turns.held_damaged, "went back": turns.went_back_sound + turns.went_back_damaged,
        "no change": turns.no_change, "not reached": turns.not_reached, "unknown": turns.unknown,
    }  # fmt: skip
    lines.append(("planned", ", ".join(f"{number} {name}" for name, number in planned.items() if number)))
    return lines


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
