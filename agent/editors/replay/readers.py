"""The chain that numbered image files in a folder make."""

from __future__ import annotations

import re
from pathlib import Path

from turngate.agent.editors._replay_image import identify
from turngate.agent.editors.replay.chain import Chain, Recorded, linked
from turngate.errors import ConfigError
from turngate.picture import EXTENSIONS

__all__ = ["read_folder"]

_LAST_NUMBER = r"(?P<turn>\d+)\D*$"
_SUFFIXES = {f".{extension}" for extension in EXTENSIONS.values()} | {".jpeg", ".tiff"}


def read_folder(folder: Path, pattern: str | None) -> Chain:
    """The images in `folder`, by the last number in each name; number 0 is the origin.

    With `pattern` (a regular expression with a group `turn` and perhaps `attempt`) they are those at any depth whose
    path, relative to `folder` and with `/`, holds a match; others are left out. Raises `ConfigError` or `BadImage`.
    """
    recorded = []
    for file in _images(folder, deep=pattern is not None):
        name = file.relative_to(folder).as_posix() if pattern else file.stem
        found = re.search(pattern or _LAST_NUMBER, name)
        if found:
            turn, attempt = _number(found, "turn", file), _number(found, "attempt", file)
            recorded.append(Recorded(turn, attempt, file, identify(file, "editor.source")))
        elif pattern is None:
            raise ConfigError(f"editor.source: {file} has no number: rename it, or say with `pattern` which are meant")
    if not any(one.turn for one in recorded):
        raise ConfigError(f"editor.source: {folder} {_lacks(folder, pattern)}")
    numbered = "its paths by pattern" if pattern else "the last number in each name is its turn, or give `pattern`"
    return Chain.of(linked(recorded), f"{folder} ({numbered})")


def _images(folder: Path, deep: bool) -> list[Path]:
    paths = folder.rglob("*") if deep else folder.iterdir()
    return sorted(path for path in paths if _is_image(path))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES and not path.name.startswith(".") and path.is_file()


def _number(found: re.Match[str], group: str, file: Path) -> int:
    text = found[group] if group in found.re.groupindex else "1"
    if text is None or not re.fullmatch(r"\d{1,9}", text):
        raise ConfigError(f"editor.pattern: {file} gives {group} {text!r}, which is no number")
    return int(text)


def _lacks(folder: Path, pattern: str | None) -> str:
    runs = sorted(file.parent.name for file in folder.glob("*/run.json"))
    if runs:
        return f"is a folder of runs: give one of them ({', '.join(runs)[:100]})"
    images = _images(folder, deep=pattern is not None)
    if images and pattern:
        return f"has images, but no path with a turn above 0 fits pattern {pattern!r}: one is {images[0].name}"
    return "holds no run (run.json) and no images that are numbered from 1"
