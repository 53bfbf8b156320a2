"""The site: every page is in its navigation, README leads to every page, the reference holds every public name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import turngate

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


class _MkDocs(yaml.SafeLoader):
    """Reads mkdocs.yml as far as it is plain YAML: tags that name Python objects are left aside."""


_MkDocs.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def _named(part: Any) -> Iterator[str]:
    """Every page below a part of the navigation."""
    if isinstance(part, str):
        yield part
    else:
        for below in part.values() if isinstance(part, dict) else part:
            yield from _named(below)


def test_navigation_has_every_page_once() -> None:
    read = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _MkDocs)  # a safe loader
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(_named(read["nav"])) == sorted(["index.md", *pages])


def test_readme_leads_to_every_page() -> None:
    """Pages of a folder are reached from the page that stands for it."""
    leads = {"README.md": "docs/{}.md", "docs/editors.md": "editors/{}.md", "docs/design/README.md": "{}.md"}
    folders = {"README.md": DOCS, "docs/editors.md": DOCS / "editors", "docs/design/README.md": DOCS / "design"}
    for page, link in leads.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        stems = [below.stem for below in folders[page].glob("*.md") if below.stem != "README"]
        assert [stem for stem in sorted(stems) if f"]({link.format(stem)}" not in text] == [], page
    assert "](docs/design/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_reference_has_every_public_name() -> None:
    told = re.findall(r"^::: [\w.]*?(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(set(turngate.__all__) - set(told)) == []
