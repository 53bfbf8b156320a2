"""Torch on this machine: which device, how many threads, and what running out of memory looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from turngate.errors import ConfigError

__all__ = ["Device", "out_of_memory", "resolve_device", "threads"]

Device = Literal["auto", "cpu", "cuda", "mps"]
"""`auto` is CUDA where there is one, then MPS, then the CPU."""

_SIGNS = ("out of memory", "can't allocate memory")
"""What torch says in a plain `RuntimeError`, on MPS and on the CPU."""


def resolve_device(asked: str, component: str, auto: Sequence[str] = ("cuda", "mps", "cpu")) -> str:
    """Name of the device to use: the one asked for, or for `auto` the first of those that is there.

    Raises `ConfigError`, which names the setting of `component`, when the one asked for is not there.
    """
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if asked == "auto":
        return next(name for name in auto if there[name])
    kind, _, number = asked.partition(":")
    if not there[kind] or (number and int(number) >= torch.cuda.device_count()):
        raise ConfigError(
            f"{component}.device: torch {torch.__version__} finds no {asked} device here: use auto or cpu"
        )
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


def out_of_memory(error: BaseException) -> bool:
    """Whether memory did not suffice, on this machine or on its GPU; does not import torch."""
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named or (isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS))
