"""Downloads one file of weights, whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from turngate.errors import MachineError, MissingWeights
from turngate.evaluators._pyiqa_files import WeightFile

__all__ = ["fetch"]

_SECONDS = 60
"""Longest silence of a server."""


def fetch(file: WeightFile, wanted_by: str) -> Path:
    """Download to where pyiqa looks for it; raises `MissingWeights` and leaves nothing behind when that fails.

    pyiqa's own downloads take a file that was cut short for a whole one, and CLIP's leave it there.
    """
    import httpx

    target = file.home
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    except OSError as error:
        raise MachineError(f"cannot write to {target.parent}: {error.strerror}: set TORCH_HOME to another") from error
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            _copy(file, out.write)
        part.chmod(0o644)
        part.replace(target)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise MissingWeights(
            f"{wanted_by}: {file.name} is not on this machine and {file.url} cannot be had ({_reason(error)}): "
            f"download it where there is network, then put it into {target.parent} or give its folder as `weights`"
        ) from error
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror or error}: is the disk full?") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return target


def _copy(file: WeightFile, write: Callable[[bytes], object]) -> None:
    """Raises `httpx.HTTPError`, also when the answer ends early, or `ValueError` for other bytes than promised."""
    import httpx

    digest = hashlib.sha256()
    with httpx.stream("GET", file.url, follow_redirects=True, timeout=_SECONDS) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_bytes():
            write(chunk)
            digest.update(chunk)
    if file.sha256 not in (None, digest.hexdigest()):
        raise ValueError("its checksum is wrong")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:100] or type(error).__name__
