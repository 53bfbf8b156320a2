"""Scores that are added to runs for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk import Batcher, NamedEvaluator
from turngate.rescoring import Rescoring, find, turns_in


def score(path: Path, *raws: Any, turns: str | None = None, limit: int | None = None, name: str | None = None) -> None:
    """As `turngate score PATH --with RAW ... --turns TURNS --limit LIMIT`."""
    configs = [EVALUATORS.configure(raw, "x") for raw in raws]
    named = [NamedEvaluator(name or config.type, config, EVALUATORS.build(config)) for config in configs]
    chosen = None if turns is None else turns_in(turns)
    for _ in Rescoring(Batcher(named)).run(list(find(path).targets(chosen, limit, with_history=True))):
        pass
