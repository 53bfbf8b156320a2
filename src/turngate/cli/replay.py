"""What if: `turngate replay` decides a record again."""

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
