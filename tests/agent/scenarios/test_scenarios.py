"""Scenarios: what each turn asks for, and what a perfect editor would make of it."""

from __future__ import annotations

import json
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.agent.scenario import EXACT, Exact, Ideal, Scenario, Step, ideal_picture
from turngate.agent.scenarios import SCENARIOS
from turngate.agent.scenarios.adding import FRUITS
from turngate.agent.scenarios.replicate import REWORDED
from turngate.errors import ConfigError
from turngate.picture import Picture

PROMPT = "Produce an exact replica of the provided image, with no alterations."
CUSTOM = {"type": "custom", "instructions": ["make it blue", "make it red"]}
TOLD = {"custom", "external"}
"""Those that have no words of their own."""
BUILT_IN: list[Any] = [name for name in SCENARIOS.builtin if name not in TOLD] + [{**CUSTOM, "cycle": True}]


def build(raw: Any) -> Scenario:
    return SCENARIOS.build(SCENARIOS.configure(raw, "scenario"))


@pytest.mark.parametrize("raw", BUILT_IN, ids=str)
@given(turn=st.integers(1, 100))
def test_contract(raw: Any, turn: int) -> None:
    """Every turn up to 100 has one line of text and an operation in plain JSON, from the turn's number alone."""
    scenario = build(raw)
    assert isinstance(scenario, Scenario)
    assert scenario.ideal is None or scenario.ideal in get_args(Ideal)
    assert scenario.length is None or scenario.length >= 100
    step = scenario.instruction(turn)
    assert step == build(raw).instruction(turn)
    assert step.text == step.text.strip() != "" and "\n" not in step.text
    assert json.loads(json.dumps(dict(step.operation))) == step.operation
    assert "kind" in step.operation
    assert scenario.ideal == "operations" or step.exact == ()


def test_replicate_uses_the_papers_words() -> None:
    scenario = build("replicate")
    assert scenario.instruction(1).text == PROMPT
    assert scenario.instruction(1) == scenario.instruction(100)
    assert (scenario.ideal, scenario.length) == ("origin", None)


def test_replicate_in_other_words() -> None:
    texts = {name: build({"type": "replicate", "wording": name}).instruction(1).text for name in REWORDED}
    assert len({*texts.values(), PROMPT}) == len(texts) + 1
    cycled = build({"type": "replicate", "wording": "cycle"})
    assert [cycled.instruction(turn).text for turn in range(1, 1 + len(texts))] == list(texts.values())
    assert cycled.instruction(1) == cycled.instruction(1 + len(texts))
    assert {cycled.instruction(turn).operation["kind"] for turn in range(1, 20)} == {"replicate"}


def test_an_unknown_wording() -> None:
    with pytest.raises(ConfigError, match=r"scenario\.wording: .*'paper'"):
        SCENARIOS.configure({"type": "replicate", "wording": "papers"}, "scenario")


def test_a_hundred_fruits() -> None:
    scenario = build("add_fruits")
    asked = [scenario.instruction(turn).operation["object"] for turn in range(1, 101)]
    assert len({fruit.lower() for fruit in asked}) == len(FRUITS) == scenario.length == 100
    assert all(fruit in scenario.instruction(turn).text for turn, fruit in enumerate(asked, start=1))
    with pytest.raises(IndexError, match="100 fruits"):
        scenario.instruction(101)


@pytest.mark.parametrize("name", ["add_apple", "add_fruits"])
def test_where_to_add(name: str) -> None:
    assert "to the table." in build({"type": name, "place": "the table"}).instruction(1).text
    with pytest.raises(ConfigError, match=r"scenario\.place"):
        SCENARIOS.configure({"type": name, "place": ""}, "scenario")


def test_custom_list() -> None:
    scenario = build(CUSTOM)
    assert [scenario.instruction(turn).text for turn in (1, 2)] == ["make it blue", "make it red"]
    assert (scenario.ideal, scenario.length) == (None, 2)
    with pytest.raises(IndexError, match="2 instructions"):
        scenario.instruction(3)
    cycled = build({**CUSTOM, "cycle": True, "ideal": "origin"})
    assert [cycled.instruction(turn).text for turn in (3, 4)] == ["make it blue", "make it red"]
    assert (cycled.ideal, cycled.length) == ("origin", None)


@pytest.mark.parametrize("instructions", [[], [""], ["  "], "make it blue"])
def test_wrong_lists(instructions: object) -> None:
    with pytest.raises(ConfigError, match=r"scenario\.instructions"):
        SCENARIOS.configure({"type": "custom", "instructions": instructions}, "scenario")


def picture() -> Picture:
    return Picture.from_rgb(np.random.default_rng(2).integers(0, 256, (5, 7, 3)).astype(np.uint8))


@given(operations=st.lists(st.sampled_from(EXACT), max_size=12))
def test_the_ideal_is_what_the_operations_give_one_by_one(operations: list[Exact]) -> None:
    origin = picture()
    luma = np.rint(origin.gray).astype(np.uint8)[:, :, None].repeat(3, axis=2)
    both = np.stack([origin.rgb, luma])  # the same geometry happens to the coloured and the gray one
    gray = altered = False
    for operation in operations:
        if operation in ("alter", "restore"):
            altered = operation == "alter"
        elif operation == "mirror":
            both = both[:, :, ::-1]
        elif operation == "rotate":
            both = np.stack([np.rot90(image, -1) for image in both])
        else:
            gray = operation == "grayscale"
    ideal = ideal_picture(origin, operations)
    assert (ideal is None) == altered
    assert ideal is None or np.array_equal(ideal.rgb, both[int(gray)])


@pytest.mark.parametrize(
    ("name", "period"),
    [("replicate", 1), ("denoise", 1), ("mirror_twice", 2), ("decolorise_recolorise", 2), ("rotate_four_times", 4)],
)
def test_round_trips_come_back_to_the_origin(name: str, period: int) -> None:
    scenario, origin = build(name), picture()
    operations: list[Exact] = []
    for turn in range(1, 13):
        operations += scenario.instruction(turn).exact
        ideal = ideal_picture(origin, operations)
        assert (ideal is origin) == (turn % period == 0)


def test_clockwise() -> None:
    """The upper left corner comes to the upper right, and a landscape becomes a portrait."""
    origin = picture()
    turned = ideal_picture(origin, build("rotate_four_times").instruction(1).exact)
    assert turned is not None
    assert (turned.width, turned.height) == (5, 7)
    assert np.array_equal(turned.rgb[0, -1], origin.rgb[0, 0])


def test_an_operation_that_nobody_can_compute() -> None:
    with pytest.raises(ConfigError, match="did you mean 'mirror'"):
        Step("Flip it.", {}, ("miror",))  # type: ignore[arg-type]  # what a plug-in may do
