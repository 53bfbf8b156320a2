"""How far `turngate score` is, on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

__all__ = ["ScoreProgress"]

_EVERY_SECONDS = 10.0
"""Between two plain lines."""


class ScoreProgress:
    """Context manager; tell it of finished images."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._total = total
        self._done = 0
        self._began = self._told = time.monotonic()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        on_terminal = self._console.is_terminal and not quiet
        self._bar = Progress(*columns, console=self._console, transient=True) if on_terminal else None
        self._task = TaskID(0)

    def __enter__(self) -> ScoreProgress:
        if self._bar is not None:
            self._task = self._bar.add_task("images", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def rate(self) -> float:
        """Images per second so far."""
        return self._done / max(time.monotonic() - self._began, 1e-9)

    def finished(self, images: int) -> None:
        """Some more images are done."""
        self._done += images
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=f"images, {self.rate:.3g}/s")
        elif images and time.monotonic() - self._told > _EVERY_SECONDS:
            self._told = time.monotonic()
            left = (self._total - self._done) / self.rate
            line = f"{self._done}/{self._total} images, {self.rate:.3g}/s, about {left:.0f} s left"
            self._console.print(line, markup=False)
