"""What an exception from inside pyiqa means to a user, in one line."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from pickle import UnpicklingError

from turngate.errors import ConfigError, MachineError, MissingExtra, MissingWeights, TurngateError
from turngate.weights.torch_device import out_of_memory

__all__ = ["explained"]


def explained(error: Exception, name: str, network: str, given: Path | None) -> TurngateError | None:
    """The error to raise instead; None for one that nobody has met yet.

    `network` is pyiqa's class, `given` the user's own weights.
    """
    told = " ".join(str(error).split())[:160]
    if isinstance(error, TurngateError):
        return error
    if out_of_memory(error):
        return MachineError(f"{name} does not fit into the device's memory: use another device, or a smaller metric")
    if isinstance(error, KeyError) and "registry" in told:
        error = _import_error(network) or error
    if isinstance(error, ImportError):
        return _missing_package(name, error)
    if given is not None and isinstance(error, TypeError):
        return ConfigError(f"{name} takes no weights called {given.name}: leave `weights` out, or use pyiqa's own name")
    if given is not None and isinstance(error, KeyError | RuntimeError | ValueError | EOFError | UnpicklingError):
        return ConfigError(f"{name}: {given} does not hold its weights ({type(error).__name__}: {told})")
    if isinstance(error, EOFError | UnpicklingError | RuntimeError):
        return MissingWeights(f"{name}: a file of weights in the cache is damaged ({told}): delete it")
    if isinstance(error, OSError):  # URLError, time-outs and the hub's own errors are OSErrors too
        return MissingWeights(
            f"{name}: its weights are not on this machine and cannot be had ({told}): download them where there is "
            "network, then set `weights: PATH` or copy the caches (~/.cache/torch/hub, ~/.cache/huggingface)"
        )
    return None


def _missing_package(name: str, error: ImportError) -> MissingExtra:
    if error.name == "pkg_resources":  # openai-clip still imports it
        return MissingExtra(f"{name} needs an older setuptools: pip install 'setuptools<81'")
    missing = (error.name or "").partition(".")[0]
    if missing and importlib.util.find_spec(missing) is None:
        return MissingExtra(f"{name} needs a package that is not installed: pip install {missing}")
    return MissingExtra(f"{name} does not work with the packages that are installed ({error}): pip install -U pyiqa")


def _import_error(network: str) -> ImportError | None:
    """pyiqa swallows what went wrong when it looked for a class: find the file that defines it and import that."""
    import pyiqa.archs

    for path in sorted(Path(pyiqa.archs.__file__).parent.glob("*_arch.py")):
        if f"class {network}(" in path.read_text(encoding="utf-8"):
            try:
                importlib.import_module(f"pyiqa.archs.{path.stem}")
            except ImportError as error:
                return error
    return None
