"""`--set` of a study: any field of the file, any arm and part of the grid, and the fields of every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from turngate.errors import ConfigError
from turngate.graphs.study import Study, read_study

STUDY: dict[str, Any] = {
    "name": "s",
    "question": "Why?",
    "run": {"scenario": "replicate", "turns": 5, "evaluators": {"gray": {"type": "scripted"}}},
    "origins": ["skimage:coffee", "skimage:chelsea"],
    "editors": {"made": "scripted", "codec": {"type": "codec", "quality": 50}},
    "arms": {
        "near": {"gate": {"type": "relative", "evaluator": "gray", "reference": "origin", "margin": 1}},
        "free": {"gate": "always_accept", "turns": 7},
    },
    "controls": "none",
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "study.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(STUDY, sort_keys=False))
    return path


def turns(study: Study) -> dict[str, set[int]]:
    return {arm: {job.config.turns for job in study.jobs if job.arm == arm} for arm in ("near", "free")}


def test_a_field_of_the_study(study: Path) -> None:
    found = read_study(study, ["repeats=2", "question=How?", "name=other", "controls=[branch]"])
    assert (found.config.name, found.config.question, found.config.controls) == ("other", "How?", ("branch",))
    assert len(found.jobs) == 3 * 2 * 2 * 2


def test_what_all_runs_share_and_what_every_run_has(study: Path) -> None:
    assert turns(read_study(study, ["run.turns=3"])) == {"near": {3}, "free": {7}}
    assert turns(read_study(study, ["turns=3"])) == {"near": {3}, "free": {3}}
    assert turns(read_study(study, ["arms.free.turns=2", "run.turns=4"])) == {"near": {4}, "free": {2}}


def test_one_arm(study: Path) -> None:
    found = read_study(study, ["arms.near.gate.margin=3"])
    margins = {job.config.gate.model_dump().get("margin") for job in found.jobs if job.arm == "near"}
    assert margins == {3}
    assert {job.config.gate.type for job in found.jobs if job.arm == "free"} == {"always_accept"}
    more = read_study(study, ["arms.third={gate: always_reject}"])
    assert {job.arm for job in more.jobs} == {"near", "free", "third"}


def test_one_part_of_the_grid(study: Path) -> None:
    found = read_study(study, ["origins.coffee.size=64", "editors.codec.quality=30", "editors.made.size=16"])
    assert {job.config.origin.size for job in found.jobs if job.origin == "coffee"} == {64}
    assert {job.config.origin.size for job in found.jobs if job.origin == "chelsea"} == {None}
    assert {job.config.editor.model_dump()["quality"] for job in found.jobs if job.editor == "codec"} == {30}


def test_paths_are_relative_to_the_working_folder(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("RGB", (32, 32), (90, 120, 30)).save(tmp_path / "mine.png")
    monkeypatch.chdir(tmp_path)
    for override in ("origins.mine=mine.png", "origins={mine: {image: mine.png}}", "run.origin=mine.png"):
        if override.startswith("run"):
            raw = {key: value for key, value in STUDY.items() if key != "origins"}
            study.write_text(yaml.safe_dump(raw))
        images = {job.config.origin.image for job in read_study(study, [override]).jobs}
        assert str(tmp_path / "mine.png") in images
    assert {job.config.origin.image for job in read_study(study, ["origin=mine.png"]).jobs} == images


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("runn.turns=5", "no such field 'runn'; did you mean 'run'"),
        ("repeat=2", "no such field 'repeat'; did you mean 'repeats'"),
        ("trns=2", "no such field 'trns'; did you mean 'turns'"),
        ("run.trns=5", "no such field 'trns'; did you mean 'turns'"),
        ("arms.near.gaet.margin=5", "no such field 'gaet'; did you mean 'gate'"),
        ("arms.nera.gate.margin=5", "no arm is called 'nera'; did you mean 'near'"),
        ("origins.cofee.size=64", "no origin is called 'cofee'; did you mean 'coffee'"),
        ("editors.codek.quality=3", "no editor is called 'codek'; did you mean 'codec'"),
        ("scenarios.x.y=3", "no scenario is called 'x': the study has no scenarios"),
        ("arms.near.gate.margn=5", "gate.margn: no such field; did you mean 'margin'"),
        ("repeats=many", "repeats: "),
        ("origins=[a.png, x/a.png]", "'a' is in the list twice"),
        ("=3", "write it as field=value"),
    ],
)
def test_a_name_that_is_not_there_names_the_nearest(study: Path, override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_study(study, [override])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
