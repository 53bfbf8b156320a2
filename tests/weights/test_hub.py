"""What a user is told when the hub does not give a repository: a hub on this machine, and none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turngate.errors import ConfigError, MachineError, MissingWeights
from turngate.weights.hub import check_repository, hub_problem

from .hub import GATED, REPOSITORY, commit_of, hub

_FETCH = """
import json, sys
from turngate.errors import TurngateError
from turngate.weights.hub import fetch
for name, revision, offline in json.loads(sys.argv[1]):
    try:
        print(fetch(name, revision, offline, ("*.json",), "my_judge"))
    except TurngateError as error:
        print(type(error).__name__, error)
"""


def fetch(address: str, cache: Path, *asked: tuple[str, str | None, bool], **more: str) -> list[str]:
    """The folder or the error, one line each. The hub's address is read when its client is imported."""
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1", **more}
    done = subprocess.run(
        [sys.executable, "-c", _FETCH, json.dumps(asked)], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the hub has."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "code.py").write_text("raise SystemExit")
    return folder


def test_a_snapshot_is_fetched_and_then_kept(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with hub(folder) as (address, requests):
        here, same = fetch(address, cache, (REPOSITORY, None, False), (REPOSITORY, commit_of(folder), True))
        assert here == same and here.endswith(f"models--me--tiny/snapshots/{commit_of(folder)}")
        assert [path.name for path in Path(here).iterdir()] == ["config.json"]
        assert not [request for request in requests if request.endswith("code.py")], "no code, not even fetched"
    assert fetch(address, cache, (REPOSITORY, None, False)) == [here], "the hub is gone"


@pytest.mark.slow
def test_why_it_is_not_here(folder: Path, tmp_path: Path) -> None:
    """One line each: who is at fault, what to do, and by which setting."""
    with hub(folder) as (address, requests):
        gated, revision, unknown, local = fetch(
            address,
            tmp_path,
            (GATED, None, False),
            (REPOSITORY, "nowhere", False),
            ("me/nothing", None, False),
            ("me/nothing", "v1", True),
        )
        (theirs,) = fetch(address, tmp_path, ("me/nothing", None, False), HF_HUB_OFFLINE="1")
        before = len(requests)
        (ours,) = fetch(address, tmp_path, (REPOSITORY, None, False), TURNGATE_OFFLINE="1")
        assert len(requests) == before, "nothing is asked of the hub"
    assert gated.startswith("MissingWeights me/gated is gated: accept its licence at https://huggingface.co/me/gated")
    assert revision == "MissingWeights me/tiny has no revision nowhere: check my_judge.revision"
    assert unknown.startswith("MissingWeights me/nothing is not on the hub, or private")
    command = "run `hf download me/nothing{}`, or give a copy of it as my_judge.folder"
    assert f"local_files_only is set: {command.format(' --revision v1')}" in local
    assert f"HF_HUB_OFFLINE is set: {command.format('')}" in theirs
    assert "TURNGATE_OFFLINE is set: run `hf download me/tiny`" in ours
    (gone,) = fetch(address, tmp_path, ("me/nothing", None, False))
    assert f"not on this machine and the hub cannot be reached: {command.format('')}" in gone


def test_a_full_disk_is_the_machines() -> None:
    problem = hub_problem(OSError(28, "No space left on device"), "me/tiny", None, False, "editor")
    assert isinstance(problem, MachineError)
    assert "No space left on device" in str(problem) and "HF_HOME" in str(problem)


def test_what_nobody_foresaw() -> None:
    problem = hub_problem(ValueError("a\nb"), "me/tiny", None, False, "editor")
    assert isinstance(problem, MissingWeights)
    assert str(problem).startswith("me/tiny cannot be fetched (ValueError: a b): ")


@pytest.mark.parametrize("name", ["./somewhere", "a/b/c", "name", "me/../you", "", "me/you\n"])
def test_a_name_that_can_be_no_repository(name: Any) -> None:
    with pytest.raises(ConfigError, match="is no repository") as error:
        check_repository(name, "my_judge")
    assert "my_judge.model" in str(error.value) and "my_judge.folder" in str(error.value)
    assert "\n" not in str(error.value)
    check_repository("me/a.model-1_0", "my_judge")
