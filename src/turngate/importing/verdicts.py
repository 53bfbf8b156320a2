"""People's verdicts about frames, from a CSV of paths: which columns they are in, and which frames they mean."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from turngate.errors import ConfigError
from turngate.image_files import is_image_name
from turngate.importing.chains import FoundChain, FoundFrame
from turngate.registry import nearest

__all__ = ["FrameVerdict", "LabelColumns", "MatchedVerdicts", "VerdictFile", "match_verdicts", "read_verdicts"]

_VERDICTS = {
    **dict.fromkeys(("1", "true", "yes", "y", "damaged", "bad", "1.0"), True),
    **dict.fromkeys(("0", "false", "no", "n", "sound", "good", "ok", "0.0"), False),
    **dict.fromkeys(("", "?", "na", "n/a", "nan", "none"), None),
}
_PATHS = ("path", "file", "filename", "file_name", "filepath", "image", "image_path", "img", "frame", "name", "key")
_DAMAGED = ("damaged", "is_damaged", "damage", "bad", "broken", "degraded", "label", "verdict", "human", "y")
_PEOPLE = ("by", "person", "annotator", "rater", "labeler", "labeller", "user", "who")
_Looks = Callable[[Sequence[str]], bool]
_WORDS = ("failure", "note", "notes", "comment", "remark")


@dataclass(frozen=True)
class LabelColumns:
    """Names of the columns; counted from 1 where the file has no header."""

    path: str
    damaged: str
    by: str | None = None
    failure: str | None = None

    def __str__(self) -> str:
        given = {"path": self.path, "damaged": self.damaged, "by": self.by, "failure": self.failure}
        return ",".join(f"{role}={name}" for role, name in given.items() if name is not None)


@dataclass(frozen=True)
class VerdictFile:
    """A CSV file: header and rows."""

    file: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]
    """Number of the line, and its cells."""

    def guess(self) -> LabelColumns:
        """The columns by their names, or by what is in them; raises `ConfigError` where that does not tell."""
        path = self._column(_PATHS, self._looks_like_paths)
        damaged = self._column(_DAMAGED, self._looks_like_verdicts, but=path)
        if path is None or damaged is None:
            what = "the path of a frame" if path is None else "0 or 1, yes or no"
            raise ConfigError(
                f"--labels: {self.file}: no column holds {what}; it has {', '.join(self.header)}: say which with "
                "--label-columns path=NAME,damaged=NAME"
            )
        return LabelColumns(path, damaged, self._named(_PEOPLE), self._named(_WORDS))

    def chosen(self, text: str) -> LabelColumns:
        """The columns of `path=NAME,damaged=NAME`, perhaps with `by` and `failure`; raises `ConfigError`."""
        given: dict[str, str] = {}
        for part in text.split(","):
            role, equals, name = (word.strip() for word in part.partition("="))
            if role not in ("path", "damaged", "by", "failure") or not equals:
                raise ConfigError(f"--label-columns {text}: write path=NAME,damaged=NAME, perhaps with by and failure")
            if name not in self.header:
                raise ConfigError(f"--label-columns: {self.file} has no column {name!r}{nearest(name, self.header)}")
            given[role] = name
        if "path" not in given or "damaged" not in given:
            raise ConfigError(f"--label-columns {text}: say which column is path and which is damaged")
        return LabelColumns(**given)

    def verdicts(self, columns: LabelColumns) -> list[FrameVerdict]:
        """What every row says; raises `ConfigError` that names the line for a word that is no verdict."""
        place = {name: number for number, name in enumerate(self.header)}

        def cell(cells: Sequence[str], name: str | None) -> str:
            return cells[place[name]].strip() if name is not None and place[name] < len(cells) else ""

        found = []
        for line, cells in self.rows:
            word = cell(cells, columns.damaged).lower()
            if word not in _VERDICTS:
                raise ConfigError(
                    f"--labels: {self.file}, line {line}, {columns.damaged}: write 0 or 1, yes or no, not {word!r}"
                )
            path = cell(cells, columns.path)
            if path:
                by, failure = cell(cells, columns.by), cell(cells, columns.failure)
                found.append(FrameVerdict(line, path, _VERDICTS[word], by, failure))
        return found

    def _column(self, names: Sequence[str], looks: _Looks, but: str | None = None) -> str | None:
        named = self._named(names)
        if named is not None and named != but and looks(self._cells(named)):
            return named
        fits = [name for name in self.header if name != but and looks(self._cells(name))]
        return fits[0] if len(fits) == 1 else None

    def _named(self, names: Sequence[str]) -> str | None:
        known = {name.strip().lower().replace(" ", "_"): name for name in self.header}
        return next((known[name] for name in names if name in known), None)

    def _cells(self, name: str) -> list[str]:
        place = self.header.index(name)
        return [cells[place].strip() for _, cells in self.rows if place < len(cells)]

    @staticmethod
    def _looks_like_paths(cells: Sequence[str]) -> bool:
        given = [cell for cell in cells if cell]
        return bool(given) and sum(is_image_name(PurePosixPath(cell).name) for cell in given) >= len(given) / 2

    @staticmethod
    def _looks_like_verdicts(cells: Sequence[str]) -> bool:
        known = [cell.lower() in _VERDICTS for cell in cells]
        return sum(known) >= 0.9 * len(known) > 0 and any(_VERDICTS.get(cell.lower()) is not None for cell in cells)


def read_verdicts(file: Path) -> VerdictFile:
    """Read a CSV file; without a header its columns are called 1, 2, ...; raises `ConfigError`."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"--labels: cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"--labels: {file} is no text in UTF-8") from None
    delimiter = next((sign for sign in (",", ";", "\t") if sign in text.partition("\n")[0]), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise ConfigError(f"--labels: {file}, line {reader.line_num}: {error}") from None
    if not rows:
        raise ConfigError(f"--labels: {file} is empty")
    first = [cell.strip() for cell in rows[0][1]]
    if any(is_image_name(PurePosixPath(cell).name) for cell in first):
        return VerdictFile(file, [str(number) for number in range(1, len(first) + 1)], rows)
    if len(rows) == 1:
        raise ConfigError(f"--labels: {file} has a header and no rows")
    if len(set(first)) < len(first):
        raise ConfigError(f"--labels: {file}: a column appears twice in the first line")
    return VerdictFile(file, first, rows[1:])


@dataclass(frozen=True)
class FrameVerdict:
    """One row about one frame."""

    line: int
    path: str
    damaged: bool | None
    by: str = ""
    failure: str = ""


@dataclass(frozen=True)
class MatchedVerdicts:
    """Verdicts, and the frames that they mean."""

    found: Mapping[tuple[int, int], FrameVerdict]
    """(number of the chain, turn) -> verdict; turn 0 is the origin. Of several about one frame the last counts."""
    problems: tuple[str, ...]
    """One line each: paths that mean no frame, or several."""


def match_verdicts(chains: Sequence[FoundChain], verdicts: Iterable[FrameVerdict], file: Path) -> MatchedVerdicts:
    """Find the frame of every verdict.

    A path is absolute, relative to the working directory or to the label file, or else the end of the path of one
    frame. A verdict about an origin that several chains share means it in all of them.
    """
    exact: dict[Path, list[tuple[int, int]]] = defaultdict(list)
    ends: dict[tuple[str, ...], set[Path]] = defaultdict(set)
    for number, chain in enumerate(chains):
        for turn, frame in _frames(chain):
            if frame.part is None:
                exact[frame.file].append((number, turn))
    for path in exact:
        for start in range(1, len(path.parts)):
            ends[path.parts[start:]].add(path)
    found: dict[tuple[int, int], FrameVerdict] = {}
    problems = []
    for verdict in verdicts:
        given = Path(verdict.path.replace("\\", "/"))
        places = [place for base in (Path.cwd(), file.parent) for place in [_resolved(base / given)] if place in exact]
        if not places:
            tail = tuple(part for part in given.parts if part not in (".", ".."))
            places = sorted(ends.get(tail, ()))
        if not places:
            problems.append(f"{file}, line {verdict.line}: {verdict.path} is no frame of the chains: left out")
        elif len(set(places)) > 1:
            problems.append(f"{file}, line {verdict.line}: {verdict.path} may be {len(set(places))} frames: left out")
        else:
            for place in exact[places[0]]:
                found.pop(place, None)
                found[place] = verdict
    return MatchedVerdicts(found, tuple(problems))


def _frames(chain: FoundChain) -> Iterable[tuple[int, FoundFrame]]:
    yield 0, chain.start
    yield from ((frame.turn, frame) for frame in chain.frames)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path
