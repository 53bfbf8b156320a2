"""How far a study is, on standard error: a bar of turns on a terminal, a line per run elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from turngate.cli.columns import TimeLeft, plain
from turngate.pages.viewer import Stamp, quick_summary, stamp

if TYPE_CHECKING:
    from turngate.graphs.study import Finished, Study

__all__ = ["StudyProgress"]

_EVERY_SECONDS = 2.0
"""Between two looks at the ledgers: the runs work in other processes, and a run may take an hour."""


class StudyProgress:
    """Counts closed turns in the ledgers of a study's runs."""

    def __init__(self, study: Study, folder: Path) -> None:
        self._turns = {folder / job.path: job.config.turns for job in study.jobs}
        self._ended: set[Path] = set()
        self._closed: dict[Path, tuple[Stamp, int]] = {}
        self._console = Console(stderr=True, highlight=False)
        self._drawn = self._console.is_interactive and self._console.file.isatty()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total} turns"))
        more = TextColumn("{task.fields[left]}")
        self._bar = Progress(*columns, more, console=self._console, disable=not self._drawn, transient=True)
        self._stop = threading.Event()

    def follow(self, found: Iterable[Finished]) -> Iterator[Finished]:
        """Pass on every run as it ends, and tell of it."""
        total, planned = len(self._turns), sum(self._turns.values())
        before = self._done()
        left = TimeLeft(planned)
        left.begin_at(before)
        with self._bar as bar:
            task = bar.add_task(f"0 of {total} runs", total=planned, completed=before, left="")

            def update() -> None:
                done = self._done()
                left.reached(done)
                runs = f"{len(self._ended)} of {total} runs"
                bar.update(task, completed=done, description=runs, left=left.text.removeprefix(", "))

            with self._every(update):
                for one in found:
                    self._ended.add(one.folder)
                    update()
                    reason = f" ({plain(one.reason, 160)})" if one.reason else ""
                    line = f"{len(self._ended)}/{total} {plain(str(one.folder))}: {one.status}{reason}"
                    if not self._drawn:
                        self._console.print(Text(line + left.text), soft_wrap=True)
                    elif one.status != "complete":
                        self._console.print(Text(line), soft_wrap=True)
                    yield one

    def _done(self) -> int:
        """Turns that are closed; those that a run ended without are not owed any more."""
        return sum(turns if path in self._ended else self._closed_in(path) for path, turns in self._turns.items())

    def _closed_in(self, path: Path) -> int:
        now = stamp(path)
        known = self._closed.get(path)
        if known is None or known[0] != now:
            known = self._closed[path] = (now, (quick_summary(path).turns or 0) if any(now) else 0)
        return known[1]

    @contextmanager
    def _every(self, update: Callable[[], None]) -> Iterator[None]:
        def watch() -> None:
            while not self._stop.wait(_EVERY_SECONDS):
                update()

        if not self._drawn:
            yield
            return
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._stop.set()
            watcher.join()
