"""`turngate show`, `list` and `compare`, and the summary that other commands print."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from typing import Any

import click

from turngate.cli.columns import plain, print_rows, print_titled, print_words
from turngate.cli.options import json_option
from turngate.traces.analysis.run import RunSummary
from turngate.traces.analysis.statistics import why_simulated

__all__ = ["print_summary"]


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@json_option
def show_command(run: Path, as_json: bool) -> int:
    """Show RUN in numbers, from its ledger; works while it is running."""
    from turngate.traces.analysis.run import RunView, summarise

    view = RunView.load(run)
    report = view.folder.report_file if view.folder.report_file.exists() else None
    print_summary(summarise(view), report, as_json)
    return 0


# The summary of a run on the terminal, or as one JSON object.


def print_summary(summary: RunSummary, report: Path | None, as_json: bool, *, worked: bool = True) -> None:
    """Print the verdict of one run, and the numbers behind it."""
    if as_json:
        data = summary.model_dump(mode="json")
        data |= {"report": str(report) if report else None, "worked": worked}
        lost = summary.lost_telemetry  # None, and so null: it is not known how many
        data |= {f"dropped_{what}": getattr(lost, what, None) for what in ("spans", "events", "points")}
        print(json.dumps(data, ensure_ascii=False))
        return
    if not worked:
        click.echo("nothing to do: this run is finished")
    print_titled(_lines(summary))
    if report is not None:
        click.echo(f"{'report':<12}{plain(str(report))}")  # whole, to be copied


def _lines(summary: RunSummary) -> list[tuple[str, str]]:
    status = summary.status + (f": {plain(summary.reason)}" if summary.reason else "")
    lines = [("verdict", summary.verdict.words)]
    if summary.simulated:
        lines.append(
            ("server" if summary.fake_server else "editor", f"SIMULATED: {why_simulated(1, summary.fake_server)}")
        )
    lines += [("no effect", plain(idle)) for idle in summary.idle]
    lines += _answer_lines(summary)
    lines += [("run", plain(summary.run)), ("status", status)]
    turns = (
        f"{summary.turns} of {summary.turns_planned} closed: {summary.accepted} accepted, {summary.rejected} rejected"
    )
    turns += f", {summary.forced} forced" if summary.forced else ""
    turns += f", {summary.no_change} unchanged" if summary.no_change else ""
    lines.append(("turns", turns))
    attempts = f"{summary.attempts} editor calls, {summary.rejected_attempts} rejected"
    lines.append(("attempts", attempts + (f", {summary.no_images} without an image" if summary.no_images else "")))
    if summary.reviews:
        who = ", ".join(f"{number} by {plain(name)}" for name, number in summary.reviews.items())
        lines.append(("reviews", who.replace("by not said", "by a person whose name was not said")))
    for name, counts in summary.counts.items():
        text = f"{counts.scored} scored, {counts.unscored} unscored, {counts.failed} failed, {counts.skipped} skipped"
        if other := summary.other_size.get(name):
            text += f", {other} of them on images of another size than the origin's: they compare less well"
        lines.append(("scores", f"{plain(name)}: {text}"))
    for name, bias in summary.position_bias.items():
        lines.append(("WARNING" if bias.always else "place", f"{plain(name)}: {bias.words}"))
    if summary.cost_usd is not None:
        lines.append(("cost", f"${summary.cost_usd:.4f}"))
    lost = summary.lost_telemetry
    if lost is None:
        lines.append(("telemetry", "how much of it was lost is not known"))
    elif any((lost.spans, lost.events, lost.points)):
        signals = {"spans": lost.spans, "events": lost.events, "metric points": lost.points}
        lines.append(("telemetry", "lost: " + ", ".join(f"{each} {what}" for what, each in signals.items() if each)))
    return lines


def _answer_lines(summary: RunSummary) -> list[tuple[str, str]]:
    """The numbers behind the verdict, in the order that every table has."""
    answer = summary.answer
    last = f"turn {answer.last_new_turn}" if answer.last_new_turn else "none"
    stalled = ", stalled since" if answer.stalled_since is not None else ""
    if not answer.known:
        return [("truth", plain(summary.truth or "not measured in this run")), ("last new", last + stalled)]
    turns, ends = answer.turns, answer.episodes
    counted = answer.planned - turns.unknown  # what the rates rest on
    per_call, each = answer.progress_per_100_calls, summary.usd_per_progressed_turn
    beside = "" if per_call is None else f", {per_call:.3g} per 100 editor calls"
    beside += "" if each is None else f", ${each:.4f} each"
    images = f"{turns.progressed} new sound image{'' if turns.progressed == 1 else 's'} in {_turns(counted)}"
    still = "" if not ends.open else f", {ends.open} still open"
    alarms, first = answer.alarms, answer.first_damage_turn
    delays = ", ".join(map(str, answer.delays)) if len(answer.delays) <= 8 else f"median {median(answer.delays):g}"
    never = f", never in {answer.never_detected}" if answer.never_detected else ""
    recovered = f", recovered at turn {answer.recovered_turn}" if answer.recovered_turn else ""
    unknown = f", {summary.truth_unknown} candidates without one" if summary.truth_unknown else ""
    lines = [
        ("truth", f"{plain(summary.truth or '')}{unknown}"),
        ("progress", f"{images}: {_number(answer.progress)} per 100 turns{beside}"),
        ("exposure", f"a damaged image stands after {answer.exposed_turns} of {_turns(counted)}"),
        ("last new", last + stalled),
        ("episodes", f"{ends.caught} caught, {ends.stalled} stalled, {ends.propagated} propagated{still}"),
        ("damage", f"first stands after turn {first}" if first else "none stands"),
        ("alarms", f"{alarms.alarmed} of {alarms.inputs} inputs had a sound candidate refused"),
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


def _turns(number: int) -> str:
    return f"{number} turn{'' if number == 1 else 's'}"


# `turngate compare`.


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@json_option
def compare_command(a: Path, b: Path, as_json: bool) -> int:
    """Say how run B differs from run A: in configuration, versions and outcome, and where they part."""
    from turngate.traces.analysis.run import RunView, compare_runs

    found = compare_runs(RunView.load(a), RunView.load(b))
    if as_json:
        print(found.model_dump_json())
        return 0
    for name, summary in (("A", found.a), ("B", found.b)):
        click.echo(f"{name}: {plain(summary.verdict.words)}")
    titles = {"configuration": found.config, "versions": found.made_with, "outcome": found.outcome}
    for title, changes in titles.items():
        if not changes:
            click.echo(f"{title}: the same")
            continue
        rows = [{title: one.field, "A": plain(_shown(one.a), 200), "B": plain(_shown(one.b), 200)} for one in changes]
        print_rows(rows, left=("A", "B"))
        click.echo()
    parting = found.parting
    if parting is None:
        click.echo("every attempt is the same")
        return 0
    click.echo(f"they part at turn {parting.turn}, attempt {parting.attempt}: {parting.what}")
    for name, value in (("A", parting.a), ("B", parting.b)):
        click.echo(f"  {name}: {plain(value or '-', 200)}")
    return 0


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


# `turngate list`.


@click.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def list_command(folder: Path, as_json: bool) -> int:
    """List the runs below FOLDER (default: runs), oldest first."""
    from turngate.errors import MachineError, UserError
    from turngate.traces.analysis.run import RunView, summarise
    from turngate.traces.run_folder import find_runs

    if not folder.is_dir():
        raise UserError(f"no folder at {folder}: give one that holds runs")
    summaries: list[RunSummary] = []
    broken: list[dict[str, str]] = []
    for path in find_runs(folder):
        try:
            summaries.append(summarise(RunView.load(path)))
        except (MachineError, UserError) as error:
            broken.append({"run": str(path), "error": str(error)})
    if as_json:
        runs = [summary.model_dump(mode="json") for summary in summaries]
        print(json.dumps({"runs": runs, "unreadable": broken}, ensure_ascii=False))
        return 0
    print_rows([_listed(summary, folder) for summary in summaries], left=("status", "verdict"))
    if summaries:
        print_words("progress: new sound images per 100 turns; episodes: caught / stalled / propagated")
    else:
        click.echo(f"no runs below {plain(str(folder))}")
    for item in broken:
        click.echo(f"unreadable: {plain(item['run'])}: {plain(item['error'])}", err=True)
    return 0


def _listed(summary: RunSummary, folder: Path) -> dict[str, str]:
    from turngate.traces.analysis.run import VERDICT_WORDS

    answer, ends = summary.answer, summary.answer.episodes
    last = str(answer.last_new_turn) if answer.last_new_turn else "never"
    return {
        "run": os.path.relpath(summary.run, folder),
        "status": summary.status,
        "turns": f"{summary.turns}/{summary.turns_planned}",
        "verdict": VERDICT_WORDS[summary.verdict.kind] + (" (SIMULATED)" if summary.simulated else ""),
        "progress": _number(answer.progress),
        "exposure": "-" if answer.exposure is None else f"{100 * answer.exposure:.0f} %",
        "last new": last + (", stalled" if answer.stalled_since is not None else ""),
        "episodes": f"{ends.caught} / {ends.stalled} / {ends.propagated}" if answer.known else "-",
    }
