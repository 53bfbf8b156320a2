"""The list of everything in the viewer's folder, read once and again where something changed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from turngate.traces.viewer.entries import Entry, Kind, Spot, read_entry, walk
from turngate.traces.viewer.glance import Glance, Stamp, glance, stamp

__all__ = ["Found", "Index", "Order", "Query"]

Order = Literal["created", "name", "editor", "gate", "scenario", "status", "turns", "cost"]
_OF_LEDGER = ("status", "turns", "cost")
_FRESH_SECONDS = 2.0


@dataclass(frozen=True)
class Query:
    """What to list."""

    words: str = ""
    """Every word must stand in the place, editor, gate, scenario, question or status."""
    kind: Kind | Literal[""] = ""
    status: str = ""
    order: Order = "created"
    """`created` goes by the time of the small file."""
    down: bool = True
    page: int = 1
    size: int = 100


@dataclass(frozen=True)
class Found:
    """One page of the list."""

    rows: list[tuple[Entry, Glance | None]]
    total: int
    """Over all pages."""
    all: int
    """Without the filter."""
    unread: int
    """Runs whose ledger was not looked at yet: they stand last when sorted by status, turns or cost."""
    pages: int
    page: int


class Index:
    """Everything by key, cached by the time of its file; ledgers are read when shown, and all in the background.

    Ten thousand runs are found in a second: the first list reads no more than the files of the runs on it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._spots: dict[str, Spot] = {}
        self._entries: dict[Spot, Entry] = {}
        self._glances: dict[str, tuple[Stamp, Glance]] = {}
        self._scanned = -_FRESH_SECONDS
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None

    def get(self, key: str) -> Spot | None:
        """What has this key; something that appeared since is looked for."""
        if key not in self._spots:
            self.scan()
        return self._spots.get(key)

    def keys(self) -> dict[Path, str]:
        """Folder -> key of every run."""
        return {spot.path: spot.key for spot in self._spots.values() if spot.kind == "run"}

    def scan(self) -> None:
        """Walk the folder, unless that was done an instant ago."""
        with self._lock:
            if time.monotonic() - self._scanned >= _FRESH_SECONDS:
                self._spots = {spot.key: spot for spot in walk(self.root)}
                kept = set(self._spots.values())
                self._entries = {spot: entry for spot, entry in self._entries.items() if spot in kept}
                self._scanned = time.monotonic()

    def look(self, spot: Spot) -> Glance:
        """How the run stands now."""
        now = stamp(spot.path)
        known = self._glances.get(spot.key)
        # A run at work may end without a word: its status is asked anew.
        if known is None or known[0] != now or known[1].status in ("running", "interrupted"):
            known = (now, glance(spot.path))
            self._glances[spot.key] = known
        return known[1]

    def find(self, query: Query) -> Found:
        """One page of what matches."""
        self.scan()
        spots = list(self._spots.values())
        words = query.words.lower().split()
        kept = [spot for spot in spots if self._matches(spot, query, words)]
        kept.sort(key=lambda spot: spot.place)
        kept.sort(key=lambda spot: self._sort_key(spot, query.order), reverse=query.down)
        if query.order in _OF_LEDGER:  # what is not known yet stands last, whichever way the others are sorted
            kept.sort(key=lambda spot: spot.key not in self._glances)
        pages = max(1, -(-len(kept) // query.size))
        page = min(query.page, pages)
        shown = kept[(page - 1) * query.size : page * query.size]
        rows = [(self._entry(spot), self.look(spot) if spot.kind == "run" else None) for spot in shown]
        unread = sum(spot.kind == "run" and spot.key not in self._glances for spot in spots)
        if unread:
            self._read_on()
        return Found(rows, len(kept), len(spots), unread, pages, page)

    def _entry(self, spot: Spot) -> Entry:
        known = self._entries.get(spot)
        if known is None:
            known = self._entries[spot] = read_entry(spot)
        return known

    def _status(self, spot: Spot) -> str:
        known = self._glances.get(spot.key)
        return known[1].status if known else ""

    def _matches(self, spot: Spot, query: Query, words: list[str]) -> bool:
        if query.kind not in ("", spot.kind) or query.status not in ("", self._status(spot)):
            return False
        text = f"{self._entry(spot).text} {self._status(spot)}" if words else ""
        return all(word in text for word in words)

    def _sort_key(self, spot: Spot, order: Order) -> str | float:
        known = self._glances.get(spot.key)
        match order:
            case "created":
                return spot.changed_ns
            case "name":
                return spot.place
            case "status":
                return self._status(spot)
            case "turns":
                return known[1].turns if known else 0
            case "cost":
                return (known[1].cost_usd or 0.0) if known else 0.0
            case _:
                return str(getattr(self._entry(spot), order))

    def _read_on(self) -> None:
        """Look at what nobody looked at yet, beside the answering of requests."""
        with self._lock:
            if self._reader is not None and self._reader.is_alive():
                return
            waiting = [spot for spot in self._spots.values() if spot.kind == "run" and spot.key not in self._glances]
            self._reader = threading.Thread(target=self._read, args=(waiting,), daemon=True)
            self._reader.start()

    def _read(self, waiting: list[Spot]) -> None:
        for spot in waiting:
            self._entry(spot)
            self.look(spot)
            time.sleep(0)  # requests come first
