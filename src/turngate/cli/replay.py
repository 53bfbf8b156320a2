"""What if: `turngate replay` decides a record again, `turngate calibrate` finds a threshold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.options import json_option, set_option

if TYPE_CHECKING:
    from turngate.graphs.replay import Counterfactual

__all__ = []


_WORDS = {"caught": "caught", "propagated": "propagated", "passed": "passed", "false_alarm": "false alarms"}


@click.command("replay")
@click.argument("run", type=click.Path(path_type=Path))
@set_option
@click.option(
    "--with", "evaluators", multiple=True, metavar="NAME[=TYPE]", help="Add an evaluator for the gate to read."
)
@click.option("--sweep", metavar="FIELD=A,B,...", help="Decide once for each value of a field, e.g. gate.at=0.5,1,2.")
@json_option
def replay_command(
    run: Path, overrides: tuple[str, ...], evaluators: tuple[str, ...], sweep: str | None, as_json: bool
) -> int:
    """Decide the recorded candidates of RUN again, with another gate: no editor is called.

    Valid up to the first divergence, which the answer names: later candidates were recorded from images that
    the other gate would not have kept.
    """
    added = [f"evaluators.{name}={kind or name}" for name, _, kind in (item.partition("=") for item in evaluators)]
    settings: list[tuple[str, list[str]]] = [("", [])]
    if sweep is not None:
        settings = [(value, [f"{field}={value}"]) for field, value in _values(sweep)]
    found = [(label, _redecide(run, [*added, *overrides, *more])) for label, more in settings]
    rows = [_row(label, one) for label, one in found]
    if as_json:
        print(json.dumps({"run": str(run), "replays": rows}, ensure_ascii=False))
        return 0
    _say(found, rows, sweep)
    return 0


def _redecide(run: Path, overrides: list[str]) -> Counterfactual:
    from turngate.component import differences
    from turngate.errors import ConfigError
    from turngate.graphs.load import parse_config
    from turngate.graphs.replay import FREE, redecide
    from turngate.graphs.runner import changed_config
    from turngate.traces.run_folder import RunFolder

    recorded = RunFolder.existing(run).info()
    config = changed_config(run, overrides)
    before = parse_config(recorded.config, str(run)).identity()
    fixed = [field for field, _, _ in differences(before, config.identity()) if field.partition(".")[0] not in FREE]
    if fixed:
        raise ConfigError(f"{fixed[0]}: a replay calls no editor and can only change {', '.join(FREE)}; fork the run")
    return redecide(run, config)


def _values(sweep: str) -> Iterable[tuple[str, str]]:
    from turngate.errors import ConfigError

    field, equals, values = sweep.partition("=")
    if not equals or not values.strip():
        raise ConfigError(f"--sweep {sweep}: write it as field=value,value, for instance --sweep gate.at=0.5,1,2")
    return [(field, value.strip()) for value in values.split(",")]


def _row(label: str, one: Counterfactual) -> dict[str, Any]:
    from turngate.traces.analysis.run import outcomes

    steps = one.steps
    changed = next((step for step in steps if step.changed), None)
    return {
        "value": label or None,
        "gate": one.config.gate.model_dump(mode="json"),
        "turns": one.turns,
        "attempts": len(steps),
        "covers_the_run": one.diverged is None,
        "diverged": one.diverged,
        "first_change": {"turn": changed.decision.turn, "attempt": changed.decision.attempt} if changed else None,
        "outcomes": outcomes(one.records),
        "recorded_outcomes": outcomes(one.recorded),
        "decisions": [
            {
                "turn": step.decision.turn,
                "attempt": step.decision.attempt,
                "recorded": step.record.decision.action,
                "decided": step.decision.action,
                "reason": step.decision.reason,
            }
            for step in steps
        ],
    }


def _say(found: list[tuple[str, Counterfactual]], rows: list[dict[str, Any]], sweep: str | None) -> None:
    from turngate.cli.columns import plain, print_rows

    field = sweep.partition("=")[0] if sweep else "gate"
    recorded = max(rows, key=lambda row: int(row["attempts"]))
    table = []
    for label, row in [("as recorded", recorded), *((row["value"] or str(row["gate"]["type"]), row) for row in rows)]:
        counts = row["recorded_outcomes"] if label == "as recorded" else row["outcomes"]
        change = row["first_change"]
        table.append(
            {
                field: str(label),
                "turns": str(row["turns"]),
                **{word: str(counts[name]) for name, word in _WORDS.items()},
                "first change": "" if label == "as recorded" else f"turn {change['turn']}" if change else "none",
                "valid until": "" if label == "as recorded" else row["diverged"] or "the end",
            }
        )
    print_rows(table)
    if len(found) == 1:
        for step in (step for step in found[0][1].steps if step.changed):
            decision = step.decision
            click.echo(
                f"turn {decision.turn}, attempt {decision.attempt}: {step.record.decision.action} -> {decision.action} "
                f"({plain(decision.reason, 160)})"
            )


# `turngate calibrate`.


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
    _say_threshold(answer, out)
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


def _say_threshold(answer: dict[str, Any], out: Path | None) -> None:
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
        click.echo("Several edits are of one run and not independent: the rate is approximate.")
    source = out or "clean.csv"
    relative = ", relative_to_origin: true" if answer["relative_to_origin"] else ""
    click.echo(
        f"\ngate: {{type: conformal, evaluator: {answer['evaluator']}, calibration: {source}, column: score, "
        f"alpha: {answer['alpha']:g}{relative}}}" + ("" if out else "   # write the scores with --out clean.csv")
    )
