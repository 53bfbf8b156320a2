"""Which version a set of weight files is, and why a repository's files are not here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from turngate.errors import ConfigError, MachineError, MissingWeights, ProviderError, TurngateError

__all__ = ["check_repository", "check_same", "fingerprint", "hub_problem", "snapshot_version"]

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_EDGE = 1 << 20
"""Bytes at either end of a large file that its fingerprint covers."""


def check_repository(model: str, hint: str = "") -> None:
    """Raise `ConfigError` for a name that can be no repository on the hub; `hint` ends the line."""
    if not _REPOSITORY.fullmatch(model):
        how = f"check it, or give a folder as editor.folder{hint}"
        raise ConfigError(f"editor.model: {model} is no repository (ORGANISATION/NAME): {how}")


def snapshot_version(folder: Path) -> str | None:
    """`organisation/name@commit` (12 hex digits) for a snapshot in the hub's cache, None for any other folder."""
    snapshot = folder.resolve()
    if snapshot.parent.name != "snapshots" or not _COMMIT.fullmatch(snapshot.name):
        return None
    repository = snapshot.parent.parent.name.removeprefix("models--").replace("--", "/")
    return f"{repository}@{snapshot.name[:12]}"


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


def _edges(path: Path) -> bytes:
    with path.open("rb") as file:
        if path.stat().st_size <= 2 * _EDGE:
            return file.read()
        start = file.read(_EDGE)
        file.seek(-_EDGE, 2)
        return start + file.read()


def check_same(pinned: str | None, found: str, where: str) -> None:
    """Raise `ConfigError` when local weights are not those that a run was started with."""
    if pinned not in (None, found):
        raise ConfigError(
            f"editor.fingerprint: {where} does not hold the weights of this configuration any more ({found}, not "
            f"{pinned}): put them back, or leave the fingerprint out"
        )


def hub_problem(error: BaseException, repository: str, revision: str | None, offline: bool) -> TurngateError:
    """What stands between the user and the weights, in one line."""
    from huggingface_hub import errors

    causes = _causes(error)

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has(errors.GatedRepoError):
        how = f"is gated: accept its licence at https://huggingface.co/{repository} and run `hf auth login`"
    elif has(errors.RevisionNotFoundError):
        how = f"has no revision {revision}: check editor.revision"
    elif has(errors.RepositoryNotFoundError):
        how = "is not on the hub, or private: check the name, or run `hf auth login`"
    elif has(errors.RemoteEntryNotFoundError):
        how = "does not hold the files that this editor needs: check the name"
    elif has(errors.HfHubHTTPError):
        return ProviderError(f"the hub does not give {repository} ({_first_words(error)}): try again later")
    elif has(errors.LocalEntryNotFoundError) or any(_is_of_the_network(cause) for cause in causes):
        why = "local_files_only is set" if offline else "the hub cannot be reached"
        asked = repository if revision is None else f"{repository} --revision {revision}"
        how = f"is not on this machine and {why}: run `hf download {asked}`, or give a copy of it as editor.folder"
    elif isinstance(error, OSError) and error.errno is not None:
        return MachineError(f"{repository} cannot be stored ({error.strerror}): mend that, or move HF_HOME elsewhere")
    else:
        how = f"cannot be fetched ({_first_words(error)}): use another model, or give a copy of it as editor.folder"
    return MissingWeights(f"{repository} {how}")


def _is_of_the_network(error: BaseException) -> bool:
    """By name: which HTTP library the hub's client stands on differs between its versions."""
    return not {"ConnectionError", "TransportError"}.isdisjoint(kind.__name__ for kind in type(error).__mro__)


def _first_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
