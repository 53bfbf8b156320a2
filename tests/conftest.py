"""Shared fixtures: small configurations of scripted parts, and a way to run them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from turngate import RunView, continue_run, parse_config, start_run
from turngate.graphs.config import RunConfig
from turngate.graphs.runner import Ended
from turngate.traces.analysis.run import RunSummary, summarise

Config = Callable[..., RunConfig]

# No test asserts a time: on a busy machine a deadline only makes a good test fail.
settings.register_profile("turngate", deadline=None)
settings.load_profile("turngate")


@pytest.fixture
def config() -> Config:
    """A run of scripted parts; keyword arguments replace fields."""

    def make(**fields: Any) -> RunConfig:
        base: dict[str, Any] = {
            "origin": "skimage:astronaut",
            "scenario": "replicate",
            "turns": 5,
            "editor": {"type": "scripted"},
            "evaluators": {"gray": {"type": "scripted", "rule": "mean_gray"}},
            "gate": {"type": "always_accept"},
            "driver": "loop",
        }
        return parse_config({**base, **fields}, "test")

    return make


@pytest.fixture
def summary_of() -> Callable[[Path], RunSummary]:
    """Numbers of the run in a folder."""
    return lambda folder: summarise(RunView.load(folder))


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[Ended, RunView]]:
    """Run a configuration in a folder of its own, or resume it there."""

    def do(settings: RunConfig, name: str = "run", **more: Any) -> tuple[Ended, RunView]:
        folder = tmp_path / name
        act = continue_run if (folder / "run.json").exists() else start_run
        ended = act(folder, settings, **more) if act is continue_run else start_run(settings, folder, **more)
        return ended, RunView.load(folder)

    return do
