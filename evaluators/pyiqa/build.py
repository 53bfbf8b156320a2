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
from typing import Any

from turngate.errors import ConfigError, MissingExtra, TurngateError
from turngate.evaluators._pyiqa_errors import explained
from turngate.evaluators._pyiqa_shipped import write_ours
from turngate.evaluators.pyiqa.catalogue import Entry
from turngate.evaluators.pyiqa.weights import Weights
from turngate.weights.torch_device import threads

__all__ = ["alone", "build", "obstacle", "repeatable"]

_lock = threading.RLock()


def obstacle(entry: Entry, device: str) -> TurngateError | None:
    """What stands in the way besides weights, known before pyiqa is imported."""
    name = f"pyiqa:{entry.name}"
    if entry.cuda_only and not device.startswith("cuda"):
        return ConfigError(f"{name} runs on CUDA only: set `device: cuda` on a machine with a GPU")
    if entry.name.endswith(("_4bit", "_8bit")) and importlib.util.find_spec("bitsandbytes") is None:
        # pyiqa would quietly score with another precision.
        return MissingExtra(f"{name} needs a package that is not installed: pip install bitsandbytes")
    return None


def build(entry: Entry, device: str, weights: Weights, local_only: bool) -> Any:
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
        told = " ".join(str(error).split())[:120]
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
