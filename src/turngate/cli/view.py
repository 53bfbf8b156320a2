"""`turngate view`, and the processes that continue reviewed runs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import click

from turngate.cli.options import json_option, reader_option
from turngate.cli.places import PlacePath
from turngate.cli.report import summary_reader, write_page
from turngate.errors import TurngateError, UserError
from turngate.graphs.runner import continue_run
from turngate.graphs.work import Review
from turngate.pages.viewer import ReviewVerdict

__all__ = []


@click.command("view")
@click.argument("folder", type=PlacePath("run", "study", "runs", "folder"), default=Path("runs"))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 (default) takes a free one."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--labels", type=click.Path(path_type=Path), help="CSV file for labels; default FOLDER/labels.csv.")
@click.option("--by", help="Name to label and review under; default your user name.")
@reader_option
@json_option
def view_command(
    folder: Path, port: int, no_browser: bool, labels: Path | None, by: str | None, reader: str | None, as_json: bool
) -> int:
    """Look at the runs and studies below FOLDER (default: runs) in the browser, until SIGINT or SIGTERM.

    Only this machine is answered, and only with the token in the address.
    """
    import secrets
    import webbrowser

    from turngate.loopback import HOST, bind, serve
    from turngate.pages.viewer import LabelBook, NoteBook, ViewerOptions, make_app

    if not folder.is_dir():
        raise UserError(f"no folder at {folder}: give one that holds runs")
    file = labels or folder / "labels.csv"
    if labels is None and not file.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{file} is a link that leads out of the folder: name the file with --labels, if you trust it")
    notes = folder / "notes.jsonl"
    if not notes.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{notes} is a link that leads out of the folder: remove the link")
    token = secrets.token_urlsafe(24)
    book = LabelBook(file, by or _user())
    listening = bind(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"

    def ready() -> None:
        print(json.dumps({"url": url}) if as_json else f"{folder} at {url} (Ctrl-C stops)", flush=True)
        if not no_browser:
            webbrowser.open(url)

    with Reviews(reader) as reviews:
        options = ViewerOptions(book, reviews.start, NoteBook(notes.resolve(), book.by), summary_reader(reader))
        serve(make_app(folder, token, options), listening, ready)
    return 0


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without users
        return ""


# Goes on with runs that a person decided about in the viewer.

_LAST_SECONDS = 60
"""So long a process may take to write the report of a run that waits again."""


class Reviews:
    """Goes on with reviewed runs, each in a process of its own; when the viewer stops, they do after their attempt."""

    def __init__(self, reader: str | None = None) -> None:
        """`reader` is what `--reader` gives: it reads the summaries for the reports."""
        self._reader = reader
        self._working: dict[Path, BaseProcess] = {}

    def __enter__(self) -> Reviews:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._working.values():
            process.terminate()
        for process in self._working.values():
            process.join()

    def start(self, folder: Path, verdict: ReviewVerdict) -> None:
        """Begin; what keeps the run from beginning is raised here."""
        before = self._working.get(folder)
        if before is not None:
            before.join(_LAST_SECONDS)  # the run waits again, its process may still write the report
            if before.is_alive():
                raise UserError("the run goes on already")
        spawn = get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_go_on, args=(folder, verdict, self._reader, theirs))
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

    def __init__(self, begun: Connection) -> None:
        self._begun = begun

    def started(self, info: Any, started_ns: int) -> None:
        """The run was opened, and the review taken."""
        with suppress(OSError):  # the viewer is gone; the run goes on
            self._begun.send("")

    def attempt(self, record: Any) -> None:
        """Nothing: the ledger has it."""

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Nothing: the ledger has it."""


def _go_on(folder: Path, verdict: ReviewVerdict, reader: str | None, begun: Connection) -> None:
    os.setsid()  # Ctrl-C is for the viewer, which then asks the run to stop
    review = Review(verdict.accept, verdict.comment, verdict.by, (verdict.turn, verdict.attempt))
    try:
        write_page(continue_run(folder, None, [_Begun(begun)], review).folder, reader)
    except TurngateError as error:
        with suppress(OSError):
            begun.send(str(error))
