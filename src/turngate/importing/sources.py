"""Where frames come from: a path pattern, or a file that lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from turngate.errors import ConfigError, UserError
from turngate.image_files import is_image_name
from turngate.importing.chains import FoundFrame, FoundTree, OriginOf, chains_of
from turngate.importing.pattern import PathPattern
from turngate.manifest import manifest_rows
from turngate.registry import explain

__all__ = ["frames_by_pattern", "from_map", "from_pattern", "origins_by"]


def from_pattern(text: str, origin: str | None = None, renumber: bool = False) -> FoundTree:
    """The chains whose frames fit a path pattern.

    Raises `ConfigError` for a pattern that cannot be used, `UserError` where nothing fits it: it says what is there and
    which pattern is close.
    """
    pattern = PathPattern(text)
    pattern.need("turn")
    frames = list(frames_by_pattern(pattern))
    if not frames:
        raise UserError(pattern.explain())
    return chains_of(frames, _name_of(pattern.root), origins_by(origin), renumber)


def frames_by_pattern(pattern: PathPattern) -> Iterator[FoundFrame]:
    """The frames that fit a pattern with `{turn}`."""
    if "attempt" in pattern.names:
        raise ConfigError(f"the pattern {pattern.text!r}: a chain has one frame for a turn, so no field {{attempt}}")
    own = pattern.frame_fields & {"instruction"}
    for found in pattern.walk():
        if not _is_text(found.file):
            raise UserError(f"{str(found.file)!r}: the name is not UTF-8: rename it")
        chain = {name: text for name, text in found.fields.items() if name != "turn" and name not in own}
        turn = found.fields["turn"]
        instruction = found.fields.get("instruction") if own else None
        yield FoundFrame(_absolute(found.file), chain, int(turn), turn, instruction=instruction)


def origins_by(text: str | None) -> OriginOf | None:
    """The origin of a chain by a pattern whose fields are the chain's: `seeds/{origin}.*`; None without one."""
    if text is None:
        return None
    pattern = PathPattern(text, "--origin")
    if "turn" in pattern.names:
        raise ConfigError(f"--origin {text!r}: an origin has no {{turn}}")

    def origin_of(fields: Mapping[str, str]) -> Path | None:
        file = pattern.fill(fields)
        if not pattern.takes_any_suffix:
            return _absolute(file) if file.is_file() else None
        stem = file.name.removesuffix(".*")
        beside = sorted(file.parent.glob("*")) if file.parent.is_dir() else []
        fits = (one for one in beside if one.stem == stem and is_image_name(one.name) and one.is_file())
        return next(map(_absolute, fits), None)

    return origin_of


# A file that lists the frames: the way in for trees of any shape.

_Text = Annotated[str | None, BeforeValidator(lambda cell: str(cell).strip() or None if cell is not None else None)]
_VERDICTS = {"1": True, "true": True, "yes": True, "y": True, "0": False, "false": False, "no": False, "n": False}


def _verdict(cell: Any) -> Any:
    word = str(cell).strip().lower()
    return _VERDICTS.get(word, cell) if word and cell is not None else None


class _FrameRow(BaseModel, use_attribute_docstrings=True):
    """One frame; columns that are not here are left alone."""

    path: Annotated[str, BeforeValidator(lambda cell: str(cell).strip()), Field(min_length=1)]
    """Relative to the file that lists it, or absolute."""
    turn: int = Field(ge=0)
    origin: _Text = None
    """Name of the picture that the chain began with."""
    setting: _Text = None
    repeat: _Text = None
    editor: _Text = None
    """What made the chain; `model` where this is not given."""
    model: _Text = None
    instruction: _Text = None
    reasoning: _Text = None
    damaged: Annotated[bool | None, BeforeValidator(_verdict)] = None
    """A person's verdict: 0 or 1, yes or no, true or false."""


def from_map(file: Path, origin: str | None = None, renumber: bool = False) -> FoundTree:
    """The chains that a CSV file or JSON lines list, a frame in each row.

    Rows of one origin, setting, repeat and editor are a chain; rows of several models are one chain as long as no turn
    comes twice, for a model's name may change on the way. A row of turn 0 that leaves columns empty is the origin of
    all chains that it fits. Raises `ConfigError` that names file and line.
    """
    rows = _json_rows(file) if file.suffix.lower() in (".jsonl", ".ndjson") else _csv_rows(file)
    frames = _with_shared_origins(_by_model([_frame(file, row) for _, row in rows]))
    if not frames:
        raise UserError(f"--map: {file} lists no frames")
    tree = chains_of([frame for frame in frames if frame.file.is_file()], file.stem, origins_by(origin), renumber)
    missing = [f"no image at {frame.file}: it is left out" for frame in frames if not frame.file.is_file()]
    if len(missing) == len(frames):
        raise UserError(f"--map: none of the {len(frames)} paths in {file} is there; the first is {frames[0].file}")
    return FoundTree(tree.chains, (*missing, *tree.problems), tree.notes)


def _csv_rows(file: Path) -> Iterator[tuple[int, _FrameRow]]:
    return manifest_rows(file, _FrameRow, ("path", "turn"), "--map")


def _json_rows(file: Path) -> Iterator[tuple[int, _FrameRow]]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--map: cannot read {file}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"--map: {file}, line {number}"
        try:
            raw = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{where}: not valid JSON: {error}") from None
        if not isinstance(raw, dict):
            raise ConfigError(f"{where}: a line is an object with the fields path and turn")
        try:
            yield number, _FrameRow.model_validate(raw)
        except ValidationError as error:
            raise ConfigError(explain(error, _FrameRow, where)) from None


def _frame(file: Path, row: _FrameRow) -> FoundFrame:
    given = {"origin": row.origin, "setting": row.setting, "repeat": row.repeat, "editor": row.editor}
    return FoundFrame(
        _absolute(file.parent / row.path),
        {name: text for name, text in given.items() if text},
        row.turn,
        str(row.turn),
        instruction=row.instruction,
        reasoning=row.reasoning,
        model=row.model,
        damaged=row.damaged,
    )


_Key = tuple[tuple[str, str], ...]


def _by_model(frames: list[FoundFrame]) -> list[FoundFrame]:
    """The frames with the field `model` where it tells chains apart, or where a chain has one."""
    groups: dict[_Key, list[FoundFrame]] = {}
    for frame in frames:
        groups.setdefault(tuple(sorted(frame.fields.items())), []).append(frame)
    found = []
    for group in groups.values():
        models = list(dict.fromkeys(frame.model for frame in group if frame.model))
        if "editor" in group[0].fields or not models:
            found += group
        elif len({frame.turn for frame in group}) == len(group):
            found += [replace(frame, fields={**frame.fields, "model": " / ".join(models)}) for frame in group]
        else:
            found += [
                replace(frame, fields={**frame.fields, "model": frame.model}) if frame.model else frame
                for frame in group
            ]
    return found


def _with_shared_origins(frames: list[FoundFrame]) -> list[FoundFrame]:
    """The frames, with the origin of every chain that has none and that a row of turn 0 fits."""
    groups: dict[_Key, list[FoundFrame]] = {}
    for frame in frames:
        groups.setdefault(tuple(sorted(frame.fields.items())), []).append(frame)
    alone = {key: group[0] for key, group in groups.items() if {frame.turn for frame in group} == {0}}
    used, found = set(), []
    for key, group in groups.items():
        if key in alone:
            continue
        found += group
        if all(frame.turn for frame in group):
            fits = [other for other in alone if set(other) <= set(key)]
            if fits:
                best = max(fits, key=len)
                used.add(best)
                found.append(replace(alone[best], fields=group[0].fields))
    return found + [frame for key, frame in alone.items() if key not in used]


def _name_of(folder: Path) -> str:
    return folder.resolve().name or "origin"


def _absolute(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        return file.absolute()


def _is_text(file: Path) -> bool:
    try:
        str(file).encode()
    except UnicodeEncodeError:
        return False
    return True
