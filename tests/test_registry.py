"""Parts are found by name, by entry point and by dotted path; what is wrong is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.errors import ConfigError, MissingExtra, UnknownComponent
from turngate.evaluators import EVALUATORS

PLUGIN = '''
from turngate import ComponentConfig, Decision

class StrictConfig(ComponentConfig):
    """Settings."""
    level: int = 3

class Strict:
    """Rejects everything below a level."""
    Config = StrictConfig
    requires = {}
    reads = frozenset()
    reads_truth = False

    def __init__(self, config):
        self.config = config

    def decide(self, scores, past):
        return Decision("reject", f"level {self.config.level}")

class Hungry(Strict):
    """Needs what is not there."""
    requires = {"no_such_module_anywhere": "iqa"}

NOT_A_PART = 3
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of a third party, installed as pip would: a module and its metadata."""
    (tmp_path / "strict_gates.py").write_text(PLUGIN)
    metadata = tmp_path / "strict_gates-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: strict-gates\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[turngate.gates]\nstrict = strict_gates:Strict\nbroken = strict_gates:Nothing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "strict_gates", raising=False)


@pytest.mark.parametrize("name", ["strict", "strict_gates:Strict", "strict_gates.Strict"])
def test_a_third_partys_part(plugin: None, name: str) -> None:
    gate = GATES.build(GATES.configure({"type": name, "level": 5}, "gate"))
    assert type(gate).__name__ == "Strict"
    with pytest.raises(ConfigError, match=r"gate\.levle: no such field; did you mean 'level'"):
        GATES.configure({"type": name, "levle": 5}, "gate")


def test_plugins_are_listed_and_a_broken_one_hides_nothing(plugin: None) -> None:
    from turngate.cli.components import describe

    listed = {part["name"]: part for part in describe("gates")}
    assert listed["strict"]["what"] == "Rejects everything below a level."
    assert listed["strict"]["runs_here"] and not listed["broken"]["runs_here"]
    assert "cannot be imported" in listed["broken"]["missing"]
    assert listed["threshold"]["runs_here"]


def test_a_missing_extra_says_what_to_install(plugin: None) -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'turngate\[iqa\]'"):
        GATES.build(GATES.configure("strict_gates.Hungry", "gate"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("thresold", "did you mean 'threshold'"),
        ("zzz", "there are: all, always_accept"),
        ("strict_gates.NOT_A_PART", "is not a component"),
        ("no_such_package.Gate", "cannot be imported"),
        ("", "no gate is called"),
    ],
)
def test_unknown_parts(plugin: None, name: str, message: str) -> None:
    with pytest.raises(UnknownComponent, match=message):
        GATES.configure({"type": name}, "gate")


@pytest.mark.parametrize("raw", [None, 3, [], {}, {"type": 3}, {"at": 1}])
def test_what_names_no_part(raw: object) -> None:
    with pytest.raises(ConfigError, match="name a gate"):
        GATES.configure(raw, "gate")


def test_every_built_in_loads() -> None:
    for registry in (EDITORS, EVALUATORS, GATES):
        for name in registry.names():
            assert registry.find(name.replace("<name>", "psnr")).__doc__
