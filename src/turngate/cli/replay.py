"""What if: `turngate replay` decides a record again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.options import json_option, set_option
from turngate.cli.places import PlacePath
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import VERDICT_WORDS, RunAnswer, RunView, answer_records, run_verdict

if TYPE_CHECKING:
    from turngate.graphs.replay import Counterfactual

__all__ = []


class ReplayedDecision(FrozenModel):
    """One decision, as recorded and as taken again."""

    turn: int
    attempt: int
    recorded: str
    decided: str
    reason: str


class ReplayRow(FrozenModel):
    """What one setting would have made of the recorded candidates."""

    value: str | None
    """Value of the swept field; None without a sweep."""
    gate: dict[str, Any]
    """The gate's configuration."""
    turns: int
    """Closed turns up to the divergence: both answers are over these."""
    covers_the_run: bool
    diverged: str | None
    """Where the record ends to be valid, in words; None when it covers the run."""
    first_change: tuple[int, int] | None
    """Turn and attempt of the first decision that differs."""
    verdict: str
    recorded_verdict: str
    answer: RunAnswer
    """With the other decisions."""
    recorded: RunAnswer
    """As recorded, over the same turns."""
    decisions: list[ReplayedDecision]


@click.command("replay")
@click.argument("run", type=PlacePath("run", "run.json"))
@set_option
@click.option(
    "--with", "evaluators", multiple=True, metavar="[NAME=]TYPE", help="Add an evaluator for the gate to read."
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
    from turngate.rescoring import evaluator_configs

    chosen = evaluator_configs(evaluators) if evaluators else {}
    added = [f"evaluators.{name}={json.dumps(raw)}" for name, raw in chosen.items()]
    settings: list[tuple[str, list[str]]] = [("", [])]
    if sweep is not None:
        settings = [(value, [f"{field}={value}"]) for field, value in _values(sweep)]
    found = [(label, _redecide(run, [*added, *overrides, *more])) for label, more in settings]
    view = RunView.load(run)
    rows = [_row(view, label, one) for label, one in found]
    if as_json:
        replays = [row.model_dump(mode="json") for row in rows]
        print(json.dumps({"run": str(run), "replays": replays}, ensure_ascii=False))
        return 0
    _say(rows, sweep)
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


def _row(view: RunView, label: str, one: Counterfactual) -> ReplayRow:
    changed = next((step.decision for step in one.steps if step.changed), None)
    answer, recorded = (answer_records(view, records, one.turns) for records in (one.records, one.recorded))
    return ReplayRow(
        value=label or None,
        gate=one.config.gate.model_dump(mode="json"),
        turns=one.turns,
        covers_the_run=one.diverged is None,
        diverged=one.diverged,
        first_change=(changed.turn, changed.attempt) if changed else None,
        verdict=run_verdict(answer, "complete").words,
        recorded_verdict=run_verdict(recorded, "complete").words,
        answer=answer,
        recorded=recorded,
        decisions=[
            ReplayedDecision(
                turn=step.decision.turn,
                attempt=step.decision.attempt,
                recorded=step.record.decision.action,
                decided=step.decision.action,
                reason=step.decision.reason,
            )
            for step in one.steps
        ],
    )


def _say(rows: Sequence[ReplayRow], sweep: str | None) -> None:
    from turngate.cli.columns import plain, print_rows, print_words

    field = sweep.partition("=")[0] if sweep else "gate"
    table: list[dict[str, str]] = []
    told: set[int] = set()
    for row in rows:
        if row.turns not in told:  # both are held against each other over the same turns only
            told.add(row.turns)
            table.append(_cells(field, "as recorded", row.turns, row.recorded, "", ""))
        change = f"turn {row.first_change[0]}" if row.first_change else "none"
        name = row.value or str(row.gate["type"])
        table.append(_cells(field, name, row.turns, row.answer, change, row.diverged or "the end"))
    print_rows(table, left=("verdict",))
    for row in rows:
        recorded = f"; as recorded: {row.recorded_verdict}" if row.recorded_verdict != row.verdict else ""
        print_words(f"{row.value or str(row.gate['type'])}: {row.verdict}{recorded}")
    if len(rows) == 1:
        for one in rows[0].decisions:
            if one.recorded != one.decided:
                where = f"turn {one.turn}, attempt {one.attempt}"
                print_words(f"{where}: {one.recorded} -> {one.decided} ({plain(one.reason, 160)})")


def _cells(field: str, name: str, turns: int, answer: RunAnswer, change: str, valid: str) -> dict[str, str]:
    ends = answer.episodes
    still = f", {ends.open} open" if ends.open else ""
    return {
        field: name,
        "turns": str(turns),
        "verdict": VERDICT_WORDS[run_verdict(answer, "complete").kind],
        "progress": "-" if answer.progress is None else f"{answer.progress:.3g}",
        "exposure": "-" if answer.exposure is None else f"{100 * answer.exposure:.0f} %",
        "last new": f"turn {answer.last_new_turn}" if answer.last_new_turn else "never",
        "episodes": f"{ends.caught} / {ends.stalled} / {ends.propagated}{still}" if answer.known else "-",
        "first change": change,
        "valid until": valid,
    }
