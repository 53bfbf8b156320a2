"""`turngate view`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from turngate.cli._options import json_option

__all__ = ["view_command"]


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 (default) takes a free one."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--labels", type=click.Path(path_type=Path), help="CSV file for labels; default FOLDER/labels.csv.")
@click.option("--by", help="Name to label under; default your user name.")
@json_option
def view_command(folder: Path, port: int, no_browser: bool, labels: Path | None, by: str | None, as_json: bool) -> int:
    """Look at the runs and studies below FOLDER (default: runs) in the browser, until SIGINT or SIGTERM.

    Only this machine is answered, and only with the token in the address.
    """
    import secrets
    import webbrowser

    from turngate.agent.reasoning import READERS
    from turngate.cli._reviews import Reviews
    from turngate.errors import UserError
    from turngate.loopback import HOST, bind, serve
    from turngate.pages.viewer.app import make_app
    from turngate.pages.viewer.labelling import LabelBook, Means

    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: give the folder that holds the runs, {folder.parent} perhaps")
    if not folder.is_dir():
        raise UserError(f"no folder at {folder}: give one that holds runs")
    file = labels or folder / "labels.csv"
    if labels is None and not file.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{file} is a link that leads out of the folder: name the file with --labels, if you trust it")
    token = secrets.token_urlsafe(24)
    book = LabelBook(file, by or _user())
    listening = bind(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"

    def ready() -> None:
        print(json.dumps({"url": url}) if as_json else f"{folder} at {url} (Ctrl-C stops)", flush=True)
        if not no_browser:
            webbrowser.open(url)

    reader = READERS.build(READERS.configure("lexicon", "reader"))
    with Reviews() as reviews:
        means = Means(book, reviews.start, reader)
        serve(make_app(folder, token, means), listening, ready)
    return 0


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without users
        return ""
