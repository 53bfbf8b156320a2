"""What diffusers and transformers say while they work: collected for the record, not printed over the live view."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from turngate.errors import one_line

__all__ = ["hushed", "invented_weights"]


@contextmanager
def hushed(bars: bool = False) -> Iterator[list[str]]:
    """Without Python warnings and, unless `bars`, progress bars; the list fills with what the libraries log."""
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations between the libraries: nothing a user can mend
        from diffusers.utils import logging as diffusers
        from transformers.utils import logging as transformers

        with _collected(diffusers, said, bars), _collected(transformers, said, bars):
            yield said


@contextmanager
def _collected(module: ModuleType, said: list[str], bars: bool) -> Iterator[None]:
    logger = logging.getLogger(module.__name__.partition(".")[0])
    handlers, level, had_bars = list(logger.handlers), logger.level, module.is_progress_bar_enabled()
    logger.handlers = [_Collector(said)]
    logger.setLevel(logging.WARNING)
    if not bars:
        module.disable_progress_bar()
    try:
        yield
    finally:
        logger.handlers = handlers
        logger.setLevel(level)
        if had_bars:
            module.enable_progress_bar()


def invented_weights(said: list[str]) -> str | None:
    """Name of a tensor for which a library took random numbers because the file lacks it; None when there is none."""
    for text in said:
        if "newly initialized" in text:
            names = re.findall(r"\b\w[\w.]*\.(?:weight|bias)\b", text)
            return names[0] if names else "one that is not named"
    return None


class _Collector(logging.Handler):
    """Keeps each warning once, on one line."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        text = one_line(record.getMessage())
        if text not in self._said:
            self._said.append(text)
