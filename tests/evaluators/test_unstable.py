"""Evaluators that are not repeatable: declared, refused by gates, and let in when that is meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from turngate.component import ComponentConfig
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, EvalInput, Facts, Result, Score
from turngate.graphs.config import RunConfig
from turngate.testing import check_evaluator

Config = Callable[..., RunConfig]
Run = Callable[..., Any]


class ShareConfig(ComponentConfig):
    """Nothing to set."""


class Share:
    """One over the size of the batch."""

    Config: ClassVar[type[ComponentConfig]] = ShareConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts = Facts("share", "1", "higher", (0.0, 1.0), batch_invariant=False)

    def __init__(self, config: ShareConfig) -> None:
        self.config = config

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        return [Score(1 / len(batch)) for _ in batch]


BATCH = f"{__name__}:Share"
DRAWN = {"type": "scripted", "rule": "sequence", "values": [0.1, 0.2, 0.3, 0.4]}


@pytest.mark.parametrize("raw", [BATCH, DRAWN], ids=["batch", "drawn"])
def test_what_is_declared_keeps_the_contract(raw: Any) -> None:
    check_evaluator(EVALUATORS.build(EVALUATORS.configure(raw, "x")))


@pytest.mark.parametrize(("raw", "why"), [(BATCH, "depends on the batch"), (DRAWN, "is stochastic")])
def test_a_gate_refuses_it_unless_that_is_meant(config: Config, run: Run, raw: Any, why: str) -> None:
    """C34."""
    fields: dict[str, Any] = {
        "evaluators": {"it": raw}, "gate": {"type": "threshold", "evaluator": "it", "at": 0}, "truth": None, "turns": 2,
    }  # fmt: skip
    with pytest.raises(ConfigError, match=f"'it', which {why}: set allow_unstable_scores"):
        run(config(**fields), "refused")
    ended, view = run(config(**fields, allow_unstable_scores=True), "meant")
    assert ended.status == "complete"
    assert all(attempt.scores["it"].status == "scored" for attempt in view.attempts)
    assert view.info.resolved.evaluators["it"].deterministic == (raw == BATCH)


def test_an_evaluator_that_no_gate_reads_may_be_unstable(config: Config, run: Run) -> None:
    ended, _ = run(config(evaluators={"it": DRAWN}, gate="always_accept", truth=None, turns=1))
    assert ended.status == "complete"
