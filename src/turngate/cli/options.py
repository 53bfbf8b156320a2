"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["json_option", "out_option", "quiet_option", "reader_option", "set_option"]

F = TypeVar("F", bound=Callable[..., Any])

set_option: Callable[[F], F] = click.option(
    "--set", "overrides", multiple=True, metavar="FIELD=VALUE", help="Change a field, e.g. --set gate.margin=5."
)
quiet_option: Callable[[F], F] = click.option("--quiet", "-q", is_flag=True, help="No live view.")
json_option: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output and nothing else there."
)

reader_option: Callable[[F], F] = click.option(
    "--reader",
    metavar="NAME|YAML",
    help="What reads reasoning summaries, e.g. lexicon or {type: zero_shot, folder: PATH}; default as configured.",
)


def out_option(text: str) -> Callable[[F], F]:
    """`--out` with a command's own explanation."""
    return click.option("--out", type=click.Path(path_type=Path), help=text)
