"""What lies in an imported study's folder beside its runs: for every chain the list of its frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from turngate.agent.editors.replay import ReplayConfig
from turngate.component import differences
from turngate.decoding import FORMATS
from turngate.errors import BadImage, ConfigChanged, MachineError, UserError
from turngate.graphs.config import RunConfig
from turngate.graphs.load import parse_config
from turngate.graphs.study import Job
from turngate.importing.chains import FoundChain, FoundFrame
from turngate.picture import encode_png
from turngate.traces.progress import run_status
from turngate.traces.run_folder import RunFolder
from turngate.whole_file import write_whole

__all__ = ["frame_file", "manifest_of", "prepare_chain"]


def manifest_of(folder: Path, name: str) -> Path:
    """The list of a chain's frames."""
    return folder / "chains" / f"{name}.csv"


def frame_file(frame: FoundFrame, folder: Path, name: str) -> Path:
    """The file that a frame is read from."""
    if frame.part is None:
        return frame.file
    return folder / "frames" / name / frame.digest[:12] / f"{frame.turn_text}.png"  # another file, other frames


def prepare_chain(chain: FoundChain, jobs: Sequence[Job], folder: Path) -> tuple[list[Path], str]:
    """Write the list of the chain's frames, and those of an animated image.

    Returns the paths of the jobs that are finished, and what is wrong with the chain where its frames were changed.
    Raises `ConfigChanged` where it was imported with other settings, `MachineError` when it cannot be written.
    """
    name = jobs[0].path.name
    manifest = manifest_of(folder.resolve(), name)
    runs = {job.path: RunFolder(folder / job.path) for job in jobs}
    begun = {path: run for path, run in runs.items() if run.exists()}
    try:
        before = manifest.read_text(encoding="utf-8") if manifest.exists() else None
        _extract(chain, folder.resolve(), name)
        now = _listed(chain, folder.resolve(), name)
        if not begun or before is None:
            _write(manifest, now)
        elif now != before:
            problem = _changed(chain, manifest, now, begun)
            if problem:
                return [], problem
    except OSError as error:
        raise MachineError(f"cannot write into {folder}: {error.strerror or error}") from error
    _check_settings(folder, {job.path: job.config for job in jobs}, begun)
    return [path for path, run in begun.items() if _is_complete(run)], ""


def _check_settings(folder: Path, configs: Mapping[Path, RunConfig], begun: Mapping[Path, RunFolder]) -> None:
    """Raise `ConfigChanged` where a run was imported with other evaluators, truth, scenario or gate."""
    for path, run in begun.items():
        recorded = parse_config(run.info().config, str(run.info_file)).identity()
        changes = [
            one
            for one in differences(recorded, configs[path].identity())
            if one[0] != "editor.sha256" and one[0].partition(".")[0] != "origin"
        ]
        if changes:
            shown = "; ".join(f"{name}: {str(old)[:60]} -> {str(now)[:60]}" for name, old, now in changes[:3])
            raise ConfigChanged(
                f"{run.path} was imported with other settings ({shown}): `turngate score {folder} --with NAME` adds "
                "evaluators, for anything else choose another folder with --out",
                changes,
            )


def _listed(chain: FoundChain, folder: Path, name: str) -> str:
    """The chain as a manifest, with size and time of every file: what was not touched needs no second look."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["turn", "path", "instruction", "reasoning", "model", "bytes", "modified_ns"])
    for turn, frame in [(0, chain.start), *((frame.turn, frame) for frame in chain.frames)]:
        file = frame_file(frame, folder, name)
        facts = frame.file.stat()
        said = [frame.instruction or "", frame.reasoning or "", frame.model or ""]
        rows.writerow([turn, file, *said, facts.st_size, facts.st_mtime_ns])
    return text.getvalue()


def _changed(chain: FoundChain, manifest: Path, now: str, begun: Mapping[Path, RunFolder]) -> str:
    """What is wrong where the frames are others than those of the runs; otherwise the new list replaces the old one."""
    trial = manifest.with_suffix(".part.csv")
    _write(trial, now)
    try:
        run = next(iter(begun.values()))
        recorded = run.info().config["editor"]
        given = ReplayConfig.model_validate({**recorded, "source": trial, "sha256": None}).pinned().sha256
        if given == recorded["sha256"]:
            trial.replace(manifest)
            return ""
    except UserError as error:
        return f"{chain.label}: {error}"
    finally:
        trial.unlink(missing_ok=True)
    told = ", ".join(_differing(manifest.read_text(encoding="utf-8"), now)) or "what is reported with its frames"
    folders = " ".join(str(run.path) for run in begun.values())
    return (
        f"{chain.label}: changed since it was imported ({told}): its run is left as it is; import into another folder "
        f"with --out, or delete {folders} to import it anew"
    )


def _differing(before: str, now: str) -> list[str]:
    old, new = ({row["turn"]: row for row in csv.DictReader(io.StringIO(text))} for text in (before, now))
    turns = [turn for turn in {**old, **new} if old.get(turn) != new.get(turn)]
    words = [
        f"turn {turn} {'is new' if turn not in old else 'is gone' if turn not in new else Path(new[turn]['path']).name}"
        for turn in turns
    ]
    return words[:5] + ([f"{len(words) - 5} more"] if len(words) > 5 else [])


def _is_complete(run: RunFolder) -> bool:
    ledger = run.ledger()
    try:
        return run_status(run.path, ledger.decisions(), ledger.events()) == "complete"
    finally:
        ledger.close()


def _write(file: Path, text: str) -> None:
    write_whole(file, text)


def _extract(chain: FoundChain, folder: Path, name: str) -> None:
    """Write the frames of an animated image as PNG; those that are there already are left alone."""
    owed = [frame for frame in (chain.start, *chain.frames) if frame.part is not None]
    owed = [frame for frame in owed if not frame_file(frame, folder, name).exists()]
    if not owed:
        return
    Image.init()
    for frame in owed:
        file = frame_file(frame, folder, name)
        try:
            with Image.open(frame.file, formats=FORMATS) as opened:
                opened.seek(frame.part or 0)
                data = encode_png(np.asarray(opened.convert("RGB"), dtype=np.uint8))
        except OSError as error:
            raise BadImage(f"{frame.file}: frame {frame.part} cannot be read: {error}") from None
        write_whole(file, data)
