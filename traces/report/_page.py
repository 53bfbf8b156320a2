"""From a template and its values to one file that opens without network and runs nothing but its own scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from turngate.errors import MachineError
from turngate.traces.report._inert import clip, visible
from turngate.traces.report._thumbnails import Shot

__all__ = ["write_page"]

_HERE = Path(__file__).parent


def write_page(path: Path, template: str, figures: Mapping[str, str], shots: Iterable[Shot], **values: Any) -> Path:
    """Render `template` to `path` in one step; raises `MachineError` when it cannot be written.

    `figures` are Plotly figures as JSON by the name of their place in the page, `shots` all pictures that it shows.
    Only scripts whose hash stands in the page's policy run, so a text that slipped through as markup would be inert.
    """
    from plotly.offline import get_plotlyjs

    # Pictures first: the charting library is large, and nobody should wait for it to see the images.
    code = [(_HERE / "turns.js").read_text(encoding="utf-8")]
    if figures:
        code += [get_plotlyjs(), (_HERE / "charts.js").read_text(encoding="utf-8")]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in code)
    # Plotly writes its styles at run time. `file:` and 'self' let the full images beside the page load, nothing else.
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob: file: 'self'; "
        "base-uri 'none'; form-action 'none'"
    )
    thumbnails = {shot.sha256: shot.thumbnail for shot in shots if shot.thumbnail is not None}
    listed = ",".join(f'"{name}":{_data(figure)}' for name, figure in figures.items())
    page = _environment().get_template(template).render(
        policy=policy,
        css=Markup((_HERE / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        code=[Markup(text) for text in code],  # noqa: S704 - our own files and Plotly's
        thumbnails=Markup(_data(json.dumps(thumbnails))),  # noqa: S704 - escaped by _data
        figures=Markup("{" + listed + "}"),  # noqa: S704 - escaped by _data
        **values,
    )  # fmt: skip
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.part")
        temporary.write_text(page, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise MachineError(
            f"cannot write {path}: {error.strerror or error}: free some space or choose another folder"
        ) from error
    return path


def _data(text: str) -> str:
    """JSON that cannot end the script element that holds it."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_inert
    )  # fmt: skip
    environment.filters |= {"clip": clip, "number": _number, "duration": _duration, "size": _size}
    return environment


def _source(name: str) -> str:
    """A template without its indentation, which would be a fifth of the page."""
    return re.sub(r"^[ \t]+", "", (_HERE / name).read_text(encoding="utf-8"), flags=re.MULTILINE)


def _inert(value: Any) -> Any:
    """Applied to everything a template prints, so that no text can forget it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _duration(nanoseconds: int) -> str:
    seconds = nanoseconds / 1e9
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
