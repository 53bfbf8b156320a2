"""Builds one metric of pyiqa, and says in one line why it cannot be built."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import threading
import warnings
from collections.abc import Iterator
from pickle import UnpicklingError
from typing import Any

from turngate.errors import ConfigError, MachineError, MissingExtra, MissingWeights, TurngateError, one_line
from turngate.evaluators.pyiqa.catalogue import CatalogueEntry, module_of
from turngate.evaluators.pyiqa.hub import Build
from turngate.evaluators.pyiqa.weights import Weights, file_name, forbidden_by
from turngate.weights.torch_device import out_of_memory, threads

__all__ = ["alone", "build", "explained", "obstacle", "repeatable"]


# What an exception from inside pyiqa means to a user, in one line.


def explained(error: Exception, entry: CatalogueEntry, weights: Weights, asked: Build) -> TurngateError | None:
    """The error to raise instead; None for one that nobody has met yet."""
    name, network, given = f"pyiqa:{entry.name}", entry.network, weights.given
    detail = one_line(error, 160)
    if isinstance(error, TurngateError):
        return error
    if out_of_memory(error):
        return MachineError(f"{name} does not fit into the device's memory: use another device, or a smaller metric")
    if isinstance(error, KeyError) and "registry" in detail:
        error = _import_error(network) or error
    if isinstance(error, ImportError):
        return _missing_package(name, error)
    if given is not None and isinstance(error, TypeError):
        return ConfigError(f"{name} takes no weights called {given.name}: leave `weights` out, or use pyiqa's own name")
    if given is not None and isinstance(error, KeyError | RuntimeError | ValueError | EOFError | UnpicklingError):
        return ConfigError(f"{name}: {given} does not hold its weights ({type(error).__name__}: {detail})")
    if isinstance(error, EOFError | UnpicklingError | RuntimeError) and not asked.downloads:
        return MissingWeights(f"{name}: a file of weights in the cache is damaged ({detail}): delete it")
    if isinstance(error, EOFError | UnpicklingError | RuntimeError | OSError):  # the network's errors are OSErrors
        what = f"{file_name(asked.url)} is not on this machine and {asked.url}" if asked.url else "a file of weights"
        why = detail if asked.may_download else forbidden_by()
        return MissingWeights(
            f"{name}: {what} cannot be had ({why}): download it where there is network, then put it into "
            f"{asked.cache / 'pyiqa'} (a repository's: ~/.cache/huggingface), or give its folder as `weights`"
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
    """pyiqa swallows what went wrong when it looked for a class: import the module that defines it."""
    module, _ = module_of(network)
    try:
        importlib.import_module(f"pyiqa.archs.{module}")
    except ImportError as error:
        return error
    return None


_lock = threading.RLock()


def obstacle(entry: CatalogueEntry, device: str) -> TurngateError | None:
    """What hinders the metric besides weights, known before pyiqa is imported."""
    name = f"pyiqa:{entry.name}"
    if entry.cuda_only and not device.startswith("cuda"):
        return ConfigError(f"{name} runs on CUDA only: set `device: cuda` on a machine with a GPU")
    if entry.name.endswith(("_4bit", "_8bit")) and importlib.util.find_spec("bitsandbytes") is None:
        # pyiqa would quietly score with another precision.
        return MissingExtra(f"{name} needs a package that is not installed: pip install bitsandbytes")
    return None


def build(entry: CatalogueEntry, device: str, weights: Weights, local_only: bool) -> Any:
    """The metric; raises a `TurngateError` for everything that is known to go wrong."""
    asked = Build(f"pyiqa:{entry.name}", weights, not local_only)
    try:
        with alone():
            _check_device(device)
            metric = asked.run(lambda: _create(entry.name, device, weights))
    except Exception as error:
        known = explained(error, entry, weights, asked)
        if known is None:
            raise
        raise known from error
    if weights.is_folder and weights.given is None:
        raise MissingWeights(f"pyiqa:{entry.name}: `weights` holds nothing that it opens ({asked.files}): check it")
    return metric


def _create(name: str, device: str, weights: Weights) -> Any:
    import pyiqa

    return pyiqa.create_metric(name, device=device, **weights.options)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One thread at a time, standard output kept clean (it belongs to `--json`), warnings off."""
    with _lock, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def repeatable(number: int) -> Iterator[None]:
    """The same `number` of threads and the same random numbers at every call; the process's own are put back."""
    import numpy as np
    import torch

    drawn = np.random.get_state()
    try:
        with threads(number), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            np.random.seed(0)
            yield
    finally:
        np.random.set_state(drawn)


def _check_device(device: str) -> None:
    import torch

    try:
        torch.empty(1, device=device)
    except (AssertionError, RuntimeError) as error:
        raise ConfigError(
            f"device: torch cannot use {device!r} here: set `device: cpu` ({one_line(error, 120)})"
        ) from error
