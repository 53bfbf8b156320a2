"""What a list is asked for; it stands in the address, so it can be sent on and gone back to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from turngate.pages.viewer.entries import Kind
from turngate.traces.records import RunStatus

__all__ = ["DAMAGE", "STATUSES", "Damage", "Order", "Query"]

Order = Literal[
    "created", "name", "status", "turns", "caught", "propagated", "collapse", "editor", "gate", "scenario", "cost"
]  # fmt: skip
Damage = Literal["", "propagated", "none_propagated", "caught", "collapsed", "not_collapsed", "not_measured"]

STATUSES = {"": "any status"} | {
    name: name.replace("_", " ") for name in ("waiting", *get_args(RunStatus), "unreadable")
}
"""What can be asked of the status, in words; what asks for a person comes first."""

DAMAGE: dict[Damage, str] = {
    "": "any damage",
    "propagated": "damaged images accepted",
    "none_propagated": "no damaged image accepted",
    "caught": "damaged candidates caught",
    "collapsed": "collapsed",
    "not_collapsed": "not collapsed",
    "not_measured": "no truth measured",
}
"""What can be asked of the damage, in words."""

_FALLING = frozenset({"created", "turns", "caught", "propagated", "cost"})
"""Orders whose largest values are wanted first; collapses are wanted from the earliest on."""
_LONGEST = 200


@dataclass(frozen=True)
class Query:
    """What to list."""

    q: str = ""
    """Every word must stand in the place, editor, gate, scenario, question or status."""
    kind: Kind | Literal[""] = ""
    status: str = ""
    editor: str = ""
    """Exactly this one; as `gate`."""
    gate: str = ""
    damage: Damage = ""
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
            kind=_one_of(found, "kind", get_args(Kind)),
            status=_one_of(found, "status", STATUSES),
            damage=_one_of(found, "damage", get_args(Damage)),
            order=order,
            down=order in _FALLING if down not in ("0", "1") else down == "1",
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 8 else 1,
        )

    @property
    def filtered(self) -> bool:
        """Whether it leaves anything out."""
        return any((self.q, self.kind, self.status, self.editor, self.gate, self.damage))

    @property
    def of_ledgers(self) -> bool:
        """Whether the answer depends on what stands in ledgers."""
        return bool(self.q or self.status or self.damage) or self.order in (
            "status", "turns", "caught", "propagated", "collapse", "cost",
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
        said: dict[str, Any] = asdict(self)
        usual = {field.name: field.default for field in fields(Query)} | {"down": self.order in _FALLING}
        told = {name: value for name, value in said.items() if value != usual[name]}
        return "?" + urlencode({name: int(value) if name == "down" else value for name, value in told.items()})


def _one_of(found: Mapping[str, str], name: str, allowed: Iterable[str]) -> Any:
    value = found.get(name, "")
    return value if value in allowed else ""
