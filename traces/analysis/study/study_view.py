"""A whole study, read from its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turngate.errors import DamagedRun, NoSuchRun
from turngate.traces.analysis.run import RunView
from turngate.traces.run_folder import RunFolder

__all__ = ["StudyRun", "StudyView"]


@dataclass(frozen=True)
class StudyRun:
    """One run of a study: which arm, and on which cell of the grid."""

    arm: str
    control: bool
    origin: str
    """Name of the origin: the cluster of the statistics. Empty when the study has one origin."""
    scenario: str
    editor: str
    repeat: int
    path: Path
    """Folder of the run."""

    @property
    def cell(self) -> tuple[str, str, str, int]:
        """What paired runs of different arms have in common."""
        return self.origin, self.scenario, self.editor, self.repeat

    @property
    def label(self) -> str:
        """Cell in words, for tables."""
        return " ".join(part for part in (self.origin, self.scenario, self.editor, f"r{self.repeat}") if part)

    def exists(self) -> bool:
        """Whether the run was ever begun."""
        return RunFolder(self.path).exists()

    def load(self) -> RunView:
        """Read the run; raises `NoSuchRun` or `DamagedRun`."""
        return RunView.load(self.path)


@dataclass(frozen=True)
class StudyView:
    """What `study.json` says about a study."""

    folder: Path
    config: dict[str, Any]
    """Fields of the study file."""
    runs: list[StudyRun]
    """All planned runs, arm by arm."""

    @classmethod
    def load(cls, folder: Path) -> StudyView:
        """Read the study in `folder`; raises `NoSuchRun` when there is none, `DamagedRun` when it cannot be read."""
        path = folder / "study.json"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            runs = [StudyRun(**{**row, "path": folder / row["path"]}) for row in raw["runs"]]
            return cls(folder, raw["study"], runs)
        except FileNotFoundError:
            raise NoSuchRun(f"no study in {folder}: `turngate study FILE` makes one") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedRun(f"{path} is not a study ({error}): run `turngate study FILE` again") from None

    @property
    def labels(self) -> Path | None:
        """File of people's verdicts that the study names."""
        named = self.config.get("labels")
        return self.folder / named if isinstance(named, str) and named else None

    def arms(self) -> list[str]:
        """Names of the arms, own ones first, as planned."""
        return list(dict.fromkeys(run.arm for run in self.runs))

    def begun(self) -> Iterator[StudyRun]:
        """Runs that have a folder."""
        return (run for run in self.runs if run.exists())
