"""The accepted turns that led to the current image, for editors that hold a conversation."""

from __future__ import annotations

import json

from turngate.agent.editor import Exchange
from turngate.graphs.session import Session

__all__ = ["conversation"]


def conversation(session: Session) -> tuple[Exchange, ...]:
    """Exchanges along the present lineage, oldest first; rejected and rolled-back turns are not among them.

    An accepted image whose model content was not kept (a person's edit, a run forked from another history protocol)
    ends the conversation: what came before it is left out.
    """
    taken = {row.turn: row.taken_attempt for row in session.ledger.decisions() if row.closes_turn and row.taken_attempt}
    rows = {(row.turn, row.attempt): row for row in session.ledger.attempts()}
    found: list[Exchange] = []
    for turn, image in reversed(session.position.lineage):
        row = rows[turn, taken[turn]]
        if row.content is None or row.image != image:
            break
        content = json.loads(session.pictures.load(row.content))
        found.append(Exchange(row.instruction, row.input_image, image, content))
    return tuple(reversed(found))
