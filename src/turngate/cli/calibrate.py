"""`turngate calibrate`: a limit with a stated rate of false alarms, and what it is worth on other photographs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli.options import json_option
from turngate.cli.places import PlacePath
from turngate.whole_file import whole_file

if TYPE_CHECKING:
    from turngate.traces.analysis.study import Calibration, CleanEdit, Reference

__all__ = []


@click.command("calibrate")
@click.argument("paths", nargs=-1, required=True, type=PlacePath("run", "study", "runs", "folder"))
@click.option("--evaluator", required=True, help="Name of the evaluator in the runs.")
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Share of clean edits that may be rejected.")  # fmt: skip
@click.option(
    "--turns", type=click.IntRange(1), default=1, show_default=True, help="Take candidates of turns 1..TURNS."
)
@click.option("--relative-to", "reference", type=click.Choice(["origin", "first"]),
              help="Score minus the origin's, or the first accepted image's: fits others better.")  # fmt: skip
@click.option("--chart", is_flag=True, help="Also print mean and SD as the baseline of a control chart.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the calibration scores to this CSV file.")
@json_option
def calibrate_command(
    paths: tuple[Path, ...],
    evaluator: str,
    alpha: float,
    turns: int,
    reference: Reference | None,
    chart: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Find the limit that rejects a share ALPHA of clean edits, from the runs at or below PATHS.

    Clean are the candidates of the first turns that truth does not call damaged. The answer has the share that the
    limit rejects on origins which it was not found on, each left out in turn.
    """
    from turngate.errors import UserError
    from turngate.traces.analysis.run import RunView
    from turngate.traces.analysis.study import calibrate, clean_edits
    from turngate.traces.run_folder import find_runs

    runs = [RunView.load(run) for path in paths for run in sorted(find_runs(path))]
    if not runs:
        raise UserError(f"no run at or below {', '.join(map(str, paths))}: check the path")
    edits = clean_edits(runs, evaluator, turns)
    source = None if out is None else str(out)
    found = calibrate(edits, evaluator, alpha, reference=reference, chart=chart, source=source)
    if out is not None:
        _write(out, edits, reference)
    if as_json:
        print(found.model_dump_json())
    else:
        _say(found, out)
    return 0


def _write(path: Path, edits: Sequence[CleanEdit], reference: Reference | None) -> None:
    from turngate.errors import MachineError

    try:
        with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["score", "origin", "origin_name", "editor", "run", "turn"])
            for edit in edits:
                if (value := edit.value(reference)) is not None:
                    rows.writerow([repr(value), edit.origin, edit.origin_name, edit.editor, edit.run, edit.turn])
    except OSError as error:
        raise MachineError(f"cannot write {path}: {error.strerror or error}") from error


def _say(found: Calibration, out: Path | None) -> None:
    from turngate.cli.columns import plain, print_rows, print_words
    from turngate.errors import counted

    side = "below" if found.direction == "higher" else "above"
    what = {"origin": "minus the origin's score ", "first": "minus the first accepted image's score ", None: ""}
    of = ", ".join((counted(len(found.origins), "origin"), counted(len(found.editors), "editor")))
    print_words(
        f"{found.evaluator} {what[found.reference]}{side} {found.limit:.6g} is rejected, "
        f"from {counted(found.edits, 'clean edit')} of {counted(found.runs, 'run')}, {of}"
    )
    print_words(_rates(found))
    click.echo()
    print_rows([
        {"origin": plain(one.name, 60), "clean edits": str(one.edits), "rejected when left out": _percent(one.rate)}
        for one in found.origins
    ])  # fmt: skip
    click.echo()
    print_rows([
        {"editor": plain(one.editor, 60), "origins": str(one.origins), "clean edits": str(one.edits),
         "rejected when the origin is left out": _percent(one.rate)}
        for one in found.editors
    ])  # fmt: skip
    click.echo()
    for note in found.notes:
        print_words(note)
    click.echo()
    for gate in found.gates:
        fields = gate.as_mapping()
        hint = ""
        if fields["type"] == "conformal" and out is None:
            fields |= {"calibration": "clean.csv", "column": "score"}
            hint = "   # write the scores with --out clean.csv"
        click.echo(f"gate: {_flow(fields)}{hint}")


def _rates(found: Calibration) -> str:
    """What was asked for and what was found, in one sentence."""
    from turngate.errors import counted

    asked = f"asked for {_percent(found.alpha)} of clean edits, {_percent(found.in_sample)} on these very edits"
    if len(found.origins) < 2:
        return f"{asked}; nothing is known out of sample: one origin only, give runs of others"
    if found.out_of_sample is None or found.worst is None:
        return f"{asked}; nothing is known out of sample: no origin's edits are enough without those of another"
    judged = counted(sum(one.rate is not None for one in found.origins), "origin")
    kept = "" if found.out_of_sample <= found.alpha else ": the rate is not kept on other photographs"
    return (
        f"{asked}; out of sample {_percent(found.out_of_sample)} (mean of {judged}, each left out in turn), "
        f"worst origin {found.worst.name} {_percent(found.worst.rate)}{kept}"
    )


def _percent(rate: float | None) -> str:
    return "not judged" if rate is None else f"{100 * rate:.3g} %"


def _flow(fields: object) -> str:
    """YAML on one line, as a person pastes it into a configuration."""
    import yaml

    text = yaml.safe_dump(fields, default_flow_style=True, sort_keys=False, width=float("inf"), allow_unicode=True)
    return text.strip()
