"""Runs as data frames."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from turngate.errors import MissingExtra, NoSuchRun
from turngate.traces._sqlite import LedgerReader, connect, kind_of, machine_errors
from turngate.traces.analysis.run import DamageEpisode, RunView, TurnResult, summarise
from turngate.traces.exports import episode_rows, turn_rows
from turngate.traces.records import TABLES
from turngate.traces.run_folder import RunFolder, find_runs

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Frames", "frames"]

_SHOWN = ("attempts", "scores", "truth", "decisions", "composites")


@dataclass(frozen=True)
class Frames:
    """The rows of one or many runs, each with the run it belongs to.

    Columns are the fields of the rows (`turngate schema`). Before them stand `run` (id), `editor`, `scenario` and
    `gate` (types), and with a study also `arm`, `origin` and `repeat`; `editor` and `scenario` are then the names that
    the study gave. Lists, mappings and rows within rows are JSON text.
    """

    runs: pl.DataFrame
    """One row per run: its folder, its status, what the gate did (`verdict`, `progress`, `exposure`, ...), and every
    setting of the configuration by its path (`config.gate.type`, `config.gate.at`, `config.seed`, ...)."""
    attempts: pl.DataFrame
    scores: pl.DataFrame
    truth: pl.DataFrame
    decisions: pl.DataFrame
    composites: pl.DataFrame
    """What masked accepts made; without rows when there was none."""
    turns: pl.DataFrame
    """What each planned turn came to, by the leading truth (`TurnResult`)."""
    episodes: pl.DataFrame
    """Damage episodes, by the leading truth (`DamageEpisode`), with their delay."""

    def to_pandas(self) -> dict[str, Any]:
        """The same as pandas frames, by name; needs pandas and pyarrow."""
        try:
            return {one.name: getattr(self, one.name).to_pandas() for one in fields(self)}
        except ModuleNotFoundError as error:
            raise MissingExtra(f"pandas frames need {error.name}: pip install pandas pyarrow") from None


def frames(path: str | Path) -> Frames:
    """Read a run, a study, or every run below a folder.

    Raises `MissingExtra` without polars, `NoSuchRun` when there is no run, `DamagedRun` when one cannot be read.
    """
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("data frames need polars: pip install 'turngate[frames]'") from None
    folder = Path(path)
    runs = sorted(find_runs(folder)) if folder.is_dir() else []
    if not runs:
        raise NoSuchRun(f"no run at or below {folder}: check the path")
    places = _places(folder)
    found: dict[str, list[pl.DataFrame]] = {one.name: [] for one in fields(Frames)}
    for run in runs:
        file = RunFolder(run).path / "ledger.sqlite"
        info = RunFolder(run).info()
        types = {name: _type_of(info.config.get(name)) for name in ("editor", "scenario", "gate")}
        place = places.get(run.resolve(), {})
        before = {"run": info.run, **types, **{name: at for name, at in place.items() if at or name not in types}}
        with machine_errors(file):
            link = connect(file, read_only=True, durable=False)
            try:
                reader = LedgerReader(link, run)
                for name in _SHOWN:
                    found[name].append(_frame(name, reader.all_values(name), before))
            finally:
                link.close()
        view = RunView.load(run)
        found["runs"].append(pl.DataFrame([{**before, **_run_row(view)}], infer_schema_length=None))
        found["turns"].append(_made(TurnResult, turn_rows(view), before))
        found["episodes"].append(_made(DamageEpisode, episode_rows(view), before, "delay"))
    return Frames(**{name: pl.concat(parts, how="diagonal_relaxed") for name, parts in found.items()})


def _run_row(view: RunView) -> dict[str, Any]:
    """What a run came to, and its settings by their path."""
    summary = summarise(view)
    answer = summary.answer
    came_to = {
        "folder": summary.run, "status": summary.status, "simulated": summary.simulated,
        "verdict": summary.verdict.kind, "turns": summary.turns, "turns_planned": summary.turns_planned,
        "progress": answer.progress, "exposure": answer.exposure, "last_new_turn": answer.last_new_turn,
        "stalled_since": answer.stalled_since, "caught": answer.episodes.caught, "stalled": answer.episodes.stalled,
        "propagated": answer.episodes.propagated, "first_damage_turn": answer.first_damage_turn,
        "calls": answer.calls, "forced": answer.forced, "cost_usd": summary.cost_usd,
    }  # fmt: skip
    return {**came_to, **dict(_settings(view.info.config, "config"))}


def _settings(config: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from _settings(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", json.dumps(value) if isinstance(value, list | Mapping) else value


def _type_of(component: Any) -> str | None:
    found = component.get("type") if isinstance(component, Mapping) else component
    return found if isinstance(found, str) else None


def _made(model: type[BaseModel], rows: list[dict[str, Any]], before: dict[str, Any], *more: str) -> pl.DataFrame:
    """Rows that the answer makes; `more` are columns of whole numbers beside the model's fields."""
    return _typed({**_kinds(model), **dict.fromkeys(more, int)}, rows, before)


def _frame(table: str, values: list[dict[str, Any]], before: dict[str, Any]) -> pl.DataFrame:
    return _typed(_kinds(TABLES[table][0]), values, before)


def _kinds(model: type[BaseModel]) -> dict[str, Any]:
    annotations: dict[str, Any] = {name: field.annotation for name, field in model.model_fields.items()}
    return {name: kind_of(annotation) for name, annotation in annotations.items()}


def _typed(kinds: dict[str, Any], values: list[dict[str, Any]], before: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    types: dict[type, Any] = {int: pl.Int64, float: pl.Float64, bool: pl.Int64}
    rows = [[row.get(name) for name in kinds] for row in values]
    frame = pl.DataFrame(rows, {name: types.get(kind, pl.String) for name, kind in kinds.items()}, orient="row")
    flags = [pl.col(name).cast(pl.Boolean) for name, kind in kinds.items() if kind is bool]
    labels = [pl.lit(value).alias(name) for name, value in before.items()]
    return frame.with_columns(*flags, *labels).select(*before, *kinds)


def _places(folder: Path) -> dict[Path, dict[str, Any]]:
    """Run folder -> what the study in `folder` says about it; empty without a study."""
    try:
        study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    fields = ("arm", "origin", "scenario", "editor", "repeat")
    return {(folder / row["path"]).resolve(): {field: row[field] for field in fields} for row in study["runs"]}
