"""Frames of runs, written in the shape of a path pattern: the way back of an import."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from turngate.agent.editors.replay import RecordedAs
from turngate.errors import BadImage, ConfigError, MachineError, NoSuchRun, UserError
from turngate.importing.pattern import PathPattern
from turngate.picture import EXTENSIONS, Picture, encode_png
from turngate.traces.analysis.run import RunView
from turngate.traces.analysis.study import StudyRun, StudyView
from turngate.traces.run_folder import RunFolder, find_runs
from turngate.whole_file import write_whole

__all__ = ["WrittenFrames", "write_frames"]

_SAME = {".jpeg": ".jpg", ".tiff": ".tif", ".apng": ".png", ".mpo": ".jpg"}
_ARM = "recorded"


@dataclass(frozen=True)
class WrittenFrames:
    """What was written."""

    runs: int
    frames: int
    """Files that are there now, those that were there already included."""
    left_out: tuple[str, ...]
    """One line each: frames without a file, arms that were left out."""


@dataclass(frozen=True)
class _Frame:
    """One image of a run, and where it goes."""

    target: Path
    run: RunFolder
    sha256: str
    undecodable: bool


def write_frames(path: Path, text: str) -> WrittenFrames:
    """Write origin and standing frames of a run, or of all runs of a study or folder, to the paths of a pattern.

    Bytes are those that were recorded; where the pattern's suffix is another format's they are coded again as PNG, and
    a lossy suffix is an error. Turns that brought no image have no file. Of a study with several arms a pattern without
    `{arm}` means the recorded chains. Raises `UserError` before anything is written where two frames have one path, or
    a file with other bytes is there.
    """
    pattern = PathPattern(text, "--as")
    pattern.need("turn")
    runs, left_out = _runs(path, "arm" in pattern.names)
    targets: dict[Path, _Frame] = {}
    for folder, listed in runs:
        for frame in _frames(folder, listed, pattern, left_out):
            other = targets.setdefault(frame.target, frame)
            if other is not frame:
                raise UserError(
                    f"--as {text!r}: two frames have one path, {frame.target}: one of {other.run.path}, one of "
                    f"{frame.run.path}: add a field in which they differ, for instance {{run}}"
                )
    for frame in targets.values():
        if _there(frame.target) not in (None, hashlib.sha256(_bytes(frame)).hexdigest()):
            raise UserError(f"{frame.target} is there and has other bytes: choose another folder, or remove it")
    for frame in targets.values():
        _write(frame)
    return WrittenFrames(len(runs), len(targets), tuple(left_out))


_Listed = StudyRun | None


def _runs(path: Path, by_arm: bool) -> tuple[list[tuple[Path, _Listed]], list[str]]:
    """Run folders, with what a study says of them; and what was left out."""
    if not (path / "study.json").is_file():
        found = [RunFolder.existing(path).path] if path.name == "run.json" else list(find_runs(path))
        if not found:
            raise NoSuchRun(f"no run at {path}: give a run, a study, or a folder of them")
        return [(folder, None) for folder in found], []
    study = StudyView.load(path)
    begun = list(study.begun())
    arms = list(dict.fromkeys(run.arm for run in begun))
    if by_arm or len(arms) < 2:
        return [(run.path, run) for run in begun], []
    if _ARM not in arms:
        raise ConfigError(f"--as: the study has the arms {', '.join(arms)}: write {{arm}} where its name belongs")
    others = [arm for arm in arms if arm != _ARM]
    note = f"arms {', '.join(others)} are left out: write {{arm}} into the pattern to have them as well"
    return [(run.path, run) for run in begun if run.arm == _ARM], [note]


def _frames(folder: Path, listed: _Listed, pattern: PathPattern, left_out: list[str]) -> Iterator[_Frame]:
    view = RunView.load(folder)
    recorded = RecordedAs.model_validate(view.config.editor.as_mapping().get("recorded_as") or {})
    fields = {**_known(view, listed), **recorded.fields}
    yield _placed(pattern, fields, recorded, view, 0, view.info.origin.image, view.info.origin.media_type)
    for attempt in view.attempts:
        row = attempt.row
        if row.image is not None and (attempt.taken or row.outcome == "no_change"):
            composite = attempt.composite.image if attempt.composite is not None else None
            kind = row.media_type or "" if composite is None else "image/png"
            yield _placed(pattern, fields, recorded, view, row.turn, composite or row.image, kind)
            continue
        torn = next((extra["image"] for extra in row.extras if extra["role"] == "undecodable"), None)
        if not row.not_on_record or row.why != "undecodable":
            continue
        if torn is None:
            left_out.append(f"{folder}: the file of turn {row.turn} was empty: it has no file")
        elif pattern.takes_any_suffix:
            left_out.append(f"{folder}: turn {row.turn} cannot be read and has no known suffix: it has no file")
        else:
            yield _placed(pattern, fields, recorded, view, row.turn, torn, None)


def _known(view: RunView, listed: _Listed) -> dict[str, str]:
    """Fields of a run that was not imported, or that its paths did not name."""
    source = view.info.origin.source
    found = {
        "origin": Path(source.removeprefix("skimage:")).stem,
        "setting": view.config.scenario.type,
        "editor": view.config.editor.type,
        "repeat": "1",
        "run": view.info.run,
        "folder": view.folder.path.resolve().name,
    }
    if listed is not None:
        found |= {"arm": listed.arm, "repeat": str(listed.repeat)}
        named = {"origin": listed.origin, "setting": listed.scenario, "editor": listed.editor}
        found |= {name: text for name, text in named.items() if text}
    return {**found, "model": found["editor"]}


def _placed(
    pattern: PathPattern,
    fields: Mapping[str, str],
    recorded: RecordedAs,
    view: RunView,
    turn: int,
    sha256: str,
    media_type: str | None,
) -> _Frame:
    number = f"{turn + recorded.first_turn:0{recorded.turn_digits}}"
    target = pattern.fill({**fields, "turn": number})
    if pattern.takes_any_suffix:
        name = target.name.removesuffix(".*")
        target = target.with_name(f"{name}.{EXTENSIONS.get(media_type or '', 'bin')}")
    elif media_type is not None:
        _check_format(target, media_type)
    return _Frame(target, view.folder, sha256, media_type is None)


def _check_format(target: Path, media_type: str) -> None:
    """Raise `ConfigError` where the file would have to be coded with loss."""
    suffix, own = _plain(target.suffix), f".{EXTENSIONS.get(media_type, 'bin')}"
    if suffix not in (_plain(own), ".png"):
        raise ConfigError(
            f"--as: {target.name} would be coded again with loss, the recorded image is {media_type}: write {{turn}}.* "
            "to keep every image as it is, or .png"
        )


def _plain(suffix: str) -> str:
    return _SAME.get(suffix.lower(), suffix.lower())


def _bytes(frame: _Frame) -> bytes:
    data = frame.run.images.get(frame.sha256)
    if frame.undecodable:
        return data
    stored = frame.run.images.path(frame.sha256).suffix
    if _plain(stored) == _plain(frame.target.suffix):
        return data
    return encode_png(Picture.from_bytes(data, str(frame.target)).rgb)


def _there(file: Path) -> str | None:
    """SHA-256 of the file; None where there is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadImage(f"cannot read {file}: {error.strerror or error}") from None


def _write(frame: _Frame) -> None:
    if frame.target.exists():
        return
    try:
        write_whole(frame.target, _bytes(frame))
    except OSError as error:
        raise MachineError(f"cannot write {frame.target}: {error.strerror or error}") from error
