"""What MkDocs cannot do by itself: the first page is the README, and links that leave docs/ are text on the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

__all__ = ["inside", "on_files", "on_page_markdown"]

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_DOCS_LINK = re.compile(r"\]\(docs/")
_OWN_LABEL = re.compile(r"\[docs/([\w/-]+)\.md\]")


def inside(markdown: str, folder: Path) -> str:
    """`markdown` of a page in `folder`, without links to files that are not of the site; their text stays."""

    def kept(link: re.Match[str]) -> str:
        text, target = link[1], link[2].partition("#")[0]
        if "://" in target or not target or (folder / target).resolve().is_relative_to(ROOT / "docs"):
            return link[0]
        return text if text.startswith("`") else f"`{text}`"

    return _LINK.sub(kept, markdown)


def on_files(files: Any, config: Any) -> Any:
    """The README as the first page; its links begin in docs/ there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = _OWN_LABEL.sub(r"[\1]", _DOCS_LINK.sub("](", inside(text, ROOT)))
    text = text.partition("\n## Documentation\n")
    after = text[2].partition("\n\n")[2].partition("\n\n")[2] if text[2] else ""
    files.append(File.generated(config, "index.md", content=f"{text[0]}\n\n{after}"))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Other pages: links to code are text."""
    source = page.file.abs_src_path
    return markdown if source is None else inside(markdown, Path(source).parent)
