"""Readers of recorded chains: numbered images in a folder, a run folder, a CSV manifest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, Field

from turngate.agent.editor import EditUsage, NoImage, NoImageWhy
from turngate.agent.editors.replay.chain import Chain, Recorded
from turngate.decoding import open_image
from turngate.errors import BadImage, ConfigError
from turngate.image_files import images_and_others, is_image_file, left_out_words
from turngate.manifest import manifest_rows
from turngate.traces.images import ImageStore
from turngate.traces.records import AttemptRow, DecisionRow
from turngate.traces.run_folder import RunFolder

__all__ = ["identify", "read_folder", "read_image", "read_manifest", "read_run"]


# Image files of a recorded chain: known by their SHA-256, read again when they are asked for.


def identify(file: Path, where: str) -> str:
    """SHA-256 of an image file; raises `BadImage` that starts with `where` when it is missing or no image.

    Only the header is looked at: decoding a long chain would take longer than many runs do.
    """
    data = _bytes(file, where)
    open_image(data, f"{where}: {file}").close()
    return hashlib.sha256(data).hexdigest()


def _frame(one: Recorded, where: str, incomplete: bool) -> Recorded:
    """`one` with the hash of its file, which must be an image, but for a frame of a chain that may be incomplete."""
    if not incomplete or one.turn == 0:
        return replace(one, image=identify(one.file, where))
    return replace(one, image=hashlib.sha256(_bytes(one.file, where)).hexdigest())


def read_image(file: Path, sha256: str) -> bytes:
    """Bytes of a recorded image; raises `BadImage` when it is gone or not the recorded one any more."""
    data = _bytes(file, "editor.source")
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BadImage(f"editor.source: {file} is not the recorded image any more, its SHA-256 changed: restore it")
    return data


def _bytes(file: Path, where: str) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise BadImage(f"{where}: no image at {file}: check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise BadImage(f"{where}: cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


_LAST_NUMBER = r"(?P<turn>\d+)\D*$"


def read_folder(folder: Path, pattern: str | None, incomplete: bool = False) -> Chain:
    """The images in `folder`, by the last number in each name; number 0 is the origin.

    With `pattern` (a regular expression with a group `turn` and perhaps `attempt`) they are those at any depth whose
    path, relative to `folder` and with `/`, holds a match; others are left out. Raises `ConfigError` or `BadImage`.
    """
    recorded = []
    images, others = _images(folder, deep=pattern is not None)
    for file in images:
        name = file.relative_to(folder).as_posix() if pattern else file.stem
        found = re.search(pattern or _LAST_NUMBER, name)
        if found:
            turn, attempt = _number(found, "turn", file), _number(found, "attempt", file)
            recorded.append(_frame(Recorded(turn, attempt, file), "editor.source", incomplete))
        elif pattern is None:
            raise ConfigError(f"editor.source: {file} has no number: rename it, or say with `pattern` which are meant")
    if not any(one.turn for one in recorded):
        raise ConfigError(f"editor.source: {folder} {_lacks(folder, pattern)}")
    numbered = "its paths by pattern" if pattern else "the last number in each name is its turn, or give `pattern`"
    chain = Chain.of_frames(recorded, f"{folder} ({numbered})", incomplete=incomplete)
    meant = [file for file in others if not pattern or re.search(pattern, file.relative_to(folder).as_posix())]
    return replace(chain, left_out=f"{folder}: {left_out_words(meant)}" if meant else "")


def _images(folder: Path, deep: bool) -> tuple[list[Path], list[Path]]:
    """Images in `folder`, or at any depth, and the files that are none, hidden ones aside."""
    if deep:
        return images_and_others(folder)
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    images = [path for path in files if is_image_file(path)]
    return images, [path for path in files if path not in set(images)]


def _number(found: re.Match[str], group: str, file: Path) -> int:
    text = found[group] if group in found.re.groupindex else "1"
    if text is None or not re.fullmatch(r"\d{1,9}", text):
        raise ConfigError(f"editor.pattern: {file} gives {group} {text!r}, which is no number")
    return int(text)


def _lacks(folder: Path, pattern: str | None) -> str:
    runs = sorted(file.parent.name for file in folder.glob("*/run.json"))
    if runs:
        return f"is a folder of runs: give one of them ({', '.join(runs)[:100]})"
    images, _ = _images(folder, deep=pattern is not None)
    if images and pattern:
        return f"has images, but no path with a turn above 0 fits pattern {pattern!r}: one is {images[0].name}"
    return "holds no run (run.json) and no images that are numbered from 1"


# The chain that a run folder holds.

_LOOPS_OWN = ("size_changed:", "model_changed:")
"""Flags that the loop finds out again."""


def read_run(path: Path, everything: bool) -> Chain:
    """All attempts of the run at `path`, or the accepted ones that led to its last image, numbered from turn 1.

    Raises `DamagedRun` when it cannot be read or an image is missing, `ConfigError` when there is nothing to replay.
    """
    run = RunFolder.existing(path)
    info = run.info()
    ledger = run.ledger()
    try:
        rows = {(record.attempt.turn, record.attempt.attempt): record for record in ledger.records()}
    finally:
        ledger.close()
    if everything:
        chosen = [record.attempt for record in rows.values()]
        recorded = [_recorded(row, row.turn, row.attempt, run.images) for row in chosen]
    else:
        chosen = [rows[place].attempt for place in _accepted(record.decision for record in rows.values())]
        recorded = [_recorded(row, turn, 1, run.images) for turn, row in enumerate(chosen, 1)]
    if not recorded:
        hint = "it has no attempts yet" if not rows else "it accepted nothing: replay its candidates with `take: all`"
        raise ConfigError(f"editor.source: nothing to replay in {path}: {hint}")
    simulated = info.resolved.simulated or any(row.simulated for row in chosen)
    origin = Recorded(0, file=run.images.path(info.origin.image), image=info.origin.image)
    return Chain.of(recorded, str(path), simulated, origin)


def _accepted(decisions: Iterable[DecisionRow]) -> list[tuple[int, int]]:
    """(turn, attempt) of the candidates that led to the last image; those rolled back are not among them."""
    kept: list[tuple[int, int]] = []
    for decision in decisions:
        if decision.taken_attempt is not None:
            kept.append((decision.turn, decision.taken_attempt))
        elif decision.action in ("rollback", "restart"):
            kept = [place for place in kept if place[0] <= decision.image_turn_after]
    return kept


def _recorded(row: AttemptRow, turn: int, attempt: int, images: ImageStore) -> Recorded:
    usage = EditUsage(row.input_tokens, row.output_tokens, row.reasoning_tokens)  # no cost: a replay has none
    # A recorded replay may lie beyond its own divergence: such an answer stays one that nobody would have given.
    flags = tuple(flag for flag in row.flags if not flag.startswith(_LOOPS_OWN))
    made_from = frozenset({row.input_image})
    if row.image is None:
        no_image = NoImage(cast(NoImageWhy, row.why), row.detail, row.retryable, row.reasoning, row.model, usage)
        return Recorded(turn, attempt, no_image=no_image, made_from=made_from, instruction=row.instruction, flags=flags)
    return Recorded(
        turn,
        attempt,
        images.path(row.image),
        row.image,
        made_from=made_from,
        instruction=row.instruction,
        reasoning=row.reasoning,
        model=row.model,
        usage=usage,
        damage=row.damage,
        flags=flags,
        operation_failed=row.operation_failed,
        object_failure=row.object_failure,
        metadata={**row.metadata, "source_turn": row.turn, "source_attempt": row.attempt},
        extras=tuple((images.path(extra["image"]), extra["image"], extra["role"]) for extra in row.extras),
    )


# The chain that a CSV manifest lists: the way in for recordings of any layout.

Text = Annotated[str | None, BeforeValidator(lambda cell: cell.strip() or None)]


class _ChainRow(BaseModel, use_attribute_docstrings=True, allow_inf_nan=False):
    """One line; columns that are not here are left alone."""

    turn: int = Field(ge=0)
    """0 for the origin."""
    path: Annotated[str, BeforeValidator(str.strip), Field(min_length=1)]
    """Of the image; relative to the manifest, or absolute."""
    attempt: int = Field(default=1, ge=1)
    instruction: Text = None
    reasoning: Text = None
    model: Text = None
    damage: float | None = None
    """Only a simulator knows it: a chain with damage on record is marked as simulated."""


def read_manifest(file: Path, incomplete: bool = False) -> Chain:
    """The chain in a CSV file (UTF-8, commas, a header) with columns `turn`, `path` and perhaps others of `_ChainRow`.

    Raises `ConfigError` or `BadImage` that names file and line.
    """
    recorded = []
    for line, row in manifest_rows(file, _ChainRow, ("turn", "path"), "editor.source"):
        listed = Recorded(
            row.turn,
            row.attempt,
            file.parent / row.path,
            instruction=row.instruction,
            reasoning=row.reasoning,
            model=row.model,
            damage=row.damage,
        )
        recorded.append(_frame(listed, f"editor.source: {file}, line {line} (turn {row.turn})", incomplete))
    if not any(one.turn for one in recorded):
        raise ConfigError(f"editor.source: {file} lists no image of a turn above 0")
    simulated = any(one.damage is not None for one in recorded)
    return Chain.of_frames(recorded, str(file), simulated, incomplete)
