"""How far a study is, on standard error: a live table of its runs on a terminal, a line per run elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from turngate.cli.columns import TimeLeft, plain
from turngate.errors import counted
from turngate.pages.viewer import QuickSummary, Stamp, quick_summary, stamp
from turngate.traces.analysis.run import VERDICT_WORDS

if TYPE_CHECKING:
    from turngate.graphs.study import Finished, Study

__all__ = ["StudyProgress"]

_LISTED = 16
"""Most runs that are listed beneath the bar."""

_EVERY_SECONDS = 1.0
"""Between two looks at the ledgers: the runs work in other processes, and a run may take an hour."""


class StudyProgress:
    """Counts closed turns in the ledgers of a study's runs."""

    def __init__(self, study: Study, folder: Path) -> None:
        self._turns = {folder / job.path: job.config.turns for job in study.jobs}
        self._names = {folder / job.path: " ".join((job.arm, *job.path.parts[1:])) for job in study.jobs}
        self._ended: set[Path] = set()
        self._seen: dict[Path, tuple[Stamp, QuickSummary]] = {}
        self._console = Console(stderr=True, highlight=False)
        self._drawn = self._console.is_interactive and self._console.file.isatty()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total} turns"))
        self._bar = Progress(*columns, TextColumn("{task.fields[left]}"), console=self._console, auto_refresh=False)
        self._stop = threading.Event()

    def follow(self, found: Iterable[Finished]) -> Iterator[Finished]:
        """Pass on every run as it ends, and tell of it."""
        total, planned = len(self._turns), sum(self._turns.values())
        before = self._done()
        left = TimeLeft(planned)
        left.begin_at(before)
        bar = self._bar
        live = Live(get_renderable=self._shown, console=self._console, transient=True, refresh_per_second=1)
        with live if self._drawn else nullcontext():
            task = bar.add_task(f"0 of {counted(total, 'run')}", total=planned, completed=before, left="")

            def update() -> None:
                done = self._done()
                left.reached(done)
                runs = f"{len(self._ended)} of {counted(total, 'run')}"
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

    def _shown(self) -> RenderableType:
        """The bar, and beneath it every run so far, where they are few."""
        if len(self._turns) > _LISTED:
            return self._bar
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for title in ("run", "turns", "progress", "exposure", "last new image", "so far"):
            table.add_column(title, justify="left" if title in ("run", "so far") else "right", no_wrap=True)
        for path, turns in self._turns.items():
            known = self._seen.get(path)
            if known is None or not known[1].turns:
                table.add_row(Text(plain(self._names[path], 60)), f"0/{turns}", style="dim")
                continue
            one = known[1]
            progress = "-" if one.progress is None else f"{one.progress:.0f} per 100"
            exposure = "-" if one.exposure is None else f"{100 * one.exposure:.0f} %"
            last = f"turn {one.last_new}" if one.last_new else "none yet"
            word = VERDICT_WORDS[one.verdict] if one.verdict else "-"
            table.add_row(Text(plain(self._names[path], 60)), f"{one.turns}/{turns}", progress, exposure, last, word)
        return Group(table, self._bar)

    def _done(self) -> int:
        """Turns that are closed; those that a run ended without are not owed any more."""
        closed = {path: self._closed_in(path, turns) for path, turns in self._turns.items()}
        return sum(turns if path in self._ended else closed[path] for path, turns in self._turns.items())

    def _closed_in(self, path: Path, planned: int) -> int:
        now = stamp(path)
        if not any(now):
            return 0
        known = self._seen.get(path)
        if known is None or known[0] != now:
            known = self._seen[path] = (now, quick_summary(path, planned))
        return known[1].turns or 0

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
