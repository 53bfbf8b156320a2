"""`turngate new`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

__all__ = ["new_command"]


@click.command("new")
@click.argument("path", type=click.Path(path_type=Path), default=Path("turngate.yaml"))
@click.option("--image", default="skimage:astronaut", help="The origin: a file, or skimage:NAME.")
def new_command(path: Path, image: str) -> int:
    """Write a commented configuration to PATH (default turngate.yaml); never overwrites."""
    from turngate.errors import MachineError, UserError

    template = files("turngate.cli").joinpath("template.yaml").read_text(encoding="utf-8")
    quoted = (
        "'" + image.replace("'", "''") + "'"
        if not image.isascii() or any(c in image for c in " #'\"{}[],&*")
        else image
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template.replace("skimage:astronaut", quoted, 1))
    except FileExistsError:
        raise UserError(f"{path} exists already: give another name") from None
    except OSError as error:
        raise MachineError(f"cannot write {path}: {error.strerror or error}") from error
    click.echo(f"{path} written; run it with: turngate run {path}")
    return 0
