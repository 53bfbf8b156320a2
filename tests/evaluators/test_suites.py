"""Suites: lists of evaluators by name."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.packages import need_pyiqa

from turngate import parse_config
from turngate.errors import ConfigError, UnknownComponent
from turngate.evaluators import EVALUATORS
from turngate.evaluators.suites import SUITES, expanded, members

BASE = {"origin": "skimage:astronaut", "scenario": "replicate", "editor": "codec", "gate": "always_accept"}


def test_a_configuration_may_name_a_suite() -> None:
    raw = ["suite:classic", "drift", "brisque", {"type": "psnr", "align": "shift"}]
    config = parse_config({**BASE, "evaluators": raw}, "test")
    assert list(config.evaluators) == [*members("classic"), "drift"]
    assert config.evaluators["psnr"].model_dump()["align"] == "shift"


def test_a_mapping_may_hold_a_suite() -> None:
    assert list(expanded({"mine": "drift", "others": "suite:classic"})) == ["mine", *members("classic")]


def test_what_is_no_suite_stays() -> None:
    assert expanded(["brisque", {"type": "psnr"}, {"type": "psnr"}]) == ["brisque", {"type": "psnr"}, {"type": "psnr"}]
    assert expanded("suite:classic") == "suite:classic"


def test_the_nearest_suite_is_named() -> None:
    with pytest.raises(UnknownComponent, match="did you mean 'classic'"):
        members("clasic")
    with pytest.raises(ConfigError, match=r"test: .*no suite is called 'x'"):
        parse_config({**BASE, "evaluators": ["suite:x"]}, "test")


def test_classic_is_built_without_torch() -> None:
    code = (
        "import sys; from turngate.evaluators import EVALUATORS; from turngate.evaluators.suites import members\n"
        "for name in members('classic'): EVALUATORS.build(EVALUATORS.configure(name, name))\n"
        "assert not {'torch', 'pyiqa'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_papers_twelve() -> None:
    """Only 12 of the paper's 21 names are known; the suite must not claim more."""
    assert len(members("banana100-known")) == 12
    assert "9 are not" in SUITES["banana100-known"].what


def test_all_no_reference_metrics_need_the_image_alone() -> None:
    need_pyiqa()
    from turngate.evaluators.pyiqa import PyiqaConfig, PyiqaMetric

    everything = members("nr-all")
    assert set(members("banana100-known")) <= set(everything)
    assert len(everything) == len(set(everything)) > 60
    for name in everything:
        if name.startswith("pyiqa:"):
            assert PyiqaMetric.facts_of(PyiqaConfig(type=name)).inputs == {"candidate"}
        else:
            assert EVALUATORS.build(EVALUATORS.configure(name, name)).facts.inputs == {"candidate"}
