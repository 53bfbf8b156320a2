"""What lies at a path that a command was given, and which command is meant where that is something else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import click

from turngate.errors import ConfigError, UserError
from turngate.image_files import IMAGE_SUFFIXES

__all__ = ["PlacePath", "check_place", "place_of"]

Place = Literal[
    "run", "run.json", "study", "study.json", "runs", "config", "study file", "image", "file", "folder", "none"
]
"""Folder of a run or of a study, and the record in each; a folder with runs somewhere below; the YAML file of a run or
of a study; an image; any other file or folder; nothing."""

_WORDS: Mapping[Place, str] = {
    "run": "the folder of a run",
    "run.json": "the record of a run",
    "study": "the folder of a study",
    "study.json": "the record of a study",
    "runs": "a folder of several runs",
    "config": "the configuration of a run",
    "study file": "a study",
    "image": "an image",
    "file": "a file",
}

_SUFFIXES = (".yaml", ".yml", ".json")

_HOLDS_RUNS = "give the folder that holds the runs, {parent} perhaps"
_ANSWERS: Mapping[str, Mapping[Place, str]] = {
    "": {
        "config": "`turngate run {path}` makes a run of it",
        "study file": "`turngate study {path}` runs it",
        "run": "`turngate report {path}` writes its page",
        "study": "`turngate report {path}` writes its page, `turngate list {path}` names its runs",
        "run.json": "give its folder, {parent}",
        "study.json": "give its folder, {parent}",
    },
    "run": {
        "run": "`turngate resume {path}` goes on with it, `turngate run {path}/run.json` runs it once more",
        "study": "`turngate study FILE --out {path}` goes on with it, FILE being the study that made it",
        "runs": "give the YAML file of a run; `turngate list {path}` names the runs",
    },
    "study": {
        "run": "`turngate resume {path}` goes on with it",
        "run.json": "`turngate run {path}` runs it once more",
        "study": "give the file of the study, with --out {path}; `turngate report {path}` writes its page",
        "study.json": "give the file of the study, with --out {parent}; `turngate report {parent}` writes its page",
        "runs": "give the YAML file of a study; `turngate list {path}` names the runs",
    },
    "resume": {
        "study": "`turngate study FILE --out {path}` goes on with all its runs; one of them: `turngate resume {first}`",
    },
    "import": {
        "run": "it is on record already: `turngate show {path}`, or `turngate score {path} --with NAME`",
        "run.json": "it is on record already: `turngate show {parent}`, or `turngate score {parent} --with NAME`",
        "study": "it is on record already: `turngate report {path}`, or `turngate score {path} --with NAME`",
        "runs": "they are on record already: `turngate list {path}`, or `turngate score {path} --with NAME`",
    },
    "doctor": {"run": "give its configuration, {path}/run.json", "study": "give the YAML file of the study"},
    "list": {"image": _HOLDS_RUNS, "file": _HOLDS_RUNS},
    "view": {"image": _HOLDS_RUNS, "file": _HOLDS_RUNS},
}
"""Command -> what was given instead -> which command is meant; under "" what holds for all others."""

_ANY_FOLDER: frozenset[Place] = frozenset({"run", "study", "runs", "folder"})
_ONE_RUN = "give one of its runs: `turngate {command} {first}`"


def place_of(path: Path) -> Place:
    """What lies at `path`; reads no more than a YAML file."""
    if path.is_dir():
        if (path / "run.json").is_file():
            return "run"
        if (path / "study.json").is_file():
            return "study"
        return "runs" if _first_run(path) else "folder"
    if not path.is_file():
        return "none"
    if path.name in ("run.json", "study.json"):
        return "run.json" if path.name == "run.json" else "study.json"
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES:
        return _kind_of_file(path)
    return "image" if suffix in IMAGE_SUFFIXES else "file"


def _kind_of_file(path: Path) -> Place:
    from turngate.yaml_text import read_yaml

    raw: Any = None
    with suppress(ConfigError):  # the command that wants such a file says what is wrong with it
        raw = read_yaml(path)
    if not isinstance(raw, dict):
        return "file"
    if "arms" in raw:
        return "study file"
    return "config" if raw.keys() & {"editor", "scenario", "gate"} else "file"


def _first_run(path: Path) -> Path | None:
    from turngate.traces.run_folder import find_runs

    return next(islice(find_runs(path), 1), None)


def check_place(path: Path, command: str, *wanted: Place) -> None:
    """Raise `UserError` where `path` is something that another command is for; `wanted` is what `command` takes.

    What is not recognised is left to the command, which knows what it looked for.
    """
    if set(wanted) >= _ANY_FOLDER and path.is_dir():
        return  # without a walk through all that is below
    found = place_of(path)
    if found in wanted:
        return
    answer = _ANSWERS.get(command, {}).get(found)
    first = _first_run(path) if found in ("study", "runs") else None
    if answer is None and first is not None and "run" in wanted:
        answer = _ONE_RUN + (", `turngate report {path}` writes the page of all" if found == "study" else "")
    answer = answer or _ANSWERS[""].get(found)
    if answer is None:
        return
    named = {"path": path, "parent": path.parent, "first": first or path / "ARM"}
    told = answer.format(command=command, **{name: shlex.quote(str(one)) for name, one in named.items()})
    raise UserError(f"{path} is {_WORDS[found]}: {told}")


class PlacePath(click.Path):
    """A path argument that says which command is meant when it is something that this one is not for."""

    def __init__(self, *wanted: Place) -> None:
        super().__init__(path_type=Path)
        self._wanted = wanted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; raises `UserError`."""
        path = Path(str(super().convert(value, param, ctx)))
        if ctx is not None and ctx.info_name is not None and not ctx.resilient_parsing:
            check_place(path, ctx.info_name, *self._wanted)
        return path
