"""The conformal gate: its quantile by hand, the rate it promises, and what it takes as a calibration."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from turngate import RunView
from turngate.errors import ConfigError
from turngate.graphs.load import parse_config, read_config
from turngate.graphs.runner import start_run
from turngate.traces.exports import write_csv

from ._support import accepts, direction, gate, past, reading, score

NINE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def conformal(calibration: Any, alpha: float, **more: Any) -> Any:
    return gate(type="conformal", evaluator="q", calibration=calibration, alpha=alpha, **more)


@pytest.mark.parametrize(("alpha", "low", "high"), [(0.1, 9, 1), (0.2, 8, 2), (0.25, 8, 2), (0.5, 5, 5)])
def test_the_quantile_by_hand(alpha: float, low: float, high: float) -> None:
    """The ceil(10 (1 - alpha))-th best of nine: 9th, 8th, 8th, 5th."""
    made = conformal(NINE, alpha)
    for which, threshold in (("lower", low), ("higher", high)):
        decision = made.decide(reading(threshold, which), past())
        assert (decision.verdict, decision.thresholds) == ("accept", {"q": threshold})
        assert not accepts(made, threshold + (0.1 if which == "lower" else -0.1), past(), which)


@given(st.lists(score, min_size=1, max_size=40), score, direction, st.integers(1, 99))
def test_it_rejects_where_the_p_value_is_at_most_alpha(
    calibration: list[float], value: float, which: Any, percent: int
) -> None:
    """p is the share of calibration scores, the candidate among them, that are no better than the candidate."""
    alpha = Fraction(percent, 100)
    if (1 - alpha) / alpha > len(calibration):
        return
    as_bad = sum(one >= value if which == "lower" else one <= value for one in calibration)
    p = Fraction(1 + as_bad, len(calibration) + 1)
    decision = conformal(calibration, percent / 100).decide(reading(value, which), past())
    assert (decision.verdict == "reject") == (p <= alpha)
    assert decision.evidence["p_value"] == pytest.approx(float(p))


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 0.3, 0.01, 0.007])
def test_too_few_calibration_scores_name_the_number_that_is_needed(alpha: float) -> None:
    needed = ceil((1 - Fraction(str(alpha))) / Fraction(str(alpha)))
    conformal([0.0] * needed, alpha)
    if needed > 1:
        with pytest.raises(ConfigError, match=rf"gate\.alpha: .* at least {needed} are needed"):
            conformal([0.0] * (needed - 1), alpha)


@pytest.mark.parametrize(("number", "alpha"), [(19, 0.05), (30, 0.1), (9, 0.25)])
def test_the_false_alarm_rate_is_kept(number: int, alpha: float) -> None:
    """Calibration and candidate drawn alike, 4000 times: the rate is within four standard errors of the exact one.

    For continuous scores that is floor((n + 1) alpha) / (n + 1), which is at most alpha.
    """
    rng, times = np.random.default_rng(number), 4000
    draws = rng.exponential(size=(times, number + 1)).tolist()
    alarms = sum(not accepts(conformal(one[:-1], alpha), one[-1], past()) for one in draws)
    exact = float((number + 1) * Fraction(str(alpha)) // 1) / (number + 1)
    assert exact <= alpha
    assert alarms / times == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / times))


@given(st.lists(score, min_size=9, max_size=9), score, score, direction, st.sampled_from([-64.0, 0.5, 32.0]))
def test_relative_to_the_origin_only_the_difference_counts(
    differences: list[float], origin: float, value: float, which: Any, shift: float
) -> None:
    made = conformal(differences, 0.1, relative_to_origin=True)
    here = made.decide(reading(value, which), past(origin, which=which))
    there = made.decide(reading(value + shift, which), past(origin + shift, which=which))
    plain = conformal(differences, 0.1).decide(reading(value - origin, which), past())
    difference = abs(value - origin)
    assume(all(abs(difference - abs(one)) > 1e-6 for one in differences))  # there rounding decides
    assert here.verdict == there.verdict == plain.verdict


def test_an_origin_without_a_score_is_no_reference() -> None:
    decision = conformal(NINE, 0.1, relative_to_origin=True).decide(reading(1e6), past())
    assert (decision.verdict, decision.thresholds) == ("accept", {})
    assert "origin has no score" in decision.reason


def test_calibration_from_an_exported_run(tmp_path: Path) -> None:
    """A run without a gate, exported as CSV, calibrates one; attempts without a score are left out."""
    raw = {"origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 12}
    editor = {"type": "scripted", "default": "noise:4", "script": {"5": "no_image:safety"}}
    raw |= {"editor": editor, "evaluators": ["psnr"], "gate": "always_accept", "driver": "loop"}
    start_run(parse_config(raw, "test"), tmp_path / "run")
    view = RunView.load(tmp_path / "run")
    with (tmp_path / "run.csv").open("w", newline="") as file:
        write_csv(view, file)
    made = conformal(str(tmp_path / "run.csv"), 0.1, column="score.psnr")
    scores = [attempt.scores["psnr"].value for attempt in view.attempts if attempt.row.turn != 5]
    assert made.config.calibration == pytest.approx(scores)
    stored = made.config.model_dump(mode="json")
    (tmp_path / "run.csv").unlink()
    assert vars(gate(**stored))["config"] == made.config, "run.json alone repeats the run"


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("a.csv", "turn,q\n1,1.5\n2,\n3,2.5\n", "q"),
        ("a.csv", "\ufeffq\r\n1.5\r\n2.5\r\n", "q"),
        ("a.json", "[1.5, null, 2.5]", None),
        ("a.json", json.dumps([{"q": 1.5}, {"q": None}, {"q": 2.5}]), "q"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, column: str | None) -> None:
    (tmp_path / name).write_text(text)
    made = conformal(str(tmp_path / name), 0.5, column=column)
    assert made.config.calibration == [1.5, 2.5]


@pytest.mark.parametrize(
    ("name", "text", "column", "message"),
    [
        ("a.csv", "turn,niqe\n1,2\n", "nique", "did you mean 'niqe'"),
        ("a.csv", "q\n1\n", None, "say with `column`"),
        ("a.csv", "q\n1\nhigh\n", "q", "row 2: 'high' is not a finite number"),
        ("a.csv", "q\nnan\n", "q", "not a finite number"),
        ("a.csv", "q\n", "q", "at least 1 item"),
        ("a.json", "[1, true]", None, "row 2: True"),
        ("a.json", "[1, ", None, "not valid JSON"),
        ("a.json", '{"q": [1]}', "q", "must hold a list"),
        ("a.json", "[[1]]", None, "not a finite number"),
    ],
)
def test_files_that_hold_no_calibration(tmp_path: Path, name: str, text: str, column: str | None, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message) as refused:
        conformal(str(tmp_path / name), 0.5, column=column)
    assert str(refused.value).startswith("gate.calibration")


@pytest.mark.parametrize("calibration", ["nowhere.csv", ".", "a\0b", {"file": "a.csv"}, [], ["a"], [float("nan")], 3])
def test_what_is_no_calibration(calibration: Any) -> None:
    with pytest.raises(ConfigError, match=r"gate\.calibration"):
        conformal(calibration, 0.5)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, "small"])
def test_what_is_no_rate(alpha: Any) -> None:
    with pytest.raises(ConfigError, match=r"gate\.alpha"):
        conformal(NINE, alpha)


def test_the_file_counts_from_the_configuration(tmp_path: Path) -> None:
    """Also inside another gate."""
    (tmp_path / "sound.json").write_text("[1.5, 2.5]")
    inner = {"type": "conformal", "evaluator": "psnr", "calibration": "sound.json", "alpha": 0.5}
    raw = {"origin": "skimage:astronaut", "scenario": "replicate", "editor": "codec", "evaluators": ["psnr"]}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({**raw, "gate": {"type": "all", "gates": [inner]}}))
    stored = read_config(tmp_path / "run.yaml").model_dump(mode="json")
    assert stored["gate"]["gates"][0]["calibration"] == [1.5, 2.5]


A, B = "a" * 16, "b" * 16


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        (f"q,origin\n1.5,{B}\n2,{A}\n2.5,{B}\n", {}, [B, A]),
        (f"q,origin\n1.5,{B}\n,{A}\n", {}, [B]),
        (f"q,origin\n1.5,{B}\n", {"calibrated_on": [A]}, [A]),
        ("q,origin\n1.5,coffee\n", {}, None),
        ("q\n1.5\n", {}, None),
    ],
    ids=["each once", "rows without a score are not in it", "what is said counts", "names are no identities", "none"],
)
def test_it_records_the_origins_of_its_calibration_file(
    tmp_path: Path, text: str, given: dict[str, Any], found: list[str] | None
) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert conformal(str(tmp_path / "a.csv"), 0.5, column="q", **given).config.calibrated_on == found
