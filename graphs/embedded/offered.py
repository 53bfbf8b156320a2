"""What a program is told about an image that it offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal

from turngate.agent.gate import Verdict
from turngate.traces.records import DecisionRow, ScoreRow

__all__ = ["NextStep", "Offered"]

NextStep = Literal["go_on", "retry", "stop", "review"]
"""What to do after an offer.

- `go_on`: this turn is closed; edit `run.current` for the next one.
- `retry`: edit `run.current` again, for the same turn.
- `stop`: the run has ended: all its turns are done, a budget is used up, or a rule said so.
- `review`: a person must decide (`run.review`); nothing else may be offered before that.
"""


@dataclass(frozen=True)
class Offered:
    """The answer to one offer."""

    turn: int
    """1-based turn that the image was offered for."""
    attempt: int
    """1-based attempt within the turn."""
    verdict: Verdict | None
    """The gate's, or that of the rule which decided in its place; None while a person must decide."""
    reason: str
    """One line: why, or what it waits for."""
    next: NextStep
    action: str
    """What the rejection policy did: `accept`, `retry`, `skip`, `rollback`, `force_accept`, ...; empty if it waits."""
    scores: Mapping[str, float | None]
    """Evaluator -> value in its unit; None where it gave no score (`rows` say why)."""
    status: str
    """Of the run afterwards: `running`, `complete`, `waiting`, `stopped`, `budget_exhausted`, ..."""
    rows: tuple[ScoreRow, ...] = ()
    """The scores as recorded."""
    decision: DecisionRow | None = None
    """The decision as recorded; None while a person must decide."""

    @property
    def accepted(self) -> bool:
        """The gate took the image; a forced one counts as rejected."""
        return self.verdict is not None and self.verdict != "reject"

    def _repr_html_(self) -> str:
        scores = "".join(
            f"<tr><td>{escape(name)}</td><td>{'not scored' if value is None else f'{value:.4g}'}</td></tr>"
            for name, value in self.scores.items()
        )
        head = f"turn {self.turn}, attempt {self.attempt}: {self.verdict or 'waits for a person'}"
        return (
            f"<p><b>{escape(head)}</b>, next: {escape(self.next.replace('_', ' '))}<br>{escape(self.reason)}</p>"
            f"<table>{scores}</table>"
        )
