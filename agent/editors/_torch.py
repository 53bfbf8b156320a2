"""Torch on this machine: which device, how many threads, and what running out of memory looks like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from turngate.errors import ConfigError

__all__ = ["Device", "is_out_of_memory", "resolve_device", "threads"]

Device = Literal["auto", "cpu", "cuda", "mps"]
"""`auto` is CUDA where there is one, then MPS, then the CPU."""


def resolve_device(asked: Device) -> str:
    """Name of the device to use; raises `ConfigError` when the one asked for is not there."""
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if asked == "auto":
        return next(name for name, here in there.items() if here)
    if not there[asked]:
        raise ConfigError(f"editor.device: torch {torch.__version__} finds no {asked} device here: use auto or cpu")
    return asked


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Let torch use `number` CPU threads, and give back what it used before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def is_out_of_memory(error: BaseException) -> bool:
    """CUDA has a class for it; MPS and the CPU allocator raise a plain RuntimeError."""
    import torch

    text = str(error)
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
    )
