"""A scorer in a process of its own: the protocol, and everything that such a process can do wrong."""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turngate import Picture
from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators import EVALUATORS, EvalInput, Failed, Result, Score, Unscored
from turngate.evaluators.external import ExternalScorer
from turngate.evaluators.scoring import score
from turngate.testing import check_evaluator

SCRIPT = Path(__file__).parent / "_line_scorer.py"
RNG = np.random.default_rng(0)
FIRST, SECOND = (Picture.from_rgb(RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)) for _ in range(2))
SAMPLE = EvalInput(FIRST, SECOND, SECOND, SECOND, (), "Copy it.")


def scorer(how: str, tmp_path: Path, **fields: Any) -> ExternalScorer:
    raw = {
        "type": "external", "command": [sys.executable, str(SCRIPT), how, str(tmp_path / "mark")], "version": "1",
        "direction": "higher", "range": [0, 100], "timeout_seconds": 30, **fields,
    }  # fmt: skip
    built = EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.it"))
    assert isinstance(built, ExternalScorer)
    return built


def one(how: str, tmp_path: Path, **fields: Any) -> Result:
    return score(scorer(how, tmp_path, **fields), [SAMPLE])[0]


@pytest.mark.parametrize("fields", [{}, {"reference": "origin", "direction": "lower", "name": "rali", "min_size": 4}])
def test_it_keeps_the_contract(tmp_path: Path, fields: dict[str, Any]) -> None:
    evaluator = scorer("ok", tmp_path, **fields)
    check_evaluator(evaluator)
    assert evaluator.facts.name == ("external:rali" if fields else "external")


def test_bytes_arrive_as_received_and_the_process_is_kept(tmp_path: Path) -> None:
    evaluator = scorer("ok", tmp_path)
    results = score(evaluator, [SAMPLE, replace(SAMPLE, candidate=SECOND), SAMPLE])
    values = [result.value for result in results if isinstance(result, Score)]
    assert values == [pytest.approx(int(p.sha256[:2], 16) / 2.56) for p in (FIRST, SECOND, FIRST)]


def test_the_question_is_what_the_docs_say(tmp_path: Path) -> None:
    result = one("echo", tmp_path, reference="previous", instruction=True)
    assert isinstance(result, Failed)
    question = json.loads(result.detail)
    assert set(question) == {"id", "image", "reference", "instruction"}
    assert question["instruction"] == "Copy it."
    assert question["image"].endswith("candidate.png") and question["reference"].endswith("reference.png")
    assert not Path(question["image"]).exists(), "the files are gone when the answer is there"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "fault", "error"),
    [
        ("nan", "user", "not_finite"),
        ("inf", "user", "not_finite"),
        ("true", "user", "not_a_number"),
        ("text", "user", "not_a_number"),
        ("nothing", "user", "not_a_number"),
        ("far", "user", "range"),
        ("error", "user", "scorer"),
        ("other", "user", "protocol"),
        ("crash", "user", "crashed"),
        ("deaf", "user", "crashed"),
        ("killed", "machine", "killed"),
    ],
)
def test_no_answer_and_no_number_is_a_failure(tmp_path: Path, how: str, fault: str, error: str) -> None:
    result = one(how, tmp_path)
    assert isinstance(result, Failed), result
    assert (result.fault, result.error) == (fault, error)
    assert "\n" not in result.detail
    if how == "crash":
        assert result.detail == "exit code 3; it last said: out of luck"


def test_a_scorer_may_decline(tmp_path: Path) -> None:
    assert one("unscored", tmp_path) == Unscored("undefined", "no face")


def test_a_hanging_program_is_ended(tmp_path: Path) -> None:
    evaluator = scorer("hang", tmp_path, timeout_seconds=0.2, start_seconds=0.3)
    result = score(evaluator, [SAMPLE])[0]
    assert isinstance(result, Failed)
    assert (result.error, result.detail) == ("timeout", "no answer within 0.5 s")


def test_a_program_that_died_is_started_once_more(tmp_path: Path) -> None:
    results = score(scorer("crash_once", tmp_path), [SAMPLE, SAMPLE])
    assert [type(result) for result in results] == [Score, Score]
    assert [result.flags for result in results if isinstance(result, Score)] == [("restarted",), ()]


def test_a_program_that_always_dies_is_given_up(tmp_path: Path) -> None:
    results = score(scorer("crash", tmp_path), [SAMPLE] * 5)
    errors = [result.error for result in results if isinstance(result, Failed)]
    assert errors == ["crashed"] * 3 + ["given_up"] * 2


def test_lines_that_are_no_answer_are_passed_over_and_told(tmp_path: Path) -> None:
    result = one("chatter", tmp_path)
    assert isinstance(result, Score)
    assert result.flags == ("noise:5 lines",)


def test_no_process_is_left(tmp_path: Path) -> None:
    evaluator = scorer("ok", tmp_path)
    score(evaluator, [SAMPLE])
    process = evaluator._process._process
    assert process is not None
    os.kill(process.pid, 0)
    del evaluator
    gc.collect()
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_reference_that_is_missing(tmp_path: Path) -> None:
    bare = EvalInput(FIRST)
    evaluator = scorer("ok", tmp_path, reference="origin")
    for result in (score(evaluator, [bare])[0], evaluator.evaluate([bare])[0]):
        assert isinstance(result, Unscored) and result.why == "no_reference"


def test_a_program_in_a_checkout(tmp_path: Path) -> None:
    program = tmp_path / "score.sh"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SCRIPT}" ok mark\n')
    program.chmod(0o755)
    (tmp_path / "basis.npz").touch()
    result = one("ok", tmp_path, command=["./score.sh"], folder=str(tmp_path), files=["basis.npz"])
    assert isinstance(result, Score)


@pytest.mark.parametrize(
    ("fields", "kind", "told"),
    [
        ({"command": ["no-such-program"]}, ConfigError, "there is no program 'no-such-program' here"),
        ({"command": []}, ConfigError, "evaluators.it.command"),
        ({"range": [5, 1]}, ConfigError, "the range goes from low to high"),
        ({"files": ["ckpt.pt"], "folder": "/no/where"}, MissingWeights, "there is no /no/where: check"),
        ({"files": ["/no/ckpt.pt"], "name": "rali"}, MissingWeights, "external:rali: there is no /no/ckpt.pt"),
        ({"direction": "up"}, ConfigError, "evaluators.it.direction"),
        ({"name": "a b"}, ConfigError, "evaluators.it.name"),
    ],
)
def test_what_is_missing_is_told_before_anything_runs(
    tmp_path: Path, fields: dict[str, Any], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind) as error:
        scorer("ok", tmp_path, **fields)
    assert told in str(error.value)


def test_its_former_name_is_still_read(tmp_path: Path) -> None:
    """Configurations and run folders of earlier versions say `foreign`."""
    old, new = (scorer("ok", tmp_path, name="rali", type=name) for name in ("foreign", "external"))
    assert (old.config, old.facts) == (new.config, new.facts)
    assert old.config.type == "external"
