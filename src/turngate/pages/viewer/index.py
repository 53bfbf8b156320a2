"""The list of everything in the viewer's folder, read once and again where something changed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from turngate.pages.viewer.entries import Entry, Spot, read_entry, walk
from turngate.traces.lock import holder
from turngate.traces.viewer.choosing import Listed, chosen
from turngate.traces.viewer.glance import Glance, Stamp, glance, stamp
from turngate.traces.viewer.query import Query

__all__ = ["Found", "Index"]

_PATIENCE_SECONDS = 0.5
"""Until then a list also looks at ledgers that nobody looked at yet; the others are read beside it."""
_UNDECIDED = ("running", "interrupted")
"""What a run is called by whether a process works on it, which its ledger does not tell."""


@dataclass(frozen=True)
class Found:
    """One page of the list."""

    rows: list[Listed]
    total: int
    """Over all pages."""
    all: int
    """Without the filter."""
    unread: int
    """Runs whose ledger was not looked at yet: no filter of what it holds finds them; sorted by it, they stand last."""
    pages: int
    page: int
    editors: list[str]
    """All there are, to choose from."""
    gates: list[str]
    costs: bool
    """Whether any run told what it cost."""


class Index:
    """Everything by key, cached by time and size of its files; most ledgers are read in the background."""

    def __init__(self, root: Path, page_size: int = 100, fresh_seconds: float = 2.0) -> None:
        """The folder is walked again when that was not done for `fresh_seconds`."""
        self.root = root
        self._page_size = page_size
        self._fresh_seconds = fresh_seconds
        self._spots: dict[str, Spot] = {}
        self._entries: dict[Spot, Entry] = {}
        self._glances: dict[str, tuple[Stamp, Glance]] = {}
        self._scanned = -fresh_seconds
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
            if time.monotonic() - self._scanned >= self._fresh_seconds:
                self._spots = {spot.key: spot for spot in walk(self.root)}
                kept = set(self._spots.values())
                self._entries = {spot: entry for spot, entry in list(self._entries.items()) if spot in kept}
                self._glances = {key: known for key, known in list(self._glances.items()) if key in self._spots}
                self._scanned = time.monotonic()

    def look(self, spot: Spot) -> Glance:
        """How the run stands now."""
        now = stamp(spot.path)
        known = self._glances.get(spot.key)
        if known is None or known[0] != now or _is_other(spot, known[1]):
            known = (now, glance(spot.path))
            self._glances[spot.key] = known
        return known[1]

    def find(self, query: Query) -> Found:
        """One page of what matches."""
        began = time.monotonic()
        self.scan()
        spots = list(self._spots.values())
        runs = [spot for spot in spots if spot.kind == "run"]
        entries = {spot.key: self._entry(spot) for spot in spots}
        if query.of_ledgers:
            self._look_at(runs, until=began + _PATIENCE_SECONDS)
        kept = chosen((Listed(entries[spot.key], self._glance(spot)) for spot in spots), query)
        pages = max(1, -(-len(kept) // self._page_size))
        page = min(query.page, pages)
        shown = [one.entry for one in kept[(page - 1) * self._page_size : page * self._page_size]]
        rows = [Listed(entry, self.look(entry.spot) if entry.spot.kind == "run" else None) for entry in shown]
        unread = sum(self._glance(spot) is None for spot in runs)
        if unread:
            self._read_on()
        editors, gates = ({getattr(entry, name) for entry in entries.values()} - {""} for name in ("editor", "gate"))
        costs = any((known := self._glance(spot)) is not None and known.cost_usd is not None for spot in runs)
        return Found(rows, len(kept), len(spots), unread, pages, page, sorted(editors), sorted(gates), costs)

    def _glance(self, spot: Spot) -> Glance | None:
        known = self._glances.get(spot.key)
        return known[1] if known else None

    def _entry(self, spot: Spot) -> Entry:
        known = self._entries.get(spot)
        if known is None:
            known = self._entries[spot] = read_entry(spot)
        return known

    def _look_at(self, runs: list[Spot], until: float) -> None:
        """Look again at what changed, and `until` then at what nobody looked at yet."""
        for spot in runs:
            if spot.key in self._glances or time.monotonic() < until:
                self.look(spot)

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
            self.look(spot)
            time.sleep(0)  # requests come first


def _is_other(spot: Spot, known: Glance) -> bool:
    """Whether a run was taken up, or left without a word, since it was looked at."""
    return known.status in _UNDECIDED and (holder(spot.path) is not None) != (known.status == "running")
