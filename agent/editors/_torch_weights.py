"""Which version a set of weight files is, and why a repository's files are not here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from turngate.errors import ConfigError, MissingWeights

__all__ = ["check_repository", "check_same", "fingerprint", "hub_problem", "snapshot_version"]

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_EDGE = 1 << 20
"""Bytes at either end of a large file that its fingerprint covers."""


def check_repository(model: str) -> None:
    """Raise `ConfigError` for a name that can be no repository on the hub."""
    if not _REPOSITORY.fullmatch(model):
        raise ConfigError(
            f"editor.model: {model} is no repository (ORGANISATION/NAME): check it, or give a folder as editor.folder"
        )


def snapshot_version(folder: Path) -> str | None:
    """`organisation/name@commit` (12 hex digits) for a snapshot in the hub's cache, None for any other folder."""
    snapshot = folder.resolve()
    if snapshot.parent.name != "snapshots" or not _COMMIT.fullmatch(snapshot.name):
        return None
    repository = snapshot.parent.parent.name.removeprefix("models--").replace("--", "/")
    return f"{repository}@{snapshot.name[:12]}"


def fingerprint(files: Mapping[str, Path]) -> str:
    """12 hex digits of a SHA-256 over names, sizes and contents; of a file above 2 MiB over its first and last MiB."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        size = path.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= 2 * _EDGE:
                digest.update(file.read())
            else:
                digest.update(file.read(_EDGE))
                file.seek(-_EDGE, 2)
                digest.update(file.read())
    return digest.hexdigest()[:12]


def check_same(pinned: str | None, found: str, where: str) -> None:
    """Raise `ConfigError` when local weights are not those that a run was started with."""
    if pinned not in (None, found):
        raise ConfigError(
            f"editor.fingerprint: {where} does not hold the weights of this configuration any more ({found}, not "
            f"{pinned}): put them back, or leave the fingerprint out"
        )


def hub_problem(error: BaseException, repository: str, revision: str | None, offline: bool) -> MissingWeights:
    """What stands between the user and the weights, in one line."""
    from huggingface_hub import errors

    causes = _causes(error)
    if any(isinstance(cause, errors.GatedRepoError) for cause in causes):
        how = f"is gated: accept its licence at https://huggingface.co/{repository} and run `hf auth login`"
    elif any(isinstance(cause, errors.RevisionNotFoundError) for cause in causes):
        how = f"has no revision {revision}: check editor.revision"
    elif any(isinstance(cause, errors.RepositoryNotFoundError) for cause in causes):
        how = "is not on the hub, or private: check the name, or run `hf auth login`"
    elif any(isinstance(cause, errors.RemoteEntryNotFoundError) for cause in causes):
        how = "does not hold the files that this editor needs: check the name"
    else:
        why = "local_files_only is set" if offline else "the hub cannot be reached"
        asked = repository if revision is None else f"{repository} --revision {revision}"
        how = f"is not on this machine and {why}: run `hf download {asked}`, or give a copy of it as editor.folder"
    return MissingWeights(f"{repository} {how}")


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
