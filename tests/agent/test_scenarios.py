"""Scenarios: what each turn asks for."""

from __future__ import annotations

import pytest

from turngate.agent.scenarios import SCENARIOS
from turngate.errors import ConfigError


def test_replicate_uses_the_papers_words() -> None:
    scenario = SCENARIOS.build(SCENARIOS.configure("replicate", "scenario"))
    assert scenario.instruction(1).text == "Produce an exact replica of the provided image, with no alterations."
    assert scenario.instruction(1) == scenario.instruction(100)
    assert (scenario.ideal, scenario.length) == ("origin", None)


def test_custom_list() -> None:
    raw = {"type": "custom", "instructions": ["make it blue", "make it red"]}
    scenario = SCENARIOS.build(SCENARIOS.configure(raw, "scenario"))
    assert [scenario.instruction(turn).text for turn in (1, 2)] == ["make it blue", "make it red"]
    assert (scenario.ideal, scenario.length) == (None, 2)
    with pytest.raises(IndexError, match="2 instructions"):
        scenario.instruction(3)
    cycled = SCENARIOS.build(SCENARIOS.configure({**raw, "cycle": True, "ideal": "origin"}, "scenario"))
    assert [cycled.instruction(turn).text for turn in (3, 4)] == ["make it blue", "make it red"]
    assert (cycled.ideal, cycled.length) == ("origin", None)


@pytest.mark.parametrize("instructions", [[], [""], ["  "], "make it blue"])
def test_wrong_lists(instructions: object) -> None:
    with pytest.raises(ConfigError, match=r"scenario\.instructions"):
        SCENARIOS.configure({"type": "custom", "instructions": instructions}, "scenario")
