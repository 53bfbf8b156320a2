"""The folder that holds a model: the user's own, or the hub's snapshot of a repository."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from turngate.errors import ConfigError, MissingWeights

__all__ = ["download", "existing", "version_of"]

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_EDGE = 1 << 20
"""Bytes at either end of a file that a fingerprint covers."""


def existing(folder: Path, wanted_by: str) -> Path:
    """The user's folder; raises `MissingWeights` in one line that starts with `wanted_by`."""
    if not folder.is_dir():
        raise MissingWeights(f"{wanted_by}: there is no folder {folder}: check the path")
    return folder


def download(model: str, revision: str | None, offline: bool, wanted_by: str) -> Path:
    """The snapshot of a repository, fetched if it must be and may be. Files that can run code are left out.

    Raises `ConfigError` for a name that can be no repository, `MissingWeights` when it cannot be had.
    """
    from huggingface_hub import snapshot_download

    if not _REPOSITORY.fullmatch(model):
        raise ConfigError(
            f"{wanted_by}.model: {model} is no repository (ORGANISATION/NAME): check it, or give a folder as `folder`"
        )
    try:
        found = snapshot_download(
            model,
            revision=revision,
            local_files_only=offline,
            allow_patterns=["*.json", "*.jinja", "*.model", "*.safetensors", "*.txt"],
        )
    except (OSError, ValueError) as error:
        raise MissingWeights(
            f"{wanted_by}: {model} is not on this machine: run `hf download {model}` where there is network, or give a "
            f"folder as `folder` ({' '.join(str(error).split())[:200]})"
        ) from error
    return Path(found)


def version_of(folder: Path) -> str:
    """`organisation/name@commit` for a snapshot in the hub's cache, else `folder@` and a fingerprint of its files."""
    snapshot = folder.resolve()
    if snapshot.parent.name == "snapshots":
        repository = snapshot.parent.parent.name.removeprefix("models--").replace("--", "/")
        return f"{repository}@{snapshot.name[:12]}"
    digest = hashlib.sha256()
    for path in sorted(path for path in snapshot.iterdir() if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE))
            file.seek(max(0, size - _EDGE))
            digest.update(file.read(_EDGE))
    return f"{snapshot.name}@{digest.hexdigest()[:12]}"
