"""The list of everything in the viewer's folder, its filters and its order; read again where something changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from turngate.pages.viewer.listing import (
    ListedFolder,
    QuickSummary,
    RunListing,
    Stamp,
    quick_summary,
    read_listing,
    stamp,
    walk,
)
from turngate.pages.viewer.notes import NO_NOTE, Note, NoteBook
from turngate.pages.viewer.query import COLUMNS, SCORE, Column, Query
from turngate.traces.lock import holder

__all__ = ["Index", "ListingPage", "filtered"]


# Which runs and studies a query keeps, and in which order.


@dataclass(frozen=True)
class ListingRow:
    """A run or study as far as it was read."""

    listing: RunListing
    quick_summary: QuickSummary | None = None
    """None for a study, and for a run whose ledger was not looked at yet."""
    note: Note = NO_NOTE


def filtered(rows: Iterable[ListingRow], query: Query) -> list[ListingRow]:
    """What matches, in order; what is not known of a run comes last whichever way the others are sorted."""
    words = query.q.lower().split()
    kept = [one for one in rows if _matches(one, query, words)]
    kept.sort(key=lambda one: one.listing.folder.place)
    known = [(value, one) for one in kept if (value := _value(one, query.order)) is not None]
    unknown = [one for one in kept if _value(one, query.order) is None]
    known.sort(key=lambda pair: pair[0], reverse=query.down)
    return [one for _, one in known] + unknown


def _matches(one: ListingRow, query: Query, words: list[str]) -> bool:
    listing, found = one.listing, one.quick_summary
    status = found.status if found else ""
    if query.kind not in ("", listing.folder.kind) or query.status not in ("", status):
        return False
    if query.editor not in ("", listing.editor) or query.gate not in ("", listing.gate):
        return False
    if query.verdict and (found is None or found.verdict != query.verdict):
        return False
    text = f"{listing.text} {status.replace('_', ' ')} {one.note.text}" if words else ""
    return all(word in text for word in words)


def _value(one: ListingRow, order: str) -> str | float | None:
    """What to sort by; None when it is not known."""
    listing, found = one.listing, one.quick_summary
    match order:
        case "name":
            return listing.folder.place
        case "created" | "editor" | "gate" | "scenario":
            return getattr(listing, order) or None
        case "tags":
            return ", ".join(one.note.tags) or None
        case _ if found is None:
            return None
        case "cost":
            return found.cost_usd
        case "status" | "turns" | "verdict" | "progress" | "exposure" | "last_new":
            value: str | float | None = getattr(found, order)
            return value
        case _:
            return found.scores.get(order.removeprefix(SCORE))


_PATIENCE_SECONDS = 0.5
"""Until then a list also looks at ledgers that nobody looked at yet; the others are read beside it."""
_UNDECIDED = ("running", "interrupted")
"""What a run is called by whether a process works on it, which its ledger does not tell."""


@dataclass(frozen=True)
class ListingPage:
    """One page of the list."""

    rows: list[ListingRow]
    total: int
    """Over all pages."""
    all: int
    """Without the filter."""
    unread: int
    """Runs whose ledger was not looked at yet: no filter of what it holds finds them; sorted by it, they come last."""
    pages: int
    page: int
    editors: list[str]
    """All there are, to choose from."""
    gates: list[str]
    columns: list[Column]
    """What is shown."""
    choices: list[Column]
    """What can be shown."""


class Index:
    """Everything by key, cached by time and size of its files; most ledgers are read in the background."""

    def __init__(
        self, root: Path, page_size: int = 100, fresh_seconds: float = 2.0, notes: NoteBook | None = None
    ) -> None:
        """The folder is walked again when that was not done for `fresh_seconds`."""
        self.root = root
        self._notes = notes
        self._page_size = page_size
        self._fresh_seconds = fresh_seconds
        self._folders: dict[str, ListedFolder] = {}
        self._listings: dict[ListedFolder, RunListing] = {}
        self._summaries: dict[str, tuple[Stamp, QuickSummary]] = {}
        self._scanned = -fresh_seconds
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None

    def get(self, key: str) -> ListedFolder | None:
        """What has this key; something that appeared since is looked for."""
        if key not in self._folders:
            self.scan()
        return self._folders.get(key)

    def keys(self) -> dict[Path, str]:
        """Folder -> key of every run."""
        return {folder.path: folder.key for folder in self._folders.values() if folder.kind == "run"}

    def scan(self) -> None:
        """Walk the folder, unless that was done an instant ago."""
        with self._lock:
            if time.monotonic() - self._scanned >= self._fresh_seconds:
                self._folders = {folder.key: folder for folder in walk(self.root)}
                kept = set(self._folders.values())
                self._listings = {folder: listing for folder, listing in list(self._listings.items()) if folder in kept}
                self._summaries = {key: known for key, known in list(self._summaries.items()) if key in self._folders}
                self._scanned = time.monotonic()

    def quick_summary(self, folder: ListedFolder) -> QuickSummary:
        """Status of the run now."""
        now = stamp(folder.path)
        known = self._summaries.get(folder.key)
        if known is None or known[0] != now or _is_other(folder, known[1]):
            known = (now, quick_summary(folder.path, self._listing(folder).planned))
            self._summaries[folder.key] = known
        return known[1]

    def find(self, query: Query) -> ListingPage:
        """One page of what matches."""
        began = time.monotonic()
        self.scan()
        folders = list(self._folders.values())
        runs = [folder for folder in folders if folder.kind == "run"]
        listings = {folder.key: self._listing(folder) for folder in folders}
        if query.of_ledgers:
            self._look_at(runs, until=began + _PATIENCE_SECONDS)
        notes: Mapping[str, Note] = self._notes.all() if self._notes is not None else {}
        listed = (
            ListingRow(listings[folder.key], self._known_summary(folder), notes.get(folder.place, NO_NOTE))
            for folder in folders
        )
        kept = filtered(listed, query)
        pages = max(1, -(-len(kept) // self._page_size))
        page = min(query.page, pages)
        shown = kept[(page - 1) * self._page_size : page * self._page_size]
        rows = [
            ListingRow(
                one.listing,
                self.quick_summary(one.listing.folder) if one.listing.folder.kind == "run" else None,
                one.note,
            )
            for one in shown
        ]
        unread = sum(self._known_summary(folder) is None for folder in runs)
        if unread:
            self._read_on()
        editors, gates = (
            {getattr(listing, name) for listing in listings.values()} - {""} for name in ("editor", "gate")
        )
        summaries = [known for folder in runs if (known := self._known_summary(folder)) is not None]
        scores = {name for one in summaries for name in one.scores}
        choices = [*COLUMNS, *(Column.of_score(name) for name in sorted(scores))]
        unusual = {one.name for one in choices if one.score}
        unusual |= set() if any(one.cost_usd is not None for one in summaries) else {"cost"}
        unusual |= set() if any(note.tags for note in notes.values()) else {"tags"}
        wanted = set(query.columns) or {one.name for one in choices} - unusual
        columns = [column for column in choices if column.name in wanted]
        return ListingPage(
            rows, len(kept), len(folders), unread, pages, page, sorted(editors), sorted(gates), columns, choices
        )

    def _known_summary(self, folder: ListedFolder) -> QuickSummary | None:
        known = self._summaries.get(folder.key)
        return known[1] if known else None

    def _listing(self, folder: ListedFolder) -> RunListing:
        known = self._listings.get(folder)
        if known is None:
            known = self._listings[folder] = read_listing(folder)
        return known

    def _look_at(self, runs: list[ListedFolder], until: float) -> None:
        """Look again at what changed, and `until` then at what nobody looked at yet."""
        for folder in runs:
            if folder.key in self._summaries or time.monotonic() < until:
                self.quick_summary(folder)

    def _read_on(self) -> None:
        """Look at what nobody looked at yet, beside the answering of requests."""
        with self._lock:
            if self._reader is not None and self._reader.is_alive():
                return
            unread = [
                folder
                for folder in self._folders.values()
                if folder.kind == "run" and folder.key not in self._summaries
            ]
            self._reader = threading.Thread(target=self._read, args=(unread,), daemon=True)
            self._reader.start()

    def _read(self, unread: list[ListedFolder]) -> None:
        for folder in unread:
            self.quick_summary(folder)
            time.sleep(0)  # requests come first


def _is_other(folder: ListedFolder, known: QuickSummary) -> bool:
    """Whether a run was taken up, or left without a word, since it was looked at."""
    return known.status in _UNDECIDED and (holder(folder.path) is not None) != (known.status == "running")
