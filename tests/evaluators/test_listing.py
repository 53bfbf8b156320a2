"""What is told of an evaluator without a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from turngate.cli.components import describe
from turngate.component import ComponentConfig
from turngate.evaluators import EVALUATORS, EvalInput, Facts, Result


class Stubborn:
    """A plug-in that cannot be built."""

    Config: ClassVar[type[ComponentConfig]] = ComponentConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts: ClassVar[Facts] = Facts("stubborn", "1", "lower", (0.0, 9.0))

    def __init__(self, config: ComponentConfig) -> None:
        raise KeyError("STUBBORN_HOME")

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        return []


def test_a_part_that_breaks_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EVALUATORS.builtin, "stubborn", f"{__name__}:Stubborn")
    told = {part["name"]: part for part in describe("evaluators")}
    assert told["stubborn"]["range"] == "0..9" and told["stubborn"]["better"] == "lower"
    assert told["psnr"]["range"] == "~0..80"


@pytest.mark.parametrize(("name", "size"), [("psnr", "the reference's"), ("brisque", "native")])
def test_facts_are_those_with_default_settings(name: str, size: str) -> None:
    (told,) = describe("evaluators", [name])
    facts: dict[str, Any] = {key: told[key] for key in ("size_scored", "min_size", "tolerance", "paid", "source")}
    assert facts["size_scored"] == size and facts["source"] and not facts["paid"]
