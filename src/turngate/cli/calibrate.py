"""`turngate calibrate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["calibrate_command"]


@click.command("calibrate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--evaluator", required=True, help="Name of the evaluator in the runs.")
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Share of clean edits that may be rejected.")  # fmt: skip
@click.option(
    "--turns", type=click.IntRange(1), default=1, show_default=True, help="Take candidates of turns 1..TURNS."
)
@click.option("--relative", is_flag=True, help="Score minus the origin's score: fits other images better.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the calibration scores to this CSV file.")
@json_option
def calibrate_command(
    paths: tuple[Path, ...], evaluator: str, alpha: float, turns: int, relative: bool, out: Path | None, as_json: bool
) -> int:
    """Find the threshold that rejects at most ALPHA of clean edits, from the runs at or below PATHS.

    Clean are the candidates of the first turns that truth does not call damaged.
    """
    from turngate.agent.gates import GATES
    from turngate.errors import ConfigError, UserError
    from turngate.traces.analysis.run import RunView
    from turngate.traces.analysis.study import clean_scores
    from turngate.traces.run_folder import find_runs

    runs = [RunView.load(run) for path in paths for run in sorted(find_runs(path))]
    if not runs:
        raise UserError(f"no run at or below {', '.join(map(str, paths))}: check the path")
    found = clean_scores(runs, evaluator, turns)
    values = [one.difference if relative else one.score for one in found]
    usable = [value for value in values if value is not None]
    if not usable:
        lacking = "no score of their origin" if relative and found else f"no score of {evaluator!r} on a clean edit"
        raise UserError(f"the {len(runs)} runs have {lacking} in turns 1..{turns}: nothing to calibrate with")
    settings: dict[str, Any] = {"evaluator": evaluator, "alpha": alpha, "relative_to_origin": relative}
    try:
        gate = GATES.build(GATES.configure({"type": "conformal", **settings, "calibration": usable}, "calibration"))
    except ConfigError as error:
        raise ConfigError(f"{error}; give more runs, more --turns, or a larger --alpha") from None
    threshold = _threshold(gate, evaluator, found[0].direction, relative)
    if out is not None:
        _write(out, usable)
    answer = {
        "evaluator": evaluator, "alpha": alpha, "clean_edits": len(usable), "runs": len({one.run for one in found}),
        "known_sound": sum(one.known for one in found), "relative_to_origin": relative, "threshold": threshold,
        "direction": found[0].direction,
        "gate": {"type": "conformal", **settings, "calibration": str(out) if out else usable,
                 **({"column": "score"} if out else {})},
    }  # fmt: skip
    if as_json:
        print(json.dumps(answer))
        return 0
    _say(answer, out)
    return 0


def _threshold(gate: Any, evaluator: str, direction: Any, relative: bool) -> float:
    from turngate.agent.gate import Past, Reading

    zero = {evaluator: Reading(evaluator, 0.0, direction)}
    decision = gate.decide(zero, Past(1, 1, 0, origin=zero if relative else {}))
    return float(decision.thresholds[evaluator])


def _write(path: Path, values: list[float]) -> None:
    from turngate.errors import MachineError

    try:
        path.write_text("score\n" + "".join(f"{value!r}\n" for value in values), encoding="utf-8")
    except OSError as error:
        raise MachineError(f"cannot write {path}: {error.strerror or error}") from error


def _say(answer: dict[str, Any], out: Path | None) -> None:
    side = "below" if answer["direction"] == "higher" else "above"
    what = "minus the origin's score " if answer["relative_to_origin"] else ""
    evaluator, number, known = answer["evaluator"], answer["clean_edits"], answer["known_sound"]
    click.echo(
        f"{evaluator} {what}{side} {answer['threshold']:.6g} rejects at most {answer['alpha']:.3g} of clean edits, "
        f"from {number} of them in {answer['runs']} runs"
    )
    if known < number:
        click.echo(f"{number - known} of them have no known truth and are taken for clean because of their turn")
    click.echo(
        "This holds for one edit that is exchangeable with these: same editor, same kind of images and instructions,\n"
        "independent edits. It is no promise for all turns of a run together, nor for other images."
    )
    if answer["clean_edits"] > answer["runs"]:
        click.echo("Several edits of one run stand among them, and those are not independent: the rate is approximate.")
    source = out or "clean.csv"
    relative = ", relative_to_origin: true" if answer["relative_to_origin"] else ""
    click.echo(
        f"\ngate: {{type: conformal, evaluator: {answer['evaluator']}, calibration: {source}, column: score, "
        f"alpha: {answer['alpha']:g}{relative}}}" + ("" if out else "   # write the scores with --out clean.csv")
    )
