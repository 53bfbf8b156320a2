"""Text that fits: measured in the font that it is drawn with, broken into lines or shortened in its middle."""

from __future__ import annotations

from turngate.traces.report.inert import visible

__all__ = ["SMALL", "TEXT", "fitted", "line_height", "lines_of", "name_of", "width_of"]

TEXT = 7.0
"""Points of everything but the note."""
SMALL = 6.5
"""Points of the note beneath a figure; nothing is smaller."""

_BREAK_AFTER = " -_./:,;"
# Screen, print and PDF round the widths of letters differently.
_SLACK = 1.03


def name_of(text: str) -> str:
    """A name on one line with nothing hidden; a character that the font lacks stands as its code point."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known = get_font(findfont(FontProperties())).get_charmap()
    line = visible(text).replace("\n", " ").replace("\t", " ")
    return "".join(letter if ord(letter) in known else f"[U+{ord(letter):04X}]" for letter in line)


def width_of(text: str, size: float = TEXT) -> float:
    """Width in inches of one line at `size` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72 * _SLACK


def line_height(size: float = TEXT) -> float:
    """Height in inches of a line among others."""
    return 1.25 * size / 72


def fitted(text: str, inches: float, size: float = TEXT) -> str:
    """`text`, or as much of its start and end as fits: names that differ in their last letters stay apart."""
    kept, shown = len(text), text
    while width_of(shown, size) > inches and kept > 1:
        kept -= 1
        shown = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
    return shown


def lines_of(text: str, inches: float, size: float = TEXT, most: int | None = None) -> list[str]:
    """`text` in lines that fit, at most `most` of them: what is too long for that is shortened in its middle."""
    lines = _broken(text, inches, size)
    kept = len(text)
    while most is not None and len(lines) > most and kept > 1:
        kept -= 1
        lines = _broken(f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}", inches, size)
    return lines


def _broken(text: str, inches: float, size: float) -> list[str]:
    lines, rest = [], text
    while width_of(rest, size) > inches:
        fits = max((n for n in range(1, len(rest)) if width_of(rest[:n].rstrip(), size) <= inches), default=1)
        at = max((n for n in range(1, fits + 1) if rest[n - 1] in _BREAK_AFTER), default=fits)
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
        if not rest:
            return lines
    return [*lines, rest]
