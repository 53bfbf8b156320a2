"""Builds one metric of pyiqa, and says in one line why it cannot be built."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from turngate.errors import ConfigError, MachineError, MissingExtra, MissingWeights, TurngateError, one_line
from turngate.evaluators.pyiqa.catalogue import CatalogueEntry
from turngate.evaluators.pyiqa.weights import Weights, write_ours
from turngate.weights.torch_device import out_of_memory, threads

__all__ = ["alone", "build", "explained", "obstacle", "repeatable"]


# What an exception from inside pyiqa means to a user, in one line.


def explained(error: Exception, name: str, network: str, given: Path | None) -> TurngateError | None:
    """The error to raise instead; None for one that nobody has met yet.

    `network` is pyiqa's class, `given` the user's own weights.
    """
    told = one_line(error, 160)
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


_lock = threading.RLock()


def obstacle(entry: CatalogueEntry, device: str) -> TurngateError | None:
    """What stands in the way besides weights, known before pyiqa is imported."""
    name = f"pyiqa:{entry.name}"
    if entry.cuda_only and not device.startswith("cuda"):
        return ConfigError(f"{name} runs on CUDA only: set `device: cuda` on a machine with a GPU")
    if entry.name.endswith(("_4bit", "_8bit")) and importlib.util.find_spec("bitsandbytes") is None:
        # pyiqa would quietly score with another precision.
        return MissingExtra(f"{name} needs a package that is not installed: pip install bitsandbytes")
    return None


def build(entry: CatalogueEntry, device: str, weights: Weights, local_only: bool) -> Any:
    """The metric; raises a `TurngateError` for everything that is known to go wrong."""
    given: dict[str, str] = {}
    if weights.file is not None:
        given["pretrained_model_path"] = str(weights.file)
    if weights.model is not None:
        given["model"] = str(weights.model)
    try:
        with alone():
            _check_device(device)
            import pyiqa

            with _weights_in_place(weights, local_only):
                return pyiqa.create_metric(entry.name, device=device, **given)
    except Exception as error:
        known = explained(error, f"pyiqa:{entry.name}", entry.network, weights.file or weights.model)
        if known is None:
            raise
        raise known from error


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
        told = one_line(error, 120)
        raise ConfigError(f"device: torch cannot use {device!r} here: set `device: cpu` ({told})") from error


@contextlib.contextmanager
def _weights_in_place(weights: Weights, local_only: bool) -> Iterator[None]:
    """While a metric is built pyiqa looks into a folder of links, and downloads nothing where it may not."""
    import huggingface_hub.constants
    import torch.hub
    from pyiqa.utils import download_util

    with contextlib.ExitStack() as stack:
        if local_only:
            stack.enter_context(_swapped(huggingface_hub.constants, "HF_HUB_OFFLINE", True))
            for module in (torch.hub, download_util):
                stack.enter_context(_swapped(module, "download_url_to_file", _refuse))
        if weights.links:
            for name in ("liqe_arch", "topiq_arch"):  # they keep the folder that is set when they are imported
                with contextlib.suppress(Exception):
                    importlib.import_module(f"pyiqa.archs.{name}")
            hub = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turngate-weights-")))
            _link(hub, weights)
            stack.enter_context(_swapped(download_util, "DEFAULT_CACHE_DIR", str(hub / "pyiqa")))
            # What `torch.hub.set_dir` sets; the function cannot take it back to "as the environment says".
            stack.enter_context(_swapped(torch.hub, "_hub_dir", str(hub)))
        yield


def _link(hub: Path, weights: Weights) -> None:
    for file, path in weights.links.items():
        link = hub / file.place / file.name
        link.parent.mkdir(exist_ok=True)
        if path is None:
            write_ours(link)
        else:
            link.symlink_to(path.resolve())


@contextlib.contextmanager
def _swapped(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def _refuse(url: str, *more: Any, **options: Any) -> None:
    raise ConnectionError(f"{url} may not be downloaded")
