"""The list of everything in the viewer's folder, its filters and its order; read again where something changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from turngate.pages.viewer.listing import (
    ListedFolder,
    ListingKind,
    QuickSummary,
    RunListing,
    Stamp,
    quick_summary,
    read_listing,
    stamp,
    walk,
)
from turngate.traces.analysis.run import VERDICT_WORDS, VerdictKind
from turngate.traces.lock import holder
from turngate.traces.records import RunStatus

__all__ = ["STATUSES", "VERDICTS", "Index", "ListingPage", "Order", "Query", "filtered"]


# What a list is asked for; it is part of the address, so it can be sent on and gone back to.

Order = Literal[
    "created", "name", "status", "turns", "verdict", "progress", "exposure", "last_new", "editor", "gate", "scenario",
    "cost",
]  # fmt: skip
VerdictFilter = VerdictKind | Literal[""]

STATUSES = {"": "any status"} | {
    name: name.replace("_", " ") for name in ("waiting", *get_args(RunStatus), "unreadable")
}
"""What can be asked of the status, in words; what asks for a person comes first."""

VERDICTS: dict[str, str] = {"": "any verdict"} | {str(kind): word for kind, word in VERDICT_WORDS.items()}
"""What can be asked of the verdict, in words."""

_FALLING = frozenset({"created", "turns", "progress", "exposure", "cost"})
"""Orders whose largest values are wanted first; the last new image is wanted from the earliest on."""
_LONGEST = 200


@dataclass(frozen=True)
class Query:
    """What to list."""

    q: str = ""
    """Every word must occur in the place, editor, gate, scenario, question or status."""
    kind: ListingKind | Literal[""] = ""
    status: str = ""
    editor: str = ""
    """Exactly this one; as `gate`."""
    gate: str = ""
    verdict: VerdictFilter = ""
    order: Order = "created"
    down: bool = True
    page: int = 1

    @classmethod
    def read(cls, found: Mapping[str, str]) -> Query:
        """From the parameters of an address; what makes no sense is left out."""
        texts = {name: found.get(name, "")[:_LONGEST] for name in ("q", "editor", "gate")}
        order: Order = _one_of(found, "order", get_args(Order)) or "created"
        down, page = found.get("down"), found.get("page", "1")
        return cls(
            **texts,
            kind=_one_of(found, "kind", get_args(ListingKind)),
            status=_one_of(found, "status", STATUSES),
            verdict=_one_of(found, "verdict", VERDICTS),
            order=order,
            down=order in _FALLING if down not in ("0", "1") else down == "1",
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 8 else 1,
        )

    @property
    def filtered(self) -> bool:
        """Whether it leaves anything out."""
        return any((self.q, self.kind, self.status, self.editor, self.gate, self.verdict))

    @property
    def of_ledgers(self) -> bool:
        """Whether the answer depends on ledgers."""
        return bool(self.q or self.status or self.verdict) or self.order in (
            "status", "turns", "verdict", "progress", "exposure", "last_new", "cost",
        )  # fmt: skip

    def sorted_by(self, order: Order) -> Query:
        """From the first page on by another order, or the other way round by the same one."""
        down = not self.down if order == self.order else order in _FALLING
        return replace(self, order=order, down=down, page=1)

    def at(self, page: int) -> Query:
        """Another page of the same."""
        return replace(self, page=page)

    def bare(self) -> Query:
        """All in the same order."""
        return Query(order=self.order, down=self.down)

    @property
    def address(self) -> str:
        """The part of an address that `read` understands; what goes without saying is left out."""
        fields_of: dict[str, Any] = asdict(self)
        usual = {field.name: field.default for field in fields(Query)} | {"down": self.order in _FALLING}
        shown = {name: value for name, value in fields_of.items() if value != usual[name]}
        return "?" + urlencode({name: int(value) if name == "down" else value for name, value in shown.items()})


def _one_of(found: Mapping[str, str], name: str, allowed: Iterable[str]) -> Any:
    value = found.get(name, "")
    return value if value in allowed else ""


# Which runs and studies a query keeps, and in which order.


@dataclass(frozen=True)
class ListingRow:
    """A run or study as far as it was read."""

    listing: RunListing
    quick_summary: QuickSummary | None = None
    """None for a study, and for a run whose ledger was not looked at yet."""


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
    text = f"{listing.text} {status.replace('_', ' ')}" if words else ""
    return all(word in text for word in words)


def _value(one: ListingRow, order: Order) -> str | float | None:
    """What to sort by; None when it is not known."""
    listing, found = one.listing, one.quick_summary
    match order:
        case "name":
            return listing.folder.place
        case "created" | "editor" | "gate" | "scenario":
            return getattr(listing, order) or None
        case _ if found is None:
            return None
        case "cost":
            return found.cost_usd
        case "status" | "turns" | "verdict" | "progress" | "exposure" | "last_new":
            value: str | float | None = getattr(found, order)
            return value


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
    costs: bool
    """Whether the cost of any run is known."""


class Index:
    """Everything by key, cached by time and size of its files; most ledgers are read in the background."""

    def __init__(self, root: Path, page_size: int = 100, fresh_seconds: float = 2.0) -> None:
        """The folder is walked again when that was not done for `fresh_seconds`."""
        self.root = root
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
        kept = filtered((ListingRow(listings[folder.key], self._known_summary(folder)) for folder in folders), query)
        pages = max(1, -(-len(kept) // self._page_size))
        page = min(query.page, pages)
        shown = [one.listing for one in kept[(page - 1) * self._page_size : page * self._page_size]]
        rows = [
            ListingRow(listing, self.quick_summary(listing.folder) if listing.folder.kind == "run" else None)
            for listing in shown
        ]
        unread = sum(self._known_summary(folder) is None for folder in runs)
        if unread:
            self._read_on()
        editors, gates = (
            {getattr(listing, name) for listing in listings.values()} - {""} for name in ("editor", "gate")
        )
        costs = any(
            (known := self._known_summary(folder)) is not None and known.cost_usd is not None for folder in runs
        )
        return ListingPage(rows, len(kept), len(folders), unread, pages, page, sorted(editors), sorted(gates), costs)

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
