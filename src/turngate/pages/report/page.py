"""From a template and its values to one file that opens without network and runs nothing but its own scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from turngate.errors import MachineError, counted
from turngate.pages.report.thumbnails import Shot
from turngate.traces.analysis.statistics import Estimate
from turngate.whole_file import write_whole

__all__ = ["HERE", "as_data", "clip", "data", "environment", "scripts", "visible", "write_page"]


# Text from models, prompts and files made harmless to read: what cannot be seen is shown, nothing is interpreted.

# Control characters except newline and tab; bidirectional controls, which reorder what is read; zero-width and tag
# characters, which hide text; line separators; lone surrogates and non-characters, which no UTF-8 file can hold.
# Zero-width joiners stay: Persian, Hindi and emoji are written with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

_LONG = 1000
"""Length, in characters, from which a place has room to say how much was left out."""


def visible(text: str) -> str:
    """`text` with every character shown that would not be seen or would change how the rest is read.

    C0 controls become their control pictures (an escape becomes U+241B), all others their code point in brackets.
    """
    return _HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def clip(text: object, length: int = 4000) -> str:
    """At most `length` characters and a sign of what was left out: how much it was, unless the place is too short."""
    whole = str(text)
    left_out = len(whole) - length
    if left_out <= 0:
        return whole
    return f"{whole[:length]} ..." + (f" ({left_out} more characters in the ledger)" if length >= _LONG else "")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return chr(0x2421) if code == 0x7F else f"[U+{code:04X}]"


HERE = Path(__file__).parent
"""Folder of the templates, scripts and styles."""

_CHARTS = ("vendor/plotly-basic.min.js", "charts.js")


def scripts(figures: bool) -> list[str]:
    """Names of the scripts of a page, in order. Pictures first: nobody should wait for charts to see the images."""
    return ["page.js", "compare.js", "turns.js", "study.js", *(_CHARTS if figures else ()), "start.js"]


def write_page(path: Path, template: str, figures: Mapping[str, str], shots: Iterable[Shot], **values: Any) -> Path:
    """Render `template` to `path` in one step; raises `MachineError` when it cannot be written.

    `figures` are Plotly figures as JSON by the name of their place in the page, `shots` all pictures that it shows.
    Only scripts whose hash is in the page's policy run, so a text that slipped through as markup would do nothing.
    """
    code = [(HERE / name).read_text(encoding="utf-8") for name in scripts(bool(figures))]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in code)
    # Plotly writes its styles at run time. `file:` and 'self' let the full images beside the page load, nothing else.
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob: file: 'self'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment().get_template(template).render(
        policy=policy,
        css=Markup((HERE / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        code=[Markup(text) for text in code],  # noqa: S704 - our own files and Plotly's
        **data(figures, shots),
        **values,
    )  # fmt: skip
    try:
        write_whole(path, page)
    except OSError as error:
        raise MachineError(
            f"cannot write {path}: {error.strerror or error}: free some space or choose another folder"
        ) from error
    return path


def data(figures: Mapping[str, str], shots: Iterable[Shot]) -> dict[str, Markup]:
    """What the scripts of a page read: `figures` and `thumbnails`."""
    thumbnails = {shot.sha256: shot.thumbnail for shot in shots if shot.thumbnail is not None}
    listed = ",".join(f'"{name}":{as_data(figure)}' for name, figure in figures.items())
    return {
        "thumbnails": as_data(json.dumps(thumbnails)),
        "figures": Markup("{" + listed + "}"),  # noqa: S704 - escaped by as_data
    }


def as_data(text: str) -> Markup:
    """JSON that cannot end the script element that holds it."""
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(safe)  # noqa: S704 - nothing in it is markup


@cache
def environment(*more: Path) -> Environment:
    """Templates of this folder and of `more`; everything they print is escaped and made visible."""
    found = Environment(
        loader=FunctionLoader(partial(_source, (*more, HERE))), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, finalize=_made_visible,
    )  # fmt: skip
    found.filters |= {
        "clip": clip, "number": _number, "duration": _duration, "size": _size, "estimate": _estimate,
        "difference": _difference, "counted": counted,
    }  # fmt: skip
    return found


def _source(folders: tuple[Path, ...], name: str) -> str:
    """A template without its indentation, which would be a fifth of the page."""
    path = next(path for folder in folders if (path := folder / name).exists())
    return re.sub(r"^[ \t]+", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def _made_visible(value: Any) -> Any:
    """Applied to everything a template prints, so that no text can forget it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _estimate(estimate: Estimate, percent: bool = True) -> Markup:
    """A number and, smaller, its interval."""
    if estimate.value is None:
        return Markup('<span class="nil">none</span>')
    scale, form, unit = (100.0, ".0f", " %") if percent else (1.0, ".3g", "")
    text = f"{estimate.value * scale:{form}}{unit}"
    if estimate.low is None or estimate.high is None:
        return Markup(text)  # noqa: S704 - a number
    return Markup(f"{text} <small>[{estimate.low * scale:{form}}, {estimate.high * scale:{form}}]</small>")  # noqa: S704 - numbers


def _difference(estimate: Estimate, scale: float) -> Markup:
    """A difference with its sign and, smaller, its interval."""
    if estimate.value is None:
        return Markup('<span class="nil">none</span>')
    text = f"{round(estimate.value * scale, 9):+.3g}"  # no dust of a subtraction
    if estimate.low is None or estimate.high is None:
        return Markup(text)  # noqa: S704 - a number
    return Markup(f"{text} <small>[{estimate.low * scale:+.3g}, {estimate.high * scale:+.3g}]</small>")  # noqa: S704 - numbers


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
