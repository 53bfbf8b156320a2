"""`turngate calibrate` over several origins, from runs to a gate that knows what it was calibrated on."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.traces.runs import photograph

from turngate.picture import Picture, encode_png
from turngate.traces.analysis.run import RunView, calibration_origins, origin_identity

from .program import Done

Turngate = Callable[..., Done]
GRAYS = {"astronaut": [0.50, 0.51, 0.52, 0.53], "coffee": [0.52, 0.53, 0.60, 0.61]}
"""Scores of the clean edits of each photograph (`gray`, lower is better)."""


@pytest.fixture
def runs(turngate: Turngate, write: Callable[..., Path], tmp_path: Path) -> Path:
    """A run of four clean edits per photograph; the astronaut's is there once more under another name and format."""
    for name, grays in GRAYS.items():
        script = {str(turn): gray for turn, gray in enumerate(grays, 1)}
        write(
            f"{name}.yaml", origin={"image": f"skimage:{name}", "size": 32}, turns=4, history="origin",
            editor={"type": "scripted", "size": 16, "script": script},
        )  # fmt: skip
        assert turngate("run", f"{name}.yaml", "--out", f"runs/{name}", "--quiet").code == 0
    return tmp_path / "runs"


def test_each_origin_is_judged_by_the_others(turngate: Turngate, runs: Path) -> None:
    """From the astronaut the limit at 0.25 is 0.53, which rejects 2 of coffee's 4; from coffee 0.61 rejects none."""
    done = turngate("calibrate", runs, "--evaluator", "gray", "--alpha", "0.25", "--turns", "4", "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert {one["name"]: one["rate"] for one in found["origins"]} == {"skimage:astronaut": 0.0, "skimage:coffee": 0.5}
    assert found["out_of_sample"] == 0.25
    assert found["worst"]["name"] == "skimage:coffee"
    assert [gate["type"] for gate in found["gates"]] == ["conformal", "threshold"]
    text = turngate("calibrate", runs, "--evaluator", "gray", "--alpha", "0.25", "--turns", "4", "--chart").out
    assert "asked for 25 % of clean edits" in text
    assert "out of sample 25 % (mean of 2 origins, each left out in turn), worst origin skimage:coffee 50 %" in text
    assert "gate: {type: k_sigma, evaluator: gray, baseline: {mean: " in text


def test_two_files_of_one_picture_are_one_origin(turngate: Turngate, runs: Path, write: Callable[..., Path]) -> None:
    first = RunView.load(runs / "astronaut")
    picture = Picture.from_bytes(first.folder.images.get(first.info.origin.image))
    (runs.parent / "other.png").write_bytes(encode_png(picture.rgb))
    write("other.yaml", origin="other.png", turns=2, editor={"type": "scripted", "size": 16, "default": 0.7})
    assert turngate("run", "other.yaml", "--out", "runs/other", "--quiet").code == 0
    assert origin_identity(RunView.load(runs / "other")) == origin_identity(first) == picture.pixel_identity
    done = turngate("calibrate", runs, "--evaluator", "gray", "--alpha", "0.25", "--turns", "4", "--json").json()
    assert len(done["origins"]) == 2
    assert len(done["editors"]) == 3


@pytest.mark.parametrize("kind", ["conformal", "threshold", "k_sigma"])
def test_a_printed_gate_records_its_origins_in_run_json(
    turngate: Turngate, runs: Path, write: Callable[..., Path], kind: str
) -> None:
    options = ("--evaluator", "gray", "--alpha", "0.25", "--turns", "4", "--chart", "--out", "clean.csv")
    lines = turngate("calibrate", runs, *options).out.splitlines()
    printed = yaml.safe_load(next(line for line in lines if line.startswith(f"gate: {{type: {kind},")))["gate"]
    identities = {origin_identity(RunView.load(runs / name)) for name in GRAYS}
    assert set(printed["calibrated_on"]) == identities
    if kind == "conformal":
        del printed["calibrated_on"]  # the file says it too
        with (runs.parent / "clean.csv").open(newline="") as file:
            rows = [*csv.DictReader(file)]
        assert {row["origin_name"] for row in rows} == {"skimage:astronaut", "skimage:coffee"}
        assert [*rows[0]] == ["score", "origin", "origin_name", "editor", "run", "turn"]
    write("judged.yaml", turns=2, gate={"type": "all", "gates": [{"type": "vote", "gates": [printed]}]})
    done = turngate("run", "judged.yaml", "--out", "judged", "--quiet")
    assert done.code == 0, done.err
    assert calibration_origins(RunView.load(runs.parent / "judged")) == identities


def test_an_identity_is_of_pixels_and_not_of_bytes() -> None:
    """The identity is of size and pixels: other bytes have the same, another shape of the same bytes has not."""
    pixels = photograph(64)[:, :32]
    whole = Picture.from_rgb(pixels)
    again = Picture.from_bytes(whole.data)
    turned = Picture.from_rgb(pixels.reshape(32, 64, 3))
    assert whole.pixel_identity == again.pixel_identity != turned.pixel_identity
