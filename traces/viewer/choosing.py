"""Which runs and studies a query keeps, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from turngate.pages.viewer.entries import Entry
from turngate.traces.viewer.glance import Glance
from turngate.traces.viewer.query import Damage, Order, Query

__all__ = ["Listed", "chosen"]


@dataclass(frozen=True)
class Listed:
    """A run or study as far as it was read."""

    entry: Entry
    glance: Glance | None = None
    """None for a study, and for a run whose ledger was not looked at yet."""


def chosen(listed: Iterable[Listed], query: Query) -> list[Listed]:
    """What matches, in order; what is not known of a run stands last whichever way the others are sorted."""
    words = query.q.lower().split()
    kept = [one for one in listed if _matches(one, query, words)]
    kept.sort(key=lambda one: one.entry.spot.place)
    known = [(value, one) for one in kept if (value := _value(one, query.order)) is not None]
    unknown = [one for one in kept if _value(one, query.order) is None]
    known.sort(key=lambda pair: pair[0], reverse=query.down)
    return [one for _, one in known] + unknown


def _matches(one: Listed, query: Query, words: list[str]) -> bool:
    entry, found = one.entry, one.glance
    status = found.status if found else ""
    if query.kind not in ("", entry.spot.kind) or query.status not in ("", status):
        return False
    if query.editor not in ("", entry.editor) or query.gate not in ("", entry.gate):
        return False
    if query.damage and (found is None or not _is_so(found, query.damage)):
        return False
    text = f"{entry.text} {status.replace('_', ' ')}" if words else ""
    return all(word in text for word in words)


def _is_so(found: Glance, damage: Damage) -> bool:
    if found.propagated is None:
        return damage == "not_measured" and found.status != "unreadable"
    return {
        "": True,
        "not_measured": False,
        "propagated": found.propagated > 0,
        "none_propagated": found.propagated == 0,
        "caught": bool(found.caught),
        "collapsed": found.collapse_turn is not None,
        "not_collapsed": found.collapse_turn is None,
    }[damage]


def _value(one: Listed, order: Order) -> str | float | None:
    """What to sort by; None when it is not known."""
    entry, found = one.entry, one.glance
    match order:
        case "name":
            return entry.spot.place
        case "created" | "editor" | "gate" | "scenario":
            return getattr(entry, order) or None
        case _ if found is None:
            return None
        case "collapse":  # a run that did not collapse did so later than all others
            return None if found.propagated is None else found.collapse_turn or math.inf
        case "cost":
            return found.cost_usd
        case "status" | "turns" | "caught" | "propagated":
            value: str | int | None = getattr(found, order)
            return value
