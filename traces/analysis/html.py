"""Small pieces of HTML for notebooks, which show what has `_repr_html_`."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turngate.picture import Picture

__all__ = ["lines_html", "paragraph", "pictures_html", "table_html"]

_CELL = "style='text-align:left;padding:2px 12px 2px 0;vertical-align:top'"


def paragraph(text: str) -> str:
    """`text` as a paragraph, escaped."""
    return f"<p style='max-width:60em'>{escape(text)}</p>"


def table_html(rows: Sequence[dict[str, str]], title: str = "") -> str:
    """Rows (column -> words) as a table under `title`; empty without rows. A column that a row lacks stays empty."""
    if not rows:
        return ""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th {_CELL}>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(row.get(name, ''))}</td>" for name in columns) + "</tr>" for row in rows
    )
    return f"{paragraph(title) if title else ''}<table><tr>{head}</tr>{body}</table>"


def lines_html(lines: Iterable[tuple[str, str]]) -> str:
    """Short titles with a sentence each."""
    body = "".join(f"<tr><th {_CELL}>{escape(title)}</th><td {_CELL}>{escape(text)}</td></tr>" for title, text in lines)
    return f"<table>{body}</table>"


def pictures_html(pictures: Iterable[tuple[str, Picture]], side: int = 160) -> str:
    """Pictures side by side, each with its caption, at most `side` pixels wide and high, as JPEG within the HTML."""
    found = []
    for caption, picture in pictures:
        small = picture.to_pil()
        small.thumbnail((side, side))
        buffer = io.BytesIO()
        small.save(buffer, "JPEG", quality=85)
        source = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
        image = f"<img src='{source}' alt='{escape(caption, quote=True)}'>"
        found.append(
            "<figure style='display:inline-block;margin:0 8px 0 0'>"
            f"{image}<figcaption>{escape(caption)}</figcaption></figure>"
        )
    return "".join(found)
