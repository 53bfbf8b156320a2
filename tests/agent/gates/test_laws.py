"""Laws that hold for every gate, and settings that none of them takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from turngate import parse_config
from turngate.agent.gates import GATES
from turngate.errors import ConfigError
from turngate.graphs.components import build_components
from turngate.testing import check_gate

from ._support import accepts, direction, gate, past, reading, score, stream

KNOWN = {"mean": 10.0, "sd": 2.0}
CALIBRATION = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5, 8.0]
BY_NUMBER: list[dict[str, Any]] = [
    {"type": "threshold", "evaluator": "q", "at": 1.5},
    *({"type": "relative", "evaluator": "q", "reference": r, "margin": 2} for r in ("first", "previous", "best")),
    {"type": "relative", "evaluator": "q", "reference": "origin"},
    {"type": "k_sigma", "evaluator": "q", "warmup": 2, "k": 1},
    {"type": "k_sigma", "evaluator": "q", "baseline": KNOWN},
    {"type": "cusum", "evaluator": "q", "warmup": 3, "with_origin": True},
    {"type": "cusum", "evaluator": "q", "baseline": KNOWN, "k": 0.25, "h": 4},
    {"type": "ewma", "evaluator": "q", "warmup": 2, "in_warmup": "reject"},
    {"type": "ewma", "evaluator": "q", "baseline": KNOWN, "weight": 1, "width": 2},
    {"type": "page_hinkley", "evaluator": "q", "threshold": 5, "delta": 0.5, "with_origin": True},
    {"type": "page_hinkley", "evaluator": "q", "threshold": 1, "delta": 0, "warmup": 3},
    {"type": "conformal", "evaluator": "q", "alpha": 0.25, "calibration": CALIBRATION},
    {"type": "conformal", "evaluator": "q", "alpha": 0.1, "calibration": CALIBRATION, "relative_to_origin": True},
    {"type": "veto", "limits": {"q": {"worse_than_origin": 3}}},
    {"type": "mean", "evaluators": ["q"], "at": 7},
]
"""Gates that know a better score from a worse one."""
OTHERS: list[dict[str, Any]] = [
    {"type": "always_accept"},
    {"type": "always_reject"},
    {"type": "oracle"},
    {"type": "random", "accept_rate": 0.5},
    {"type": "cusum", "evaluator": "q", "baseline": KNOWN, "two_sided": True},
    {"type": "veto", "limits": {"q": {"min": 0, "max": 20}, "r": {"max": 1}}},
    {"type": "mean", "evaluators": ["q", "r"], "at": 7},
    {"type": "mean", "evaluators": ["q"], "normalise": {"q": {"worst": 5, "best": 1}}, "at": 0.5},
    {"type": "label", "evaluator": "q", "accept": "pass"},
]
JOINT: list[dict[str, Any]] = [
    {"type": "all", "gates": BY_NUMBER[:6]},
    {"type": "any", "gates": BY_NUMBER[4:]},
    {"type": "vote", "gates": BY_NUMBER, "at_least": 3},
    {"type": "vote", "gates": [*OTHERS, {"type": "all", "gates": ["always_accept", "oracle"]}]},
]


def name(config: dict[str, Any]) -> str:
    return "-".join(str(value) for value in config.values())[:60]


@pytest.mark.slow
@pytest.mark.parametrize("config", [*BY_NUMBER, *OTHERS, *JOINT], ids=name)
def test_conformance(config: dict[str, Any]) -> None:
    check_gate(gate(**config))


def test_every_gate_is_here() -> None:
    assert {config["type"] for config in [*BY_NUMBER, *OTHERS, *JOINT]} == set(GATES.names())


@pytest.mark.slow
@pytest.mark.parametrize("config", [*BY_NUMBER, *JOINT[:3]], ids=name)
@given(origin=st.none() | score, accepted=stream, one=score, other=score, which=direction)
@settings(max_examples=50)
def test_a_better_score_is_never_rejected_where_a_worse_one_is_accepted(
    config: dict[str, Any], origin: float | None, accepted: list[float], one: float, other: float, which: Any
) -> None:
    made, before = gate(**config), past(origin, accepted, which)
    worse, better = sorted((one, other), reverse=which == "lower")
    if accepts(made, worse, before, which):
        assert accepts(made, better, before, which)


def mirrored(config: dict[str, Any]) -> dict[str, Any]:
    """The same gate for an evaluator that gives the negative of every score."""
    turned = dict(config)
    if "at" in turned:
        turned["at"] = -turned["at"]
    if "baseline" in turned:
        turned["baseline"] = {**turned["baseline"], "mean": -turned["baseline"]["mean"]}
    if "calibration" in turned:
        turned["calibration"] = [-value for value in turned["calibration"]]
    if "gates" in turned:
        turned["gates"] = [mirrored(inner) for inner in turned["gates"]]
    return turned


@pytest.mark.slow
@pytest.mark.parametrize("config", [*BY_NUMBER, OTHERS[4], *JOINT[:3]], ids=name)
@given(origin=st.none() | score, accepted=stream, value=score, which=direction)
@settings(max_examples=50)
def test_only_the_direction_says_what_is_better(
    config: dict[str, Any], origin: float | None, accepted: list[float], value: float, which: Any
) -> None:
    """The same scores negated, with the other direction, get the same decision."""
    turned = "lower" if which == "higher" else "higher"
    mirror = past(None if origin is None else -origin, [-one for one in accepted], turned)
    as_it_is = gate(**config).decide(reading(value, which), past(origin, accepted, which))
    negated = gate(**mirrored(config)).decide(reading(-value, turned), mirror)
    assert as_it_is.verdict == negated.verdict
    for key in ("statistic", "limit", "sd", "p_value", "worse_by"):
        assert as_it_is.evidence.get(key) == negated.evidence.get(key)


WITH_THRESHOLD = [config for config in BY_NUMBER if config["type"] != "mean"]
WITH_THRESHOLD.append({"type": "all", "gates": BY_NUMBER[:5]})


@pytest.mark.slow
@pytest.mark.parametrize("config", WITH_THRESHOLD, ids=name)
@given(origin=score, accepted=stream, value=score, which=direction)
@settings(max_examples=50)
def test_the_threshold_is_where_the_decision_turns(
    config: dict[str, Any], origin: float, accepted: list[float], value: float, which: Any
) -> None:
    """It is the worst score that is still accepted; the report draws it."""
    made = gate(**({**config, "sd_floor": 0.5} if config["type"] in ("k_sigma", "cusum", "ewma") else config))
    before = past(origin, accepted, which)
    threshold = made.decide(reading(value, which), before).thresholds.get("q")
    assume(threshold is not None)
    assert threshold is not None
    little = (1e-6 if which == "higher" else -1e-6) * (1 + abs(threshold))
    assert accepts(made, threshold + little, before, which)
    assert not accepts(made, threshold - little, before, which)


@pytest.mark.parametrize("config", [*BY_NUMBER, *OTHERS, *JOINT], ids=name)
def test_run_json_builds_the_same_gate(config: dict[str, Any]) -> None:
    configured = GATES.configure(config, "gate")
    again = GATES.configure(json.loads(json.dumps(configured.model_dump(mode="json"))), "gate")
    assert again == configured


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "k_sigma", "k": 0}, r"gate\.k"),
        ({"type": "k_sigma", "warmup": 1}, r"gate\.warmup"),
        ({"type": "k_sigma", "sd_floor": 0}, r"gate\.sd_floor"),
        ({"type": "k_sigma", "baseline": {"mean": 1, "sd": 0}}, r"gate\.baseline\.sd"),
        ({"type": "k_sigma", "in_warmup": "wait"}, r"gate\.in_warmup"),
        ({"type": "cusum", "k": -0.5}, r"gate\.k"),
        ({"type": "cusum", "h": 0}, r"gate\.h"),
        ({"type": "cusum", "h": float("nan")}, r"gate\.h"),
        ({"type": "ewma", "weight": 0}, r"gate\.weight"),
        ({"type": "ewma", "weight": 1.5}, r"gate\.weight"),
        ({"type": "ewma", "wieght": 0.5}, "did you mean 'weight'"),
        ({"type": "page_hinkley", "delta": 1}, r"gate\.threshold: is missing"),
        ({"type": "page_hinkley", "threshold": 1}, r"gate\.delta: is missing"),
        ({"type": "page_hinkley", "threshold": 1, "delta": -1}, r"gate\.delta"),
        ({"type": "relative", "reference": "worst"}, r"gate\.reference"),
        ({"type": "threshold", "at": float("inf")}, r"gate\.at"),
    ],
)
def test_wrong_settings_are_named(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gate(**{"evaluator": "q", **config})


PAGE = (Path(__file__).parents[3] / "docs" / "gates.md").read_text()
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
RUNS = [block for block in BLOCKS if "origin" in block]


@pytest.mark.parametrize("block", RUNS, ids=lambda block: str(block["gate"]))
def test_what_the_documentation_shows_can_be_built(block: dict[str, Any]) -> None:
    parts = build_components(parse_config(block, "docs/gates.md"))
    misfit = getattr(parts.gate, "misfit", lambda facts: None)
    assert misfit({name: evaluator.facts for name, evaluator in parts.evaluators.items()}) is None


def test_the_documentation_shows_every_gate() -> None:
    shown = {block["gate"] if isinstance(block["gate"], str) else block["gate"]["type"] for block in RUNS}
    assert set(GATES.names()) <= shown
