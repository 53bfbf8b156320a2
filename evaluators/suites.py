"""Lists of evaluators by name, for configurations and for `turngate score`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from turngate.errors import UnknownComponent
from turngate.registry import nearest

__all__ = ["PREFIX", "SUITES", "Suite", "expanded", "members"]

PREFIX = "suite:"
"""What a suite's name starts with where an evaluator could stand."""

_BLIND = ("brisque", "niqe", "piqe")
_COMPARING = ("psnr", "ssim", "ms_ssim", "ciede2000", "geometry")
_KNOWN = (
    "brisque", "niqe", "piqe", "cnniqa", "dbcnn", "hyperiqa", "clipiqa", "liqe", "qualiclip", "musiq", "maniqa", "tres",
)  # fmt: skip


@dataclass(frozen=True)
class Suite:
    """What a suite is, and what is in it."""

    what: str
    """One line."""
    types: Callable[[], list[str]]
    """Types of its evaluators; raises `MissingExtra` where they come from a package that is not installed."""


def _all_blind() -> list[str]:
    from turngate.evaluators.pyiqa import read_catalogue

    found = [f"pyiqa:{entry.name}" for entry in read_catalogue().values() if not (entry.compares or entry.captioned)]
    return [*_BLIND, *found]


SUITES: Mapping[str, Suite] = {
    "classic": Suite(
        "BRISQUE, NIQE, PIQE and the full-reference metrics of our own: no torch, no network",
        lambda: [*_BLIND, *_COMPARING],
    ),
    "banana100-known": Suite(
        "the 12 metrics of the Banana100 paper whose names are known; its other 9 are not", lambda: _prefixed(_KNOWN)
    ),
    "nr-all": Suite("every no-reference metric of pyiqa that needs the image alone, and ours", _all_blind),
}
"""Suites by name."""


def members(name: str) -> list[str]:
    """Types of the evaluators in a suite; raises `UnknownComponent` with the nearest name."""
    if name not in SUITES:
        raise UnknownComponent(f"no suite is called {name!r}{nearest(name, list(SUITES))}")
    return SUITES[name].types()


def expanded(raw: Any) -> Any:
    """A list or mapping of evaluators with every `suite:NAME` replaced by what is in it, each once."""
    if isinstance(raw, Mapping):
        spread: dict[str, Any] = {}
        for name, item in raw.items():
            spread |= {type_: type_ for type_ in members(item[len(PREFIX) :])} if _is_suite(item) else {name: item}
        return spread
    return list(_spread(raw)) if isinstance(raw, list) else raw


def _spread(items: Iterable[Any]) -> Iterable[Any]:
    seen: set[str] = set()
    for item in items:
        for each in members(item[len(PREFIX) :]) if _is_suite(item) else [item]:
            if not isinstance(each, str) or each not in seen:
                yield each
            seen |= {each} if isinstance(each, str) else set()


def _is_suite(item: Any) -> bool:
    return isinstance(item, str) and item.startswith(PREFIX)


def _prefixed(names: Iterable[str]) -> list[str]:
    return [f"pyiqa:{name}" for name in names]
