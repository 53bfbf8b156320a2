"""From a study file to the list of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig, derive
from turngate.graphs.load import apply_overrides, merge, parse_config, read_mapping, with_absolute_paths
from turngate.graphs.study.config import StudyConfig, control_arm
from turngate.registry import explain, nearest

__all__ = ["Job", "Study", "read_study"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True)
class Job:
    """One run of a study."""

    arm: str
    control: bool
    """The arm is a control, not one of the file's own."""
    origin: str
    """Name of the origin; the cluster of the statistics."""
    scenario: str
    editor: str
    repeat: int
    """1-based."""
    config: RunConfig
    path: Path
    """Folder of the run, relative to the study's."""
    like: tuple[str, ...] = ()
    """Arms of the same cell whose mean acceptance rate this run's random gate takes; they run first."""

    @property
    def cell(self) -> tuple[str, str, str, int]:
        """What the arms have in common: origin, scenario, editor, repeat."""
        return self.origin, self.scenario, self.editor, self.repeat


@dataclass(frozen=True)
class Study:
    """A checked study."""

    config: StudyConfig
    jobs: tuple[Job, ...]
    """All runs, arm by arm."""


def read_study(path: Path, overrides: Sequence[str] = ()) -> Study:
    """Read a study and check every run before anything runs; raises `ConfigError` that names file, run and field.

    Cells are origins x scenarios x editors x repeats, and every arm is run on each. With origins or repeats the seed
    is derived from the study's seed, the origin's name and the repeat: the same in every arm, for every editor.
    """
    raw = with_absolute_paths(read_mapping(path), path.parent)
    try:
        config = StudyConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error, StudyConfig)}") from None
    return Study(config, tuple(_jobs(config, path, overrides)))


def _jobs(config: StudyConfig, source: Path, overrides: Sequence[str]) -> Iterator[Job]:
    reader = config.reader.model_dump(mode="json") if config.reader else None
    controls = [name for name in config.controls if name != "oracle" or config.run.get("truth")]
    arms: dict[str, tuple[bool, dict[str, Any]]] = {name: (False, change) for name, change in config.arms.items()}
    for name in controls:
        arms.setdefault(name, (True, control_arm(name)))
    _check_names(arms, source, "arms")
    gated = {name for name, (control, change) in arms.items() if not control and "like" not in _gate_of(change)}
    for arm, (control, change) in arms.items():
        like, change = _likeness(change, arm, gated, source)
        for cell in _cells(config, source):
            if "editor" in change and config.editors and cell.editor != next(iter(config.editors)):
                continue  # an arm with an editor of its own is the same for all editors of the grid
            merged: dict[str, Any] = {"name": f"{arm}-{cell.label}"[:64].rstrip("-"), "reader": reader}
            merged |= config.run
            for laid in (cell.fields, change):
                merged = merge(merged, laid)
            if cell.seeded:
                merged["seed"] = derive(int(merged.get("seed", 0)), "cell", cell.origin, cell.repeat)
            raw = apply_overrides(with_absolute_paths(merged, source.parent), overrides)
            where = f"{source}, arm {arm}" + (f", {cell.label}" if cell.label else "")
            checked = parse_config(raw, where)
            path = Path(arm, cell.label) if cell.label else Path(arm)
            yield Job(arm, control, cell.origin, cell.scenario, cell.editor, cell.repeat, checked, path, like)


@dataclass(frozen=True)
class _Cell:
    origin: str
    scenario: str
    editor: str
    repeat: int
    fields: dict[str, Any]
    label: str
    """Names of what varies, joined; empty when nothing does."""
    seeded: bool


def _cells(config: StudyConfig, source: Path) -> Iterator[_Cell]:
    axes = {"origin": config.origins, "scenario": config.scenarios, "editor": config.editors}
    for axis, named in axes.items():
        _check_names(named, source, f"{axis}s")
    grid = [list(named) or [""] for named in axes.values()]
    for (origin, scenario, editor), repeat in product(product(*grid), range(1, config.repeats + 1)):
        chosen = {"origin": origin, "scenario": scenario, "editor": editor}
        fields = {axis: axes[axis][name] for axis, name in chosen.items() if name}
        components = [*filter(None, chosen.values()), *([f"r{repeat}"] if config.repeats > 1 else [])]
        seeded = bool(config.origins) or config.repeats > 1
        yield _Cell(origin, scenario, editor, repeat, fields, "--".join(components), seeded)


def _likeness(
    change: dict[str, Any], arm: str, gated: set[str], source: Path
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Take `like` out of a random gate: the arms that it is matched to, and the arm without it."""
    gate = _gate_of(change)
    if "like" not in gate:
        return (), change
    like = gate["like"]
    if like == "*":
        names = tuple(sorted(gated - {arm}))
    elif isinstance(like, str) and like in gated and like != arm:
        names = (like,)
    else:
        raise ConfigError(
            f"{source}: arms.{arm}.gate.like: {like!r} is no other arm{nearest(str(like), sorted(gated))}"
        )
    stripped = {key: value for key, value in gate.items() if key != "like"}
    # Until the other arms have run the rate is not known; the plan shows one half.
    return names, {**change, "gate": {"accept_rate": 0.5, **stripped}}


def _gate_of(change: Mapping[str, Any]) -> Mapping[str, Any]:
    gate = change.get("gate")
    return gate if isinstance(gate, Mapping) else {}


def _check_names(named: Mapping[str, Any], source: Path, field: str) -> None:
    for name in named:
        if not _NAME.fullmatch(name) or "--" in name:
            raise ConfigError(
                f"{source}: {field}.{name}: a name has up to 40 letters, digits, '.', '_' and single '-', "
                "and starts with a letter or digit"
            )
