"""From a result to its row, and which rows are there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version

from turngate.evaluators.bulk.item import Item, Named, Scored
from turngate.evaluators.result_json import result_to_json
from turngate.evaluators.score_key import Inputs, inputs_hash, score_key
from turngate.rescoring.targets import Place
from turngate.traces.rescored.records import ScoredRow

__all__ = ["Known", "row_key", "scored_row"]


def row_key(item: Item, by: Named, inputs: Inputs, tries: int) -> str:
    """SHA-256 that makes two rows the same row."""
    what = score_key(by.config, by.facts, inputs, by.parameters)
    return hashlib.sha256(json.dumps([item.id, what, tries]).encode()).hexdigest()


@dataclass(frozen=True)
class Known:
    """What the table holds: key -> status, value, why, fault."""

    rows: Mapping[str, tuple[str, float | None, str | None, str | None]]

    def latest(self, item: Item, by: Named, inputs: Inputs) -> tuple[int, str | None]:
        """How often the evaluator was asked about this, and the key of the latest answer; 0 and None for never."""
        tries, found = 0, None
        while (key := row_key(item, by, inputs, tries + 1)) in self.rows:
            tries, found = tries + 1, key
        return tries, found


def scored_row(scored: Scored, scoring: str, place: Place, tries: int) -> ScoredRow:
    """The row of a fresh result."""
    by, facts = scored.by, scored.by.facts
    shown = {str(role): value for role, value in asdict(scored.inputs).items() if role in facts.needs and value}
    shown.pop("candidate", None)
    return ScoredRow(
        key=row_key(scored.item, by, scored.inputs, tries),
        scoring=scoring,
        item=scored.item.id,
        turn=place.turn,
        attempt=place.attempt,
        role=place.role,
        image=scored.inputs.candidate,
        shown=shown,
        inputs=inputs_hash(facts, scored.inputs),
        evaluator=by.name,
        type=by.config.type,
        version=facts.version,
        parameters=by.parameters,
        direction=facts.direction,
        tries=tries,
        turngate=version("turngate"),
        started_ns=scored.started_ns,
        ended_ns=scored.ended_ns,
        **result_to_json(scored.result),
    )
