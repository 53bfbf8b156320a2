"""Path patterns with named fields: `root/{origin}/{setting}/rep{repeat}/step_{turn}.png`, read and written."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from turngate.errors import ConfigError, MachineError
from turngate.image_files import IMAGE_SUFFIXES, images_below, is_image_name, natural

__all__ = ["Matched", "PathPattern", "is_pattern"]

_FIELD = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NUMBERS = {"turn": r"[0-9]{1,9}"}
_LOOKED_AT = 5000
"""Most files that are looked at for an example and a better pattern."""


@dataclass(frozen=True)
class Matched:
    """A file that fits, and what its path says."""

    file: Path
    fields: dict[str, str]


def is_pattern(text: str) -> bool:
    """The text has a field."""
    return _FIELD.search(text.replace("{{", "").replace("}}", "")) is not None


class PathPattern:
    """A path whose names hold fields in braces. `*` stands for anything within a name; `{{` and `}}` are braces.

    A field is one stretch of a name, never across folders; a field that occurs twice has one text in both places.
    `{turn}` is a number. Without a suffix, or with `.*`, every image suffix fits. Raises `ConfigError` when it is no
    pattern.
    """

    def __init__(self, text: str, option: str = "the pattern") -> None:
        text = os.path.expanduser(text)  # noqa: PTH111 - a pattern is no path yet
        self.text, self._option = text, option
        opened = text.replace("{{", "\0").replace("}}", "\1")  # braces that are meant as such
        parts = [part for part in opened.replace(os.sep, "/").split("/") if part not in ("", ".")]
        fixed = 0
        while fixed < len(parts) and not _FIELD.search(parts[fixed]) and "*" not in parts[fixed]:
            fixed += 1
        fixed = min(fixed, max(len(parts) - 1, 0))
        self.root = Path("/" if text.startswith("/") else ".", *map(_plain, parts[:fixed]))
        """The folder before the first field."""
        self._parts = parts[fixed:]
        self.names = tuple(dict.fromkeys(name for part in self._parts for name in self._fields(part)))
        """Names of the fields, in order."""

    def need(self, *names: str) -> None:
        """Raise `ConfigError` unless the pattern has these fields."""
        for name in names:
            if name not in self.names:
                raise ConfigError(f"{self._option} {self.text!r} has no field {{{name}}}: write one where it stands")

    @cached_property
    def frame_fields(self) -> frozenset[str]:
        """Fields of the file's name alone: they may differ from frame to frame."""
        before = {name for part in self._parts[:-1] for name in self._fields(part)}
        return frozenset(self._fields(self._parts[-1])) - before if self._parts else frozenset()

    def walk(self) -> Iterator[Matched]:
        """The files that fit, folder by folder in natural order; only folders that fit are looked into."""
        yield from self._below(self.root, 0, {})

    def fill(self, fields: Mapping[str, str]) -> Path:
        """The path with its fields filled in; raises `ConfigError` for a field that is not given.

        A number may have a width: `{turn:03}`. Slashes and other separators of a text become `-`: a field is one
        name.
        """
        return self.root.joinpath(*(self._filled(part, fields) for part in self._parts))

    @property
    def takes_any_suffix(self) -> bool:
        """The last name has no suffix of its own, or `.*`."""
        return not self._parts or _suffix(self._parts[-1]) is None

    def explain(self) -> str:
        """Why nothing fits: what is there instead, and a pattern that fits it, in one line."""
        if not self.root.is_dir():
            there = next((folder for folder in (self.root, *self.root.parents) if folder.is_dir()), Path())
            step = self.root.relative_to(there).parts[0] if there != Path() else self.root.parts[0]
            folders = [one.name for one in there.iterdir() if one.is_dir()]
            near = difflib.get_close_matches(step, folders, n=1)
            instead = f"; did you mean {near[0]!r}?" if near else f": {there} has {_listed(there)}"
            return f"no folder {self.root}{instead}"
        found = images_below(self.root, _LOOKED_AT)
        if not found:
            return f"no image below {self.root}: it has {_listed(self.root)}"
        number = f"{len(found)} images" if len(found) < _LOOKED_AT else f"more than {_LOOKED_AT} images"
        relative = [file.relative_to(self.root).as_posix() for file in found]
        close = _suggested(relative)
        hint = f"; try {(self.root / close).as_posix()!r}" if close else ", and none has a number in its name"
        return f"no path fits {self.text!r}; {self.root} has {number}, for instance {relative[0]!r}{hint}"

    def _below(self, folder: Path, depth: int, fields: dict[str, str]) -> Iterator[Matched]:
        if depth >= len(self._parts):
            return
        last = depth == len(self._parts) - 1
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    (entry.name for entry in entries if (entry.is_file() if last else entry.is_dir())), key=natural
                )
        except FileNotFoundError:
            return
        except OSError as error:
            raise MachineError(f"cannot read {folder}: {error.strerror or error}") from None
        expression = self._expressions[depth]
        for name in names:
            if name.startswith(".") or (last and not is_image_name(name)):
                continue
            match = expression.fullmatch(name)
            if match is None or any(fields.get(key, text) != text for key, text in match.groupdict().items()):
                continue
            found = {**fields, **match.groupdict()}
            if last:
                yield Matched(folder / name, found)
            else:
                yield from self._below(folder / name, depth + 1, found)

    @cached_property
    def _expressions(self) -> list[re.Pattern[str]]:
        compiled = [re.compile(self._expression(part)) for part in self._parts[:-1]]
        if self._parts:
            part, suffix = self._parts[-1], _suffix(self._parts[-1])
            stem = part[: -len(suffix)] if suffix else part.removesuffix(".*")
            tail = f"(?i:{re.escape(suffix)})" if suffix else r"\.[^.]+"
            compiled.append(re.compile(self._expression(stem) + tail))
        return compiled

    def _expression(self, part: str) -> str:
        made, seen, at = "", set[str](), 0
        for found in _FIELD.finditer(part):
            made += _literal(part[at : found.start()])
            name = found[1].partition(":")[0]
            made += f"(?P={name})" if name in seen else f"(?P<{name}>{_NUMBERS.get(name, '.+?')})"
            seen.add(name)
            at = found.end()
        return made + _literal(part[at:])

    def _fields(self, part: str) -> list[str]:
        names = []
        for found in _FIELD.finditer(part):
            name = found[1].partition(":")[0]
            if not _NAME.fullmatch(name):
                raise ConfigError(
                    f"{self._option} {self.text!r}: {{{found[1]}}} is no field: a name has small letters, digits and _"
                )
            names.append(name)
        return names

    def _filled(self, part: str, fields: Mapping[str, str]) -> str:
        def text(found: re.Match[str]) -> str:
            name, _, width = found[1].partition(":")
            if name not in fields:
                known = ", ".join(fields)
                raise ConfigError(f"{self._option} {self.text!r}: nothing is known of {{{name}}}; there are: {known}")
            value = fields[name]
            if width and value.isdecimal():
                value = f"{int(value):{width}}"
            name = re.sub(r"[\\/\0]+", "-", value)
            return "-" if name in (".", "..") else name

        return _plain(_FIELD.sub(text, part))


def _plain(part: str) -> str:
    return part.replace("\0", "{").replace("\1", "}")


def _literal(text: str) -> str:
    return "".join(".*" if piece == "*" else re.escape(piece) for piece in re.split(r"(\*)", _plain(text)))


def _suffix(part: str) -> str | None:
    """The image suffix that a name ends with; None where it has none of its own."""
    suffix = Path(part).suffix
    return suffix if suffix.lower() in IMAGE_SUFFIXES else None


def _listed(folder: Path) -> str:
    try:
        names = sorted((one.name for one in folder.iterdir() if not one.name.startswith(".")), key=natural)
    except OSError:
        return "nothing that can be read"
    shown = ", ".join(names[:5]) or "nothing"
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _suggested(paths: list[str]) -> str | None:
    """A pattern that fits most of these relative paths; None where their names have no numbers."""
    depths = Counter(path.count("/") for path in paths if re.search(r"[0-9]", path.rpartition("/")[2]))
    if not depths:
        return None
    depth = depths.most_common(1)[0][0]
    split = [path.split("/") for path in paths if path.count("/") == depth]
    free = iter(("origin", "setting", "model", "group", "part", "level"))
    made = []
    for column in range(depth):
        texts = {parts[column] for parts in split}
        stems = {re.sub(r"[0-9]+$", "", text) for text in texts}
        if len(texts) == 1:
            made.append(next(iter(texts)).replace("{", "{{").replace("}", "}}"))
        elif len(stems) == 1 and stems != {""} and "{repeat}" not in "".join(made):
            made.append(stems.pop().replace("{", "{{").replace("}", "}}") + "{repeat}")
        else:
            made.append("{" + next(free, f"folder{column}") + "}")
    names = Counter(re.sub(r"[0-9]+(?=[^0-9]*$)", "\0", Path(parts[-1]).stem) for parts in split)
    stem = names.most_common(1)[0][0].replace("{", "{{").replace("}", "}}").replace("\0", "{turn}")
    suffixes = {Path(parts[-1]).suffix for parts in split}
    return "/".join([*made, stem + (suffixes.pop() if len(suffixes) == 1 else ".*")])
