"""Trees whose shape is known by name: numbered folders, Edit Drift's results, animated images."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

from PIL import Image

from turngate.component import Box, checked_box
from turngate.decoding import FORMATS
from turngate.errors import ConfigError, UserError
from turngate.image_files import images_below
from turngate.importing.chains import FoundFrame, FoundTree, chains_of
from turngate.importing.pattern import PathPattern, is_pattern
from turngate.importing.sources import from_pattern, origins_by

__all__ = ["LAYOUTS", "Layout", "from_layout"]

Layout = Literal["numbered", "edit-drift", "round-trip", "gif"]
"""A tree's shape by name.

- `numbered`: every folder with numbered images is a chain; the smallest number is the origin.
- `edit-drift`: Edit Drift's repository, `results/BENCH/MODEL/stepNN.jpg` with what `benchmarks/BENCH` says.
- `round-trip`: as `numbered`, or by a pattern; something is added at odd turns and removed at even ones.
- `gif`: every animated GIF, WebP or PNG is a chain; its first frame is the origin.
"""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""All of them."""

_ANIMATED = (".gif", ".webp", ".png", ".apng", ".avif")


def from_layout(layout: Layout, source: str, origin: str | None = None, renumber: bool = False) -> FoundTree:
    """The chains at `source`, a folder (for `gif` a file or a pattern as well, for `round-trip` a pattern).

    Raises `UserError` where there are none.
    """
    if layout == "gif":
        return _animated(source, origin, renumber)
    if layout == "round-trip" and is_pattern(source):
        return from_pattern(source, origin, renumber)
    if is_pattern(source):
        raise ConfigError(f"--layout {layout}: give a folder; a pattern says itself how the tree is laid out")
    folder = Path(source)
    if not folder.is_dir():
        raise UserError(f"--layout {layout}: no folder at {source}: check the path")
    if layout == "edit-drift":
        return _edit_drift(folder, origin, renumber)
    return _numbered(folder, origin, renumber)


def _numbered(folder: Path, origin: str | None, renumber: bool) -> FoundTree:
    frames, strangers = [], []
    for file in images_below(folder):
        found = re.search(r"([0-9]{1,9})[^0-9]*$", file.stem)
        if found is None:
            strangers.append(file)
            continue
        place = file.parent.relative_to(folder).as_posix()
        name = folder.resolve().name if place == "." else place
        frames.append(FoundFrame(file.resolve(), {"origin": name}, int(found[1]), found[1]))
    if not frames:
        raise UserError(f"--layout numbered: no image below {folder} has a number in its name")
    tree = chains_of(frames, folder.name, origins_by(origin), renumber)
    told = [f"{file}: no number in the name: it is left out" for file in strangers]
    return FoundTree(tree.chains, (*told, *tree.problems), tree.notes)


# Edit Drift by MightyKing (github.com/MegaTroll222/edit-drift): `benchmarks/BENCH` has the original, the control
# rectangles (`rois.json`: left, top, right, bottom in shares of width and height) and the instructions (`steps.json`).


def _edit_drift(folder: Path, origin: str | None, renumber: bool) -> FoundTree:
    root = folder.as_posix().replace("{", "{{").replace("}", "}}")
    pattern = PathPattern(f"{root}/results/{{origin}}/{{model}}/step{{turn}}.*")
    benches: dict[str, _Bench] = {}
    frames = []
    for found in pattern.walk():
        name = found.fields["origin"]
        bench = benches.setdefault(name, _Bench.at(folder, name))
        fields = {key: text for key, text in found.fields.items() if key != "turn"}
        turn = int(found.fields["turn"])
        frames.append(
            FoundFrame(
                found.file.resolve(), fields, turn, found.fields["turn"], instruction=bench.instructions.get(turn)
            )
        )
    if not frames:
        raise UserError(f"--layout edit-drift: {pattern.explain()}")
    given = origins_by(origin)

    def origin_of(fields: Mapping[str, str]) -> Path | None:
        return given(fields) if given is not None else benches[fields["origin"]].original

    tree = chains_of(frames, folder.name, origin_of, renumber, lambda fields: benches[fields["origin"]].regions)
    notes = [f"{name}: no rois.json, so no control rectangles" for name, bench in benches.items() if not bench.regions]
    return FoundTree(tree.chains, tree.problems, (*notes, *tree.notes))


class _Bench:
    """What is known of one benchmark."""

    def __init__(self, original: Path | None, regions: tuple[Box, ...], instructions: dict[int, str]) -> None:
        self.original, self.regions, self.instructions = original, regions, instructions

    @classmethod
    def at(cls, folder: Path, name: str) -> _Bench:
        """Look in `benchmarks/NAME` and `results/NAME`; the results `NAME-partial` belong to the benchmark `NAME`."""
        whole = name.removesuffix("-partial")
        places = [folder / "benchmarks" / name, folder / "benchmarks" / whole, folder / "results" / name]
        originals = (file for place in places if place.is_dir() for file in sorted(place.glob("original.*")))
        return cls(next((file.resolve() for file in originals), None), _regions(places), _instructions(places))


def _regions(places: list[Path]) -> tuple[Box, ...]:
    file = next((place / "rois.json" for place in places if (place / "rois.json").is_file()), None)
    if file is None:
        return ()
    raw = _json(file)
    try:
        return tuple(checked_box(cast(Box, tuple(float(edge) for edge in box))) for box in raw)
    except (TypeError, ValueError):
        raise ConfigError(
            f"{file}: it lists rectangles [left, top, right, bottom] in shares 0..1 of width and height, not {raw!r}"[
                :300
            ]
        ) from None


def _instructions(places: list[Path]) -> dict[int, str]:
    file = next((place / "steps.json" for place in places if (place / "steps.json").is_file()), None)
    if file is None:
        return {}
    raw = _json(file)
    try:
        return {int(step["step"]): str(step["instruction"]) for step in raw}
    except (TypeError, ValueError, KeyError):
        raise ConfigError(f"{file}: it lists steps with `step` and `instruction`") from None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: not valid JSON: {error}") from None


# Animated images: their frames are written as PNG when the chain is imported.


def _animated(source: str, origin: str | None, renumber: bool) -> FoundTree:
    frames, problems = [], []
    for file, fields in _files(source):
        count = _frames_in(file)
        if count is None:
            problems.append(f"{file} is no image that can be read: it is left out")
        elif count == 1:
            problems.append(f"{file} has one frame, it is not animated: it is left out")
        else:
            digits = len(str(count - 1))
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            frames += [
                FoundFrame(file, fields, part, f"{part:0{digits}}", part=part, digest=digest) for part in range(count)
            ]
    if not frames:
        raise UserError(f"--layout gif: no animated image at {source}" + (f": {problems[0]}" if problems else ""))
    tree = chains_of(frames, "origin", origins_by(origin), renumber)
    return FoundTree(tree.chains, (*problems, *tree.problems), tree.notes)


def _files(source: str) -> Iterator[tuple[Path, dict[str, str]]]:
    if is_pattern(source):
        pattern = PathPattern(source)
        if "turn" in pattern.names:
            raise ConfigError(f"--layout gif: {source!r}: the frames of a file are its turns, so no field {{turn}}")
        found = list(pattern.walk())
        if not found:
            raise UserError(pattern.explain())
        yield from ((one.file.resolve(), one.fields) for one in found)
    elif Path(source).is_dir():
        folder = Path(source)
        for file in images_below(folder):
            if file.suffix.lower() in _ANIMATED:
                yield file.resolve(), {"origin": file.relative_to(folder).with_suffix("").as_posix()}
    elif Path(source).is_file():
        yield Path(source).resolve(), {"origin": Path(source).stem}
    else:
        raise UserError(f"--layout gif: nothing at {source}: check the path")


def _frames_in(file: Path) -> int | None:
    """Number of frames; None for what is no image."""
    Image.init()
    try:
        with Image.open(file, formats=FORMATS) as opened:
            return int(getattr(opened, "n_frames", 1))
    except Exception:  # Pillow's readers raise anything over a damaged file
        return None
