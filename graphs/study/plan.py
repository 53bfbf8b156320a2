"""From a study file to the list of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError, UserError
from turngate.graphs.components import Components
from turngate.graphs.config import OriginConfig, RunConfig, derive
from turngate.graphs.load import apply_overrides, merge, parse_config, read_mapping, with_absolute_paths
from turngate.graphs.origin import load_origin
from turngate.graphs.readiness import Faults, Readiness, same_pictures
from turngate.graphs.study.config import StudyConfig, control_arm
from turngate.graphs.study.overrides import apply_to_study, split_overrides
from turngate.picture import Picture
from turngate.registry import explain, look_beside, nearest

__all__ = [
    "PER_ORIGIN",
    "Job",
    "RecordedChains",
    "Study",
    "check_study",
    "editor_for",
    "parse_study",
    "plan_study",
    "read_study",
    "same_origins",
]

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

    place: str = ""
    """How errors call it: file, arm and cell."""

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
    remarks: tuple[str, ...] = ()
    """What to know before it runs, one line each: cells of the grid that are left out, chains of unknown origin."""
    faults: Faults = field(default_factory=Faults)
    """Runs whose configuration is wrong; they are not among `jobs`. `read_study` raises them."""


def read_study(path: str | Path, overrides: Sequence[str] = ()) -> Study:
    """Read a study and check every run before anything runs; raises `ConfigError` that names file, run and field.

    Where several runs are wrong it is a `NotReady`, with a line for each fault. Origins, keys and weights are not
    looked at, see `check_study`.

    Cells are origins x scenarios x editors x repeats, and every arm is run on each. With origins or repeats the seed
    is derived from the study's seed, the origin's name and the repeat: the same in every arm, for every editor.

    A recorded chain runs on the origin that it was recorded from. An editor of the grid is left out of other origins; a
    chain that is paired with another picture by name, or fits no origin of the grid, is an error.
    """
    study = plan_study(path, overrides)
    study.faults.raise_any()
    return study


def plan_study(path: str | Path, overrides: Sequence[str] = ()) -> Study:
    """The study as `read_study` gives it, with what is wrong with its runs in `faults` in place of an error."""
    return _planned(read_mapping(Path(path)), Path(path), overrides)


def parse_study(raw: Mapping[str, Any], overrides: Sequence[str] = ()) -> Study:
    """Check a study that a program made, as `read_study` does; paths are relative to the working folder.

    Components may be objects. Raises `ConfigError` that names run and field.
    """
    study = _planned(raw, Path("study"), overrides)
    study.faults.raise_any()
    return study


def _planned(given: Mapping[str, Any], source: Path, overrides: Sequence[str]) -> Study:
    of_study, of_runs = split_overrides(overrides)
    if of_study:
        given = apply_to_study(given, of_study, source.parent)
    raw = with_absolute_paths(given, source.parent)
    if isinstance(raw.get("labels"), str):
        raw["labels"] = str((source.parent / raw["labels"]).resolve())
    look_beside(source.parent.resolve())
    try:
        config = StudyConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{source}: {explain(error, StudyConfig)}") from None
    return _Plan(config, source, of_runs).study()


class _Plan:
    """The arms and cells of one study file, on the way to its jobs."""

    def __init__(self, config: StudyConfig, source: Path, overrides: Sequence[str]) -> None:
        self.config, self.source, self.overrides = config, source, overrides
        self.chains = RecordedChains()
        self.faults = Faults()
        self.reader = config.reader.model_dump(mode="json") if config.reader else None
        controls = [name for name in config.controls if name != "oracle" or config.run.get("truth")]
        self.arms: dict[str, tuple[bool, dict[str, Any]]] = {
            name: (False, change) for name, change in config.arms.items()
        }
        for name in controls:
            self.arms.setdefault(name, (True, control_arm(name)))
        _check_names(self.arms, source, "arms")

    def study(self) -> Study:
        """The checked study."""
        grid = list(_cells(self.config, self.source))
        cells = [cell for cell in grid if not cell.left_out]
        foreign = self._foreign(cells)
        cells = [cell for cell in cells if cell.pair not in foreign]
        self._check_coverage(cells, foreign)
        jobs = tuple(self._jobs(cells))
        remarks = (*_left_out(grid, foreign), *self._unknown_origins(jobs))
        return Study(self.config, jobs, remarks, self.faults)

    def _jobs(self, cells: Sequence[_Cell]) -> Iterator[Job]:
        gated = {
            name for name, (control, change) in self.arms.items() if not control and "like" not in _gate_of(change)
        }
        for arm, (control, change) in self.arms.items():
            like, change = _likeness(change, arm, gated, self.source)
            done: set[tuple[str, str, int]] = set()
            for cell in cells:
                if "editor" in change and self.config.editors:
                    place = cell.origin, cell.scenario, cell.repeat
                    if place in done:
                        continue  # an arm with an editor of its own is the same for all editors of the grid
                    done.add(place)
                where = self._where(arm, cell)
                try:
                    checked = self._checked(arm, change, cell)
                    misfit = self.chains.misfit(checked)
                    if misfit:
                        raise ConfigError(f"origin: {misfit}")
                except UserError as error:
                    self.faults.add(where, error)
                    continue
                path = Path(arm, cell.label) if cell.label else Path(arm)
                yield Job(
                    arm, control, cell.origin, cell.scenario, cell.editor, cell.repeat, checked, path, like, where
                )

    def _checked(self, arm: str, change: Mapping[str, Any], cell: _Cell) -> RunConfig:
        """The configuration of one run; raises `ConfigError` that does not say which run it is about."""
        merged: dict[str, Any] = {"name": f"{arm}-{cell.label}"[:64].rstrip("-"), "reader": self.reader}
        merged |= self.config.run
        for laid in (cell.fields, change):
            merged = merge(merged, laid)
        if cell.seeded:
            merged["seed"] = derive(int(merged.get("seed", 0)), "cell", cell.origin, cell.repeat)
        if "editor" in merged:
            editor = editor_for(merged["editor"], cell.origin, list(self.config.origins), "editor")
            if editor is None:
                raise ConfigError(f"editor.per_origin: lists no fields for origin {cell.origin!r}")
            merged["editor"] = editor
        raw = apply_overrides(with_absolute_paths(merged, self.source.parent), self.overrides)
        raw = with_absolute_paths(raw, Path.cwd())
        return parse_config(raw, "", self.source.parent)

    def _where(self, arm: str, cell: _Cell) -> str:
        return f"{self.source}, arm {arm}" + (f", {cell.label}" if cell.label else "")

    def _foreign(self, cells: Sequence[_Cell]) -> dict[tuple[str, str], str]:
        """Pairs of origin and editor of the grid that do not fit, with the reason; those paired by name are not it."""
        plain = next((arm for arm, (_, change) in self.arms.items() if not {"editor", "origin"} & change.keys()), None)
        if plain is None or not self.config.editors:
            return {}
        _, change = _likeness(self.arms[plain][1], plain, set(self.arms), self.source)
        found: dict[tuple[str, str], str] = {}
        for cell in cells:
            if cell.pair not in found and not cell.by_name:
                try:
                    misfit = self.chains.misfit(self._checked(plain, change, cell))
                except UserError:  # told with the runs that it concerns
                    continue
                if misfit:
                    found[cell.pair] = misfit
        return found

    def _check_coverage(self, cells: Sequence[_Cell], foreign: Mapping[tuple[str, str], str]) -> None:
        """Raise `ConfigError` where an editor or an origin of the grid is left without any run."""
        for name in self.config.editors:
            if all(cell.editor != name for cell in cells):
                why = next(
                    (why for (_, editor), why in foreign.items() if editor == name), "per_origin lists no origin"
                )
                raise ConfigError(f"{self.source}: editors.{name} fits no origin of the study: {why}")
        for name in self.config.origins:
            if all(cell.origin != name for cell in cells):
                raise ConfigError(
                    f"{self.source}: origins.{name}: no editor of the study is run on it, each is a chain that was "
                    "recorded from another picture: leave the origin out, or add its chain to `editors`"
                )

    def _unknown_origins(self, jobs: Iterable[Job]) -> Iterator[str]:
        """One remark for each editor whose record does not say from which picture it was made."""
        runs: dict[str, set[str]] = {}
        for job in jobs:
            if not self.chains.knows_origin(job.config):
                runs.setdefault(f"editors.{job.editor}" if job.editor else "editor", set()).add(job.origin)
        for name, origins in runs.items():
            fits = f"it runs on {len(origins)} origins and fits one picture at most, " if len(origins) > 1 else ""
            yield (
                f"{name}: the record does not say from which picture it was made: {fits}"
                "whether it fits is not checked; add the picture as number 0"
            )


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
    by_name: bool
    """The editor's fields are those that its `per_origin` lists for this origin."""
    left_out: bool
    """`per_origin` lists other origins only."""

    @property
    def pair(self) -> tuple[str, str]:
        """Origin and editor."""
        return self.origin, self.editor


def _cells(config: StudyConfig, source: Path) -> Iterator[_Cell]:
    axes = {"origin": config.origins, "scenario": config.scenarios, "editor": config.editors}
    for axis, named in axes.items():
        _check_names(named, source, f"{axis}s")
    grid = [list(named) or [""] for named in axes.values()]
    for (origin, scenario, editor), repeat in product(product(*grid), range(1, config.repeats + 1)):
        chosen = {"origin": origin, "scenario": scenario, "editor": editor}
        fields = {axis: axes[axis][name] for axis, name in chosen.items() if name}
        given = config.editors.get(editor)
        resolved = editor_for(given, origin, list(config.origins), f"{source}: editors.{editor}")
        by_name = resolved is not given
        if by_name:
            fields["editor"] = resolved
        components = [*filter(None, chosen.values()), *([f"r{repeat}"] if config.repeats > 1 else [])]
        seeded = bool(config.origins) or config.repeats > 1
        label = "--".join(components)
        yield _Cell(origin, scenario, editor, repeat, fields, label, seeded, by_name, by_name and resolved is None)


def _left_out(grid: Iterable[_Cell], foreign: Mapping[tuple[str, str], str]) -> list[str]:
    """What to say about the cells that are not run."""
    unlisted = dict.fromkeys(cell.pair for cell in grid if cell.left_out)
    remarks = [
        f"editors.{editor} is not run on origin {origin}: per_origin does not list it" for origin, editor in unlisted
    ]
    if foreign:
        remarks.append(
            f"{len(foreign)} pairs of origin and editor are left out: a recorded chain runs only on the picture that "
            "it was recorded from"
        )
    return remarks


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


# Recorded chains of a study: which chain runs on which origin.


PER_ORIGIN = "per_origin"
"""Field of an editor in a study: name of an origin -> fields of the editor on that origin."""


def editor_for(raw: Any, origin: str, origins: Sequence[str], where: str) -> Any:
    """The editor `raw` on the origin of that name: its own fields with those of `per_origin` laid over them.

    None where `per_origin` lists other origins only. Raises `ConfigError` that starts with `where` (a field path) for
    names that are no origin of the study.
    """
    if not isinstance(raw, Mapping) or PER_ORIGIN not in raw:
        return raw
    listed = raw[PER_ORIGIN]
    if not isinstance(listed, Mapping) or not all(isinstance(fields, Mapping) for fields in listed.values()):
        raise ConfigError(f"{where}.{PER_ORIGIN}: name origins with their fields, for instance a: {{source: chains/a}}")
    for name in listed:
        if name not in origins:
            hint = nearest(str(name), list(origins)) if origins else ": give the study `origins`"
            raise ConfigError(f"{where}.{PER_ORIGIN}.{name}: no origin is called {name!r}{hint}")
    if origin not in listed:
        return None
    return {**{key: value for key, value in raw.items() if key != PER_ORIGIN}, **listed[origin]}


class RecordedChains:
    """The chains of a study's editors, each read once, and the origins that they are held against."""

    def __init__(self) -> None:
        self._editors: dict[str, Any] = {}
        self._misfits: dict[tuple[str, str], str | None] = {}
        self._latest: tuple[str, Picture] | None = None

    def misfit(self, config: RunConfig) -> str | None:
        """Why the editor of `config` was not recorded from its origin; None where it was, or is no recorded chain.

        Raises `UserError` when the chain or the origin cannot be read.
        """
        editor = self._editor(config)
        return None if editor is None else self._checked(editor, config)

    def knows_origin(self, config: RunConfig) -> bool:
        """The editor is no recorded chain, or one whose record holds the picture before turn 1."""
        editor = self._editor(config)
        return editor is None or bool(editor.knows_origin)

    def _editor(self, config: RunConfig) -> Any:
        """The editor of `config`; None where it is none that serves a record."""
        if not hasattr(EDITORS.find(config.editor.type), "misfit"):
            return None
        key = config.editor.model_dump_json()
        if key not in self._editors:
            self._editors[key] = EDITORS.build(config.editor)
        return self._editors[key]

    def _checked(self, editor: Any, config: RunConfig) -> str | None:
        key = config.editor.model_dump_json(), config.origin.model_dump_json()
        if key not in self._misfits:
            self._misfits[key] = editor.misfit(self._picture(config.origin))
        return self._misfits[key]

    def _picture(self, origin: OriginConfig) -> Picture:
        """The decoded origin. Only the latest one is kept: the grid goes through origins one by one."""
        key = origin.model_dump_json()
        if self._latest is None or self._latest[0] != key:
            self._latest = key, load_origin(origin)
        return self._latest[1]


# What its runs need, looked at before the first of them.


def check_study(study: Study) -> tuple[dict[Path, Components], tuple[str, ...]]:
    """Look at all that the runs of a study need: origins, files, keys, weights, and whether their parts fit together.

    Gives the components of every run by its path, those that load weights in outline, and remarks: pictures that have
    two names, settings that do nothing. Raises the only fault as it is, or all of them as `NotReady`, those of
    `study.faults` too.
    """
    ready = Readiness(faults=study.faults)
    found = {job.path: ready.look(job.place, job.config) for job in study.jobs}
    ready.faults.raise_any()
    whole = {path: components for path, components in found.items() if components is not None}
    idle: dict[str, list[str]] = {}
    for job in study.jobs:
        for line in whole[job.path].idle:
            idle.setdefault(line, []).append(job.arm)
    remarks = [f"does nothing: {line} (arm {', '.join(dict.fromkeys(arms))})" for line, arms in idle.items()]
    left_out = dict.fromkeys(getattr(components.editor, "left_out", "") for components in whole.values())
    return whole, (*same_origins(study, ready), *remarks, *filter(None, left_out))


def same_origins(study: Study, ready: Readiness) -> list[str]:
    """One sentence for each picture that several origins of the study are; those that cannot be read are left out."""
    identities = ((job.origin, ready.origin(job.config.origin)) for job in study.jobs if job.origin)
    return same_pictures((name, identity) for name, identity in identities if isinstance(identity, str))
