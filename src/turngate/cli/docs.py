"""`turngate docs`: the pages of the documentation, which come with the package."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import click

from turngate.cli.columns import print_rows
from turngate.cli.options import json_option
from turngate.errors import MachineError, UserError
from turngate.registry import nearest

__all__: list[str] = []


@click.command("docs")
@click.argument("page", required=False)
@json_option
def docs_command(page: str | None, as_json: bool) -> int:
    """List the pages of the documentation, or print PAGE: `turngate docs tutorial`."""
    folder = _folder()
    pages = {file.relative_to(folder).with_suffix("").as_posix(): file for file in sorted(folder.rglob("*.md"))}
    if page is not None and page.removesuffix(".md") not in pages:
        raise UserError(f"no page is called {page!r}{nearest(page, list(pages))}")
    text = None if page is None else pages[page.removesuffix(".md")].read_text(encoding="utf-8")
    titles = {name: _title(file) for name, file in pages.items()}
    if as_json:
        print(json.dumps({"folder": str(folder), "pages": titles, "page": page, "text": text}, ensure_ascii=False))
    elif text is not None:
        click.echo(text)
    else:
        print_rows([{"page": name, "title": title} for name, title in titles.items()], left=("title",))
        click.echo(f"\nthey lie in {folder}")
    return 0


def _folder() -> Path:
    """Of the installed package, or of a copy of the repository; raises `MachineError` where there is none."""
    checkout = Path(__file__).resolve().parents[3] / "docs"
    for folder in (checkout, Path(sysconfig.get_path("data")) / "share" / "doc" / "turngate"):
        if (folder / "tutorial.md").is_file():
            return folder
    raise MachineError("the documentation was not installed with the package: install turngate from its wheel")


def _title(file: Path) -> str:
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").replace("`", "")
