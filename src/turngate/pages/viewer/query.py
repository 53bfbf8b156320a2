"""What a list of runs and studies is asked for: filter, order and columns; all of it stands in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from turngate.pages.viewer.listing import ListingKind
from turngate.traces.analysis.run import VERDICT_WORDS, VerdictKind
from turngate.traces.records import RunStatus

__all__ = ["COLUMNS", "STATUSES", "VERDICTS", "Column", "Order", "Query"]

Order = Literal[
    "created", "name", "status", "turns", "verdict", "progress", "exposure", "last_new", "editor", "gate", "scenario",
    "cost",
]  # fmt: skip
"""What can be sorted by; beside these the scores, as `score.NAME`."""
VerdictFilter = VerdictKind | Literal[""]
SCORE = "score."
"""Begins the name of a column of scores."""


@dataclass(frozen=True)
class Column:
    """A column of the list beside the place."""

    name: str
    title: str
    number: bool = False

    @property
    def score(self) -> str:
        """The evaluator whose scores it shows; empty for another column."""
        return self.name.removeprefix(SCORE) if self.name.startswith(SCORE) else ""

    @classmethod
    def of_score(cls, evaluator: str) -> Column:
        """The column of an evaluator."""
        return cls(f"{SCORE}{evaluator}", evaluator, True)


COLUMNS = (
    Column("tags", "tags"), Column("status", "status"), Column("turns", "turns", True), Column("verdict", "verdict"),
    Column("progress", "progress", True), Column("exposure", "exposure", True), Column("last_new", "last new", True),
    Column("editor", "editor"), Column("gate", "gate"), Column("scenario", "scenario"), Column("cost", "US $", True),
    Column("created", "created, UTC"),
)  # fmt: skip
"""All but the scores, in their order."""

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
    order: str = "created"
    """One of `Order`, or a score."""
    down: bool = True
    page: int = 1
    columns: tuple[str, ...] = ()
    """Names of the columns to show; empty for the usual ones."""

    @classmethod
    def read(cls, found: Mapping[str, str]) -> Query:
        """From the parameters of an address; what makes no sense is left out."""
        texts = {name: found.get(name, "")[:_LONGEST] for name in ("q", "editor", "gate")}
        order = found.get("order", "")[:_LONGEST]
        if order not in get_args(Order) and not order.startswith(SCORE):
            order = "created"
        down, page = found.get("down"), found.get("page", "1")
        return cls(
            **texts,
            kind=_one_of(found, "kind", get_args(ListingKind)),
            status=_one_of(found, "status", STATUSES),
            verdict=_one_of(found, "verdict", VERDICTS),
            order=order,
            down=order in _FALLING if down not in ("0", "1") else down == "1",
            columns=_columns(found),
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
        ) or self.order.startswith(SCORE)  # fmt: skip

    def sorted_by(self, order: str) -> Query:
        """From the first page on by another order, or the other way round by the same one."""
        down = not self.down if order == self.order else order in _FALLING
        return replace(self, order=order, down=down, page=1)

    def at(self, page: int) -> Query:
        """Another page of the same."""
        return replace(self, page=page)

    def bare(self) -> Query:
        """All in the same order."""
        return Query(order=self.order, down=self.down, columns=self.columns)

    @property
    def address(self) -> str:
        """The part of an address that `read` understands; what goes without saying is left out."""
        fields_of: dict[str, Any] = asdict(self)
        usual = {field.name: field.default for field in fields(Query)} | {"down": self.order in _FALLING}
        shown = {name: value for name, value in fields_of.items() if value != usual[name]}
        plain = {name: int(value) if name == "down" else value for name, value in shown.items()}
        return "?" + urlencode(plain, doseq=True)


def _one_of(found: Mapping[str, str], name: str, allowed: Iterable[str]) -> Any:
    value = found.get(name, "")
    return value if value in allowed else ""


def _columns(found: Mapping[str, str]) -> tuple[str, ...]:
    """Columns that there may be, in the usual order; scores come last, as they are named."""
    several = getattr(found, "getlist", None)  # of an address, where a name may stand several times
    given = several("columns") if several is not None else [found.get("columns", "")]
    known = [column.name for column in COLUMNS if column.name in given]
    scores = dict.fromkeys(name[:_LONGEST] for name in given if name.startswith(SCORE) and len(name) > len(SCORE))
    return (*known, *list(scores)[:_MOST_SCORES])


_MOST_SCORES = 12
