"""Reads the parameter files that are shipped with the package."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from turngate.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["BRISQUE", "NIQE", "parameters"]

BRISQUE = ("brisque_live.npz", "c5797c7714236b293704c8309f3373d098e684234ad4bb2ef263fc57f65ca808")
NIQE = ("niqe_pristine.npz", "14b52d86fdfd9d9fde7234fbf29b18d8fac52d2a4d67e53e03e07c424ccd4ad2")
"""Name and checksum of each file."""


@cache
def parameters(name: str, sha256: str) -> Mapping[str, NDArray[np.float64]]:
    """Arrays of `data/NAME` in double precision; raises `MachineError` when the file is missing or damaged."""
    path = Path(__file__).with_name("data") / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MachineError(f"cannot read {path}: {error.strerror or error}; install turngate again") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise MachineError(f"{path} is damaged (its checksum differs): install turngate again")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {key: arrays[key].astype(np.float64) for key in arrays.files}
