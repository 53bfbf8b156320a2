"""Everything that a run or a study needs is looked at before its first call, and all faults are told together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from .program import Done

__all__ = ["fake_server", "fake_server_process"]

Turngate = Callable[..., Done]
Write = Callable[..., Path]
NO_KEYS = {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "OPENAI_API_KEY": ""}
CALIBRATED = {"type": "conformal", "evaluator": "gray", "calibration": "none.csv", "column": "s", "alpha": 0.1}


def study(folder: Path, **fields: Any) -> Path:
    """A study whose first arm could run against the fake server and whose later arms lack one thing each."""
    run = {"scenario": "replicate", "turns": 1, "editor": "scripted", "evaluators": {"gray": "scripted"}}
    base = {"name": "s", "question": "x?", "run": run, "controls": "none", "arms": {"a": {"gate": "always_accept"}}}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**base, **fields}, sort_keys=False))
    return path


@pytest.fixture
def broken(tmp_path: Path, fake_server: FakeServer) -> Path:
    good = {"gate": "always_accept", "editor": {"type": "gemini", "base_url": fake_server.base_url}}
    judge = {"type": "openai_judge", "model": "m", "prompt": "no-words.txt", "base_url": fake_server.openai_url}
    external = {
        "type": "external", "name": "x", "version": "1", "command": ["no-such-program"], "direction": "higher",
    }  # fmt: skip
    arms = {
        "good": good,
        "calibration": {**good, "gate": CALIBRATED},
        "key": {"gate": "always_accept", "editor": "gemini"},
        "weights": {"gate": "always_accept", "editor": {"type": "diffusers", "folder": "no-pipeline"}},
        "prompt": {**good, "evaluators": {"j": judge}},
        "program": {**good, "evaluators": {"x": external}},
        "chain": {"gate": "always_accept", "editor": {"type": "replay", "source": "no-chain.csv"}},
        "unfit": {**good, "gate": {"type": "threshold", "evaluator": "niqe", "max": 5}},
    }
    origins = {"astro": "skimage:astronaut", "gone": "gone.png", "text": "text.png"}
    (tmp_path / "text.png").write_text("no image")
    return study(tmp_path, origins=origins, arms=arms)


TOLD = {
    "arm calibration, astro": "gate.calibration: there is no file at",
    "arm key, astro": "export GEMINI_API_KEY=",
    "arm prompt, astro": "evaluators.j.prompt",
    "arm program, astro": "evaluators.x",
    "arm chain, astro": "no run, folder of images or manifest at",
    "arm unfit, astro": "gate reads evaluator 'niqe'",
    "arm good, gone": "no image at",
    "arm good, text": "text.png",
}


@pytest.mark.parametrize("how", [[], ["--plan"], ["--json"]])
def test_a_study_tells_every_fault_of_every_arm_and_cell_before_it_pays(
    turngate: Turngate, broken: Path, fake_server: FakeServer, tmp_path: Path, how: list[str]
) -> None:
    done = turngate("study", broken, "--out", "out", *how, **NO_KEYS)
    lines = done.err.strip().splitlines()
    assert done.code == 2 and all(line.startswith("turngate: ") for line in lines), lines
    for where, what in TOLD.items():
        told = [line for line in lines if where in line and what in line]
        assert len(told) == 1, (where, what, lines)
    assert any("no-pipeline" in line or "pip install" in line for line in lines), "weights, or the package for them"
    assert len(lines) == len(TOLD) + 1, "each fault once, however many runs it concerns"
    assert "(and in 2 more runs)" in next(line for line in lines if "GEMINI_API_KEY" in line)
    assert not fake_server.requests() and not (tmp_path / "out").exists()
    if how == ["--json"]:
        assert len(done.json()["error"]["faults"]) == len(lines)


def test_doctor_tells_them_too(turngate: Turngate, broken: Path, fake_server: FakeServer) -> None:
    done = turngate("doctor", broken, **NO_KEYS)
    assert done.code == 2
    for what in TOLD.values():
        assert what in done.out, (what, done.out)
    assert "origin (skimage:astronaut): can be read" in done.out
    assert not fake_server.requests()


def test_a_run_tells_all_at_once_and_leaves_no_folder(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    judge = {"type": "openai_judge", "model": "m"}
    write(origin="gone.png", editor="gemini", evaluators={"j": judge, "gray": "scripted"})
    done = turngate("run", "run.yaml", "--out", "r", **NO_KEYS)
    lines = done.err.strip().splitlines()
    assert (done.code, len(lines)) == (2, 3)
    for what in ("gone.png", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        assert sum(what in line for line in lines) == 1, lines
    assert not (tmp_path / "r").exists()
    write(gate=CALIBRATED, scenario={"type": "custom", "instructions": []}, editor={"type": "codec", "quality": 900})
    done = turngate("run", "run.yaml", "--json")
    faults = done.json()["error"]["faults"]
    assert [fault.split(": ")[1].split(".")[0] for fault in faults] == ["editor", "gate", "scenario"], faults


def test_two_names_of_one_picture_are_told(turngate: Turngate, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    Image.fromarray(pixels).save(tmp_path / "b.bmp")
    Image.fromarray(pixels[::-1]).save(tmp_path / "c.png")
    file = study(tmp_path, origins={"one": "a.png", "other": "b.bmp", "third": "c.png"})
    words = "origins one and other are one picture, pixel for pixel: they count as one origin"
    assert words in turngate("study", file, "--plan").out.splitlines()
    assert turngate("study", file, "--plan", "--json").json()["remarks"] == [words]
    assert f"note: {words}" in turngate("doctor", file).out
    assert words in turngate("study", file, "--out", "o").err


def test_weights_on_this_machine_are_looked_for_and_not_loaded(turngate: Turngate, tmp_path: Path) -> None:
    """A folder whose weights are no weights is good enough for the plan of another arm; the run itself tells more."""
    pytest.importorskip("diffusers")
    folder = tmp_path / "pipe"
    (folder / "unet").mkdir(parents=True)
    index = {
        "_class_name": "StableDiffusionInstructPix2PixPipeline",
        "_diffusers_version": "0.30",
        "unet": ["diffusers", "U"],
    }
    (folder / "model_index.json").write_text(json.dumps(index))
    (folder / "unet" / "weights.safetensors").write_bytes(b"no weights")
    editor: dict[str, Any] = {"type": "diffusers", "folder": "pipe"}
    arms = {"x": {"gate": "always_accept", "editor": editor}}
    file = study(tmp_path, origins={"a": "skimage:astronaut"}, arms=arms)
    planned = turngate("study", file, "--out", "o", "--quiet")
    assert planned.err.startswith("s: 1 run ") and "o/x/a: pipe@" in planned.err, "planned, and then not loaded"
    (folder / "model_index.json").unlink()
    turngate("study", file, "--out", "o2").refused(2, "holds no model_index.json")
    (folder / "model_index.json").write_text(json.dumps(index))
    editor["strength"] = 0.5
    turngate("study", study(tmp_path, origins={"a": "skimage:astronaut"}, arms=arms)).refused(2, "editor.strength")
