"""`turngate view` as it is called: what it is given, and what it says when it cannot begin."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from tests.cli.program import TURNGATE
from tests.traces.runs import Writer


def refused(*arguments: object, cwd: Path) -> str:
    """The one line that it says before it ends."""
    done = subprocess.run(
        [TURNGATE, "view", *map(str, arguments), "--no-browser"], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("runs/one/run.json", "is the record of a run: give its folder, runs/one"),
        ("runs/one/ledger.sqlite", "is a file: give the folder that holds the runs, runs/one perhaps"),
    ],
)
def test_a_file_is_no_folder(tmp_path: Path, name: str, told: str) -> None:
    Writer(tmp_path / "runs" / "one", size=16, turns=1).close()
    assert refused(name, cwd=tmp_path) == f"turngate: {name} {told}"


@pytest.mark.slow
def test_no_folder_is_told(tmp_path: Path) -> None:
    assert "no folder at runs: give one that holds runs" in refused(cwd=tmp_path)
    assert "no folder at elsewhere" in refused("elsewhere", cwd=tmp_path)


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} is taken" in refused(".", "--port", port, cwd=tmp_path)


@pytest.mark.slow
def test_labels_do_not_leave_the_folder_by_themselves(tmp_path: Path) -> None:
    """A folder from somebody else may hold a link to one's own files."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "mine.csv").touch()
    (tmp_path / "runs" / "labels.csv").symlink_to(tmp_path / "mine.csv")
    assert "leads out of the folder: name the file with --labels" in refused("runs", cwd=tmp_path)
