"""`--set` for a study: fields of the study itself, and fields that all of its runs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.load import apply_overrides, with_absolute_paths
from turngate.graphs.study.config import AXES, StudyConfig, named_items
from turngate.registry import nearest

__all__ = ["apply_to_study", "split_overrides"]


def split_overrides(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the study (`repeats=2`, `run.turns=5`, `arms.NAME.gate.margin=3`), and those of every run (`turns=5`).

    Raises `ConfigError` with the nearest name for a field that neither has.
    """
    of_study, of_runs = [], []
    for override in overrides:
        first, *rest = _path(override)
        if first in StudyConfig.model_fields:
            inside = rest[0:] if first == "run" else rest[1:] if first == "arms" else []
            if inside:
                _check(override, inside[0], [*RunConfig.model_fields])
            of_study.append(override)
        else:
            _check(override, first, [*StudyConfig.model_fields, *RunConfig.model_fields])
            of_runs.append(override)
    return of_study, of_runs


def apply_to_study(raw: Mapping[str, Any], overrides: Sequence[str], beside: Path) -> dict[str, Any]:
    """The study with `overrides` applied; paths of the file are relative to `beside`, those of overrides to here.

    Raises `ConfigError` with the nearest name for an arm, origin, scenario or editor that is not there. A new one is
    given as a whole (`arms.NAME={gate: ...}`).
    """
    result = _with_absolute_paths(_named(raw), beside)
    for override in overrides:
        first, *rest = _path(override)
        names = result.get(first, {})
        if first in (*AXES, "arms") and len(rest) > 1 and isinstance(names, Mapping) and rest[0] not in names:
            what = f"no {first[:-1]} is called {rest[0]!r}"
            hint = nearest(rest[0], [*map(str, names)]) if names else f": the study has no {first}"
            raise ConfigError(f"--set {override}: {what}{hint}")
        result = _named(apply_overrides(result, [override]))
    return _with_absolute_paths(result, Path.cwd())


def _path(override: str) -> list[str]:
    return override.partition("=")[0].strip().split(".")


def _check(override: str, field: str, fields: list[str]) -> None:
    if field and field not in fields:
        raise ConfigError(f"--set {override}: no such field {field!r}{nearest(field, fields)}")


def _named(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of origins, scenarios and editors as mappings, and each origin that is one word as a mapping too."""
    result = dict(raw)
    for axis in AXES:
        if isinstance(result.get(axis), list):
            try:
                result[axis] = named_items(result[axis])
            except ValueError as error:
                raise ConfigError(f"{axis}: {error}") from None
    origins = result.get("origins")
    if isinstance(origins, Mapping):
        result["origins"] = {name: {"image": item} if isinstance(item, str) else item for name, item in origins.items()}
    return result


def _with_absolute_paths(raw: Mapping[str, Any], base: Path) -> dict[str, Any]:
    result = with_absolute_paths(raw, base)
    if isinstance(result.get("labels"), str):
        result["labels"] = str((base / result["labels"]).resolve())
    if isinstance(result.get("run"), Mapping):
        result["run"] = with_absolute_paths(result["run"], base)
    if isinstance(result.get("arms"), Mapping):
        result["arms"] = {
            name: with_absolute_paths(change, base) if isinstance(change, Mapping) else change
            for name, change in result["arms"].items()
        }
    for axis, field in AXES.items():
        if isinstance(result.get(axis), Mapping):
            result[axis] = {
                name: with_absolute_paths({field: item}, base)[field] for name, item in result[axis].items()
            }
    return result
