"""`turngate graph`."""

from __future__ import annotations

from pathlib import Path

import click

from turngate.cli._options import out_option

__all__ = ["graph_command"]


@click.command("graph")
@out_option("Draw to this file instead: .png, .svg or .mmd.")
def graph_command(out: Path | None) -> int:
    """Print the state machine as Mermaid text, or draw it without network."""
    from turngate.errors import MachineError, UserError
    from turngate.graphs.machine import draw, mermaid

    if out is None:
        click.echo(mermaid())
        return 0
    if out.suffix not in (".png", ".svg", ".mmd"):
        raise UserError(f"--out {out}: give a name that ends in .png, .svg or .mmd")
    try:
        out.write_bytes(mermaid().encode() if out.suffix == ".mmd" else draw(out.suffix.removeprefix(".")))
    except OSError as error:
        raise MachineError(f"cannot write {out}: {error.strerror or error}") from error
    click.echo(out)
    return 0
