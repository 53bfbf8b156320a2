"""Goes on with runs that a person decided about in the viewer."""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from turngate.cli._reports import write_page
from turngate.errors import TurngateError, UserError
from turngate.graphs.runner import Review, continue_run
from turngate.pages.viewer.labelling import Verdict

__all__ = ["Reviews"]

_LAST_SECONDS = 60
"""So long a process may take to write the report of a run that waits again."""


class Reviews:
    """Goes on with reviewed runs, each in a process of its own; when the viewer stops, they do after their attempt."""

    def __init__(self) -> None:
        self._working: dict[Path, BaseProcess] = {}

    def __enter__(self) -> Reviews:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._working.values():
            process.terminate()
        for process in self._working.values():
            process.join()

    def start(self, folder: Path, verdict: Verdict) -> None:
        """Begin; what keeps the run from beginning is raised here."""
        before = self._working.get(folder)
        if before is not None:
            before.join(_LAST_SECONDS)  # the run waits again, its process may still write the report
            if before.is_alive():
                raise UserError("the run goes on already")
        spawn = get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_go_on, args=(folder, verdict, theirs))
        process.start()
        theirs.close()
        self._working[folder] = process
        try:
            problem = ours.recv()
        except EOFError:  # it died without a word
            problem = f"the run did not go on (exit code {process.exitcode}): try `turngate resume`"
        if problem:
            raise UserError(problem)


class _Begun:
    """Observer that tells the viewer that the run goes on."""

    def __init__(self, told: Connection) -> None:
        self._told = told

    def started(self, info: Any, started_ns: int) -> None:
        """The run was opened, and the review taken."""
        with suppress(OSError):  # the viewer is gone; the run goes on
            self._told.send("")

    def attempt(self, record: Any) -> None:
        """Nothing: the ledger has it."""

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Nothing: the ledger has it."""


def _go_on(folder: Path, verdict: Verdict, told: Connection) -> None:
    os.setsid()  # Ctrl-C is for the viewer, which then asks the run to stop
    review = Review(verdict.accept, verdict.comment, (verdict.turn, verdict.attempt))
    try:
        write_page(continue_run(folder, None, [_Begun(told)], review).folder)
    except TurngateError as error:
        with suppress(OSError):
            told.send(str(error))
