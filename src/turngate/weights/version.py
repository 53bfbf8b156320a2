"""Which version a set of weight files is: a commit of the hub, or a fingerprint of what they hold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from turngate.errors import ConfigError, MissingWeights

__all__ = ["check_same", "fingerprint", "folder_files", "folder_version", "snapshot_version"]

_COMMIT = re.compile(r"[0-9a-f]{40}")
_EDGE = 1 << 20
"""Bytes at either end of a large file that its fingerprint covers."""


def snapshot_version(folder: Path) -> str | None:
    """`organisation/name@commit` (12 hex digits) for a snapshot in the hub's cache, None for any other folder."""
    snapshot = folder.resolve()
    if snapshot.parent.name != "snapshots" or not _COMMIT.fullmatch(snapshot.name):
        return None
    repository = snapshot.parent.parent.name.removeprefix("models--").replace("--", "/")
    return f"{repository}@{snapshot.name[:12]}"


def folder_version(folder: Path) -> str:
    """`organisation/name@commit` for a snapshot in the hub's cache, else `folder@` and a fingerprint of its files."""
    return snapshot_version(folder) or f"{folder.resolve().name}@{fingerprint(folder_files(folder))}"


def folder_files(folder: Path) -> dict[str, Path]:
    """What `save_pretrained` of one model writes: every file of the folder but hidden ones, by name."""
    return {path.name: path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")}


def fingerprint(files: Mapping[str, Path]) -> str:
    """12 hex digits of a SHA-256 over names, sizes and contents; of a file above 2 MiB over its first and last MiB.

    Raises `MissingWeights` for a file that cannot be read.
    """
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        try:
            content = _edges(path)
        except OSError as error:
            raise MissingWeights(f"cannot read {path}: {error.strerror or error}") from None
        digest.update(f"{name}\0{path.stat().st_size}\0".encode() + content)
    return digest.hexdigest()[:12]


def check_same(pinned: str | None, found: str, component: str, place: Path) -> None:
    """Raise `ConfigError` when the local weights of `component` are not those that a run was started with."""
    if pinned not in (None, found):
        raise ConfigError(
            f"{component}.fingerprint: {place} does not hold the weights of this configuration any more ({found}, not "
            f"{pinned}): put them back, or leave the fingerprint out"
        )


def _edges(path: Path) -> bytes:
    with path.open("rb") as file:
        if path.stat().st_size <= 2 * _EDGE:
            return file.read()
        start = file.read(_EDGE)
        file.seek(-_EDGE, 2)
        return start + file.read()
