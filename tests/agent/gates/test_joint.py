"""Gates over several gates: votes, and, or."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate import ComponentConfig, Decision, Past, parse_config
from turngate.agent.gate import Readings, Verdict
from turngate.errors import ConfigError, UnknownComponent
from turngate.graphs.components import build_components

from ._support import direction, gate, past, reading, score


class FixedConfig(ComponentConfig):
    """What to say."""

    verdict: Verdict


class Fixed:
    """Always says the same, and tells what it was shown."""

    Config: ClassVar[type[ComponentConfig]] = FixedConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: FixedConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        return Decision(self.config.verdict, f"{sorted(scores)} {past.damaged}", {"seed": float(past.seed)})


def fixed(verdict: str) -> dict[str, str]:
    return {"type": f"{__name__}:Fixed", "verdict": verdict}


thresholds = st.lists(st.builds(lambda at: {"type": "threshold", "evaluator": "q", "at": at}, score), min_size=1)


@given(thresholds, score, direction, st.data())
def test_a_vote_counts(members: list[dict[str, Any]], value: float, which: Any, data: st.DataObject) -> None:
    """k of n accept when at least k do; n of n is `all`, 1 of n is `any`."""
    k = data.draw(st.integers(1, len(members)))
    votes = sum(gate(**one).decide(reading(value, which), past()).verdict == "accept" for one in members)

    def verdict(**config: Any) -> str:
        return gate(gates=members, **config).decide(reading(value, which), past()).verdict

    assert (verdict(type="vote", at_least=k) == "accept") == (votes >= k)
    assert (verdict(type="vote") == "accept") == (votes > len(members) / 2)
    assert verdict(type="vote", at_least=len(members)) == verdict(type="all")
    assert verdict(type="vote", at_least=1) == verdict(type="any")


@pytest.mark.parametrize(
    ("verdicts", "needed", "verdict"),
    [
        (["accept", "accept_masked", "reject"], 1, "accept"),
        (["accept", "accept_masked", "reject"], 2, "accept_masked"),
        (["accept", "accept_masked", "reject"], 3, "reject"),
        (["accept", "accept", "accept_masked"], 2, "accept"),
    ],
)
def test_a_masked_vote_counts_where_whole_ones_are_too_few(verdicts: list[str], needed: int, verdict: str) -> None:
    made = gate(type="vote", at_least=needed, gates=[fixed(one) for one in verdicts])
    assert made.decide({}, past()).verdict == verdict


@pytest.mark.parametrize("kind", ["all", "any", "vote"])
@pytest.mark.parametrize("seed", range(5))
def test_a_single_member_decides_as_it_would_alone(kind: str, seed: int) -> None:
    alone = {"type": "random", "accept_rate": 0.5}
    before = past(seed=seed)
    assert gate(type=kind, gates=[alone]).decide({}, before).verdict == gate(**alone).decide({}, before).verdict


def test_random_members_draw_differently() -> None:
    """Two coins of 0.5 agree to accept a quarter of the time."""
    made = gate(type="all", gates=[{"type": "random", "accept_rate": 0.5}] * 2)
    verdicts = [made.decide({}, past(seed=seed)).verdict for seed in range(2000)]
    assert verdicts.count("accept") / 2000 == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 2000))


def test_each_member_is_shown_what_it_declares() -> None:
    made = gate(type="all", gates=["oracle", fixed("accept"), {"type": "threshold", "evaluator": "q", "at": 3}])
    assert made.reads == {"q"} and made.reads_truth
    decision = made.decide(reading(2.0), past(damaged=False))
    assert decision.reason.startswith("3 of 3 accept, 3 needed: oracle yes (sound)")
    assert "([] None)" in decision.reason, "no score and no truth for a gate that reads neither"
    assert (decision.evidence["1.oracle"], decision.evidence["3.threshold"]) == ("accept", "accept")


def test_the_strictest_threshold_counts_where_all_must_accept() -> None:
    members = [{"type": "threshold", "evaluator": "q", "at": at} for at in (3, 5)]
    lower, higher = (gate(type="all", gates=members).decide(reading(4, way), past()) for way in ("lower", "higher"))
    assert (lower.thresholds, higher.thresholds) == ({"q": 3}, {"q": 5})
    assert gate(type="any", gates=members).decide(reading(4), past()).thresholds == {}, "neither alone rejects"


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"gates": []}, ConfigError, r"gate\.gates"),
        ({"gates": "always_accept"}, ConfigError, r"gate\.gates: .*list"),
        ({"gates": ["always_accpet"]}, UnknownComponent, r"gates\.0\.type: .*did you mean 'always_accept'"),
        ({"gates": ["oracle", {"type": "threshold", "evaluator": "q"}]}, ConfigError, r"gates\.1\.at: is missing"),
        (
            {"gates": ["oracle", {"type": "random", "accept_rate": 1, "rate": 1}]},
            ConfigError,
            r"gates\.1\.rate: .*accept_rate",
        ),
        ({"gates": ["oracle"], "at_least": 2}, ConfigError, r"gate\.at_least: of 1 gates 1 to 1"),
        ({"gates": ["oracle"], "at_least": 0}, ConfigError, r"gate\.at_least"),
        ({"gates": ["oracle"], "at_least": "most"}, ConfigError, r"gate\.at_least"),
    ],
)
def test_wrong_votes(config: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gate(type="vote", **config)


def test_an_unknown_evaluator_of_a_member_is_refused_before_the_first_call() -> None:
    raw = {"origin": "skimage:astronaut", "scenario": "replicate", "turns": 1, "editor": "scripted"}
    inner = {"type": "any", "gates": [{"type": "threshold", "evaluator": "brisqe", "at": 1}]}
    config = parse_config({**raw, "evaluators": ["brisque"], "gate": {"type": "all", "gates": [inner]}}, "test")
    with pytest.raises(ConfigError, match="did you mean 'brisque'"):
        build_components(config)


def test_a_mapping_of_gates_is_a_list_of_them() -> None:
    """`--set gate.gates.random.accept_rate=1` turns the list into a mapping."""
    listed = gate(type="all", gates=["oracle", {"type": "random", "accept_rate": 1}])
    mapped = gate(type="all", gates={"oracle": "oracle", "random": {"type": "random", "accept_rate": 1}})
    assert vars(mapped)["config"] == vars(listed)["config"]
