"""`turngate validate`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from turngate.cli._options import json_option

__all__ = ["validate_command"]


@click.command("validate")
@click.argument("run", type=click.Path(path_type=Path))
@json_option
def validate_command(run: Path, as_json: bool) -> int:
    """Check that RUN holds what its ledger says: rows, chain of images, files and their hashes."""
    from turngate.graphs.validate import validate

    found = validate(run)
    if as_json:
        print(json.dumps({"run": str(run), "valid": not found.problems, **found.as_dict()}, ensure_ascii=False))
    else:
        for problem in found.problems:
            click.echo(f"wrong: {problem}")
        for remark in found.remarks:
            click.echo(f"note: {remark}")
        click.echo(
            f"{found.attempts} attempts, {found.images} images: {'valid' if not found.problems else 'not valid'}"
        )
    return 1 if found.problems else 0
