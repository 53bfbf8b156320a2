"""The run folder: run.json, ledger.sqlite, images/, report.html."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turngate.errors import DamagedRun, MachineError, NoSuchRun, UserError
from turngate.frozen import StrictModel
from turngate.traces.images import ImageStore
from turngate.traces.ledger import Ledger
from turngate.traces.recorded import RecordedConfig, RecordedOrigin, Resolved
from turngate.traces.records import SCHEMA_VERSION
from turngate.traces.redact import redact
from turngate.traces.reserve import NAME as RESERVE
from turngate.whole_file import write_whole

__all__ = ["Parent", "RunFolder", "RunInfo", "find_runs", "new_run_id"]


class Parent(StrictModel):
    """Where a forked run comes from."""

    run: str
    """Run id of the parent."""
    turn: int
    """Turns 1..turn were copied."""


class RunInfo(StrictModel):
    """run.json: everything about a run that is known before its first turn."""

    schema_version: int = SCHEMA_VERSION
    """Version of this file and of the ledger."""
    run: str
    """Run id, unique over all machines."""
    created: str
    """ISO 8601, UTC."""
    config: dict[str, Any]
    """Resolved configuration; `turngate run run.json` runs it again."""
    origin: RecordedOrigin
    resolved: Resolved
    made_with: dict[str, Any]
    """Python, platform, processor (model, numpy's kernels, environment variables that force others), package versions,
    git revision and dirty flag."""
    parent: Parent | None = None
    """Set when the run was forked."""

    @property
    def recorded(self) -> RecordedConfig:
        """`config` as far as readers need it, read anew at each call; raises `ValueError` when it is not one."""
        return RecordedConfig.model_validate(self.config)


_OURS = ("run.lock", "run.part", ".run.json.", "images", "ledger.sqlite", RESERVE)


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.info_file = path / "run.json"
        self.ledger_file = path / "ledger.sqlite"
        self.report_file = path / "report.html"
        self.images = ImageStore(path / "images")

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """The run at `path`; raises `NoSuchRun` when there is none."""
        folder = cls(path.parent if path.name == "run.json" else path)
        if not folder.info_file.is_file():
            raise NoSuchRun(f"no run at {path}: give a folder that holds a run.json (`turngate list` shows them)")
        return folder

    def exists(self) -> bool:
        """Whether a run was created here."""
        return self.info_file.is_file()

    def prepare(self) -> None:
        """Make the folder; raises `UserError` when something else lives there, `MachineError` when it cannot be made.

        What a process left behind that died before run.json was written is not in the way.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            strange = sorted(path.name for path in self.path.iterdir() if not path.name.startswith(_OURS))
        except OSError as error:
            reason = error.strerror or error
            raise MachineError(f"cannot write to {self.path}: {reason}: choose another folder with --out") from error
        if strange:
            raise UserError(f"{self.path} holds no run but other files ({strange[0]}): choose a new folder with --out")

    def create(self, info: RunInfo) -> None:
        """Write run.json, whole or not at all; raises `MachineError` when it cannot be written."""
        try:
            text = redact(info.model_dump_json(indent=2))
            write_whole(self.info_file, text + "\n", sync=True)
        except OSError as error:
            reason = error.strerror or error
            raise MachineError(f"cannot write to {self.path}: {reason}: choose another folder with --out") from error

    def info(self) -> RunInfo:
        """Read run.json; raises `DamagedRun` when it is not one."""
        try:
            data = json.loads(self.info_file.read_text(encoding="utf-8"))
            if data.get("schema_version", 0) > SCHEMA_VERSION:
                raise DamagedRun(f"{self.info_file} has schema version {data['schema_version']}: upgrade turngate")
            info = RunInfo.model_validate(data)
            info.recorded  # noqa: B018 - a configuration that cannot be read is found here
            return info
        except (OSError, ValueError, AttributeError) as error:
            raise DamagedRun(
                f"{self.info_file} cannot be read ({type(error).__name__}): restore it from a copy"
            ) from error

    def ledger(self, *, read_only: bool = True, durable: bool = True) -> Ledger:
        """Open the ledger."""
        return Ledger(self.ledger_file, read_only=read_only, durable=durable)


def new_run_id(name: str) -> str:
    """A sortable id that is unique over machines: `20261130-101500-name-1a2b3c4d`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{name}-{secrets.token_hex(4)}"


def find_runs(folder: Path) -> Iterator[Path]:
    """Run folders at or below `folder`, sorted; does not look inside a run."""
    for root, folders, files in os.walk(folder):
        folders.sort()
        if "run.json" in files:
            folders.clear()
            yield Path(root)
