"""The version of weights: the commit of a snapshot, or what the files hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from turngate.errors import ConfigError, MissingWeights
from turngate.weights.version import check_same, fingerprint, folder_files, folder_version, snapshot_version

MIB = 1 << 20
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder as `save_pretrained` writes it, its weights 3 MiB long."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{}")
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 12 * 1024)
    return folder


def test_what_is_in_ledgers_stays_comparable(model: Path) -> None:
    """The value that turngate 0.1 recorded for these files."""
    assert fingerprint(folder_files(model)) == "bc54f3638791"
    assert folder_version(model) == "tiny@bc54f3638791"


@pytest.mark.parametrize("at", [0, MIB - 1, 2 * MIB, 3 * MIB - 1])
def test_another_byte_at_either_end_is_another_version(model: Path, at: int) -> None:
    before = folder_version(model)
    with (model / "model.safetensors").open("r+b") as file:
        file.seek(at)
        file.write(b"\x01" if at else b"\x02")
    assert folder_version(model) != before


def test_a_name_or_a_size_is_part_of_it(model: Path) -> None:
    before = folder_version(model)
    (model / "config.json").rename(model / "settings.json")
    renamed = folder_version(model)
    with (model / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    assert len({before, renamed, folder_version(model)}) == 3


def test_what_tools_leave_behind_is_no_part_of_it(model: Path) -> None:
    before = folder_version(model)
    (model / ".DS_Store").write_bytes(b"a desktop was here")
    (model / ".cache").mkdir()
    assert folder_version(model) == before


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match=re.escape(f"cannot read {tmp_path}")):
        fingerprint({"weights": tmp_path})


def test_a_snapshot_is_known_by_its_commit(tmp_path: Path) -> None:
    folder = tmp_path / "models--me--tiny-model" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    assert snapshot_version(folder) == folder_version(folder) == "me/tiny-model@0123456789ab"
    other = tmp_path / "snapshots" / "monday"
    other.mkdir(parents=True)
    assert snapshot_version(other) is None, "a folder of the user's that is only called so"
    assert folder_version(other).startswith("monday@")


def test_other_weights_than_a_run_began_with_are_refused() -> None:
    check_same(None, "0123456789ab", "editor", Path("here"))
    check_same("0123456789ab", "0123456789ab", "editor", Path("here"))
    with pytest.raises(ConfigError, match=r"^some_judge\.fingerprint: here does not hold the weights"):
        check_same("0123456789ab", "ba9876543210", "some_judge", Path("here"))
