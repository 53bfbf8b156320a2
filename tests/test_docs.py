"""Documentation: every relative link leads somewhere, every command that is named exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import click
import pytest

from turngate.cli import cli
from turngate.cli.errors import CODES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += [
    ROOT / room / "README.md" for room in ("agent", "graphs", "evaluators", "traces", "tests", "studies", "benchmarks")
]


def test_on_the_site_links_to_code_are_text() -> None:
    """`mkdocs build --strict` checks the others; a link that leads out of docs/ would be broken there."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "site" / "hooks.py")
    assert spec is not None and spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    others = "[gates](gates.md#controls), [here](#here), [x](https://e.org), ![i](../i.png)"
    told = hooks.inside(f"[agent/README.md](../agent/README.md), {others}", ROOT / "docs")
    assert told == f"`agent/README.md`, {others}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


def test_commands() -> None:
    named = {name for page in PAGES for name in re.findall(r"`turngate ([a-z-]+)", page.read_text())}
    commands = cli.list_commands(click.Context(cli))
    assert named <= set(commands)
    told = (ROOT / "docs" / "cli.md").read_text()
    for command in commands:
        assert re.search(rf"`(turngate )?{command}\b", told), command


def test_exit_codes() -> None:
    told = (ROOT / "docs" / "cli.md").read_text()
    for code in CODES:
        assert re.search(rf"\b{code}\b", told), code
