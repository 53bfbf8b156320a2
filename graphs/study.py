"""A study: one base configuration, several arms. Arms share origin, scenario, editor and random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.load import apply_overrides, merge, parse_config, read_mapping, with_absolute_origin
from turngate.graphs.runner import Ended, run_id_for, start_run
from turngate.graphs.session import Observer
from turngate.registry import explain

__all__ = ["Study", "StudyConfig", "read_study", "run_study"]

Watch = Callable[[str, Path], AbstractContextManager[Sequence[Observer]]]
"""Makes the observers of one arm from its name and folder."""


class StudyConfig(BaseModel):
    """The study file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Short name; the default folder is runs/NAME."""
    question: str
    """What the study asks, in one sentence; heads its page."""
    notes: str = ""
    """What a reader must know to judge the answer."""
    run: dict[str, Any]
    """Configuration that all arms share."""
    arms: dict[str, dict[str, Any]] = Field(min_length=1)
    """Arm -> fields that differ, laid over `run`."""


@dataclass(frozen=True)
class Study:
    """A checked study."""

    config: StudyConfig
    arms: dict[str, RunConfig]
    """Arm -> its whole configuration."""


def read_study(path: Path, overrides: Sequence[str] = ()) -> Study:
    """Read and check every arm before anything runs; raises `ConfigError` that names file, arm and field."""
    raw = read_mapping(path)
    try:
        config = StudyConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error, StudyConfig)}") from None
    arms = {}
    for name, change in config.arms.items():
        if not name.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(f"{path}: arms.{name}: name an arm with letters, digits, - and _ only")
        merged = with_absolute_origin(merge({"name": name, **config.run}, change), path.parent)
        arms[name] = parse_config(apply_overrides(merged, overrides), f"{path}, arm {name}")
    return Study(config, arms)


def run_study(study: Study, folder: Path, watch: Watch, jobs: int = 1) -> dict[str, Ended]:
    """Run the arms, each in `folder/ARM`; finished ones are left alone.

    With `jobs` above 1 that many arms run at a time, each in a process of its own; `watch` must then be picklable.
    The ledgers are the same.
    """
    work = [(name, config, folder / name, watch) for name, config in study.arms.items()]
    if jobs == 1:
        return dict(map(_run_arm, work))
    with ProcessPoolExecutor(min(jobs, len(work)), mp_context=get_context("spawn")) as pool:
        return dict(pool.map(_run_arm, work))


def _run_arm(work: tuple[str, RunConfig, Path, Watch]) -> tuple[str, Ended]:
    name, config, target, watch = work
    with watch(name, target) as observers:
        return name, start_run(config, target, observers, run_id_for(config))
