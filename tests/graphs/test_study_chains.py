"""Recorded chains in a study: each runs on the picture that it was recorded from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from turngate.errors import BadImage, ConfigError
from turngate.graphs.study import Study, read_study
from turngate.picture import Picture

RUN: dict[str, Any] = {
    "scenario": "replicate", "turns": 2, "driver": "loop", "evaluators": {"gray": {"type": "scripted"}},
    "telemetry": {"exporter": "none"},
}  # fmt: skip
ARMS = {"open": {"gate": "always_accept"}, "strict": {"gate": {"type": "threshold", "evaluator": "gray", "at": 0.5}}}


def chain(folder: Path, *levels: int, first: int = 0) -> str:
    """A folder of flat images, numbered from `first`."""
    folder.mkdir(parents=True)
    for number, level in enumerate(levels, first):
        flat = Picture.from_rgb(np.full((20, 24, 3), level, dtype=np.uint8))
        (folder / f"{number}.png").write_bytes(flat.data)
    return folder.name


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    """The folders `a`, `b` and `c`, chains of three pictures of their own, and `unknown`, one without an origin."""
    for place, name in enumerate("abc"):
        chain(tmp_path / name, *(10 + 80 * place + step for step in range(3)))
    chain(tmp_path / "unknown", 1, 2, first=1)
    return tmp_path


def study(folder: Path, **fields: Any) -> Study:
    raw = {"name": "s", "question": "Does it?", "run": RUN, "arms": ARMS, "controls": "none", **fields}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    return read_study(path)


def origins(*names: str) -> dict[str, str]:
    return {name: f"{name}/0.png" for name in names}


def replay(name: str) -> dict[str, Any]:
    return {"type": "replay", "source": name}


def cells(planned: Study, arm: str) -> list[str]:
    return [job.path.name for job in planned.jobs if job.arm == arm]


def refused(folder: Path, **fields: Any) -> str:
    with pytest.raises(ConfigError, match=r"study\.yaml") as caught:
        study(folder, **fields)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_grid_leaves_foreign_pairs_out_and_says_so(chains: Path) -> None:
    editors = {name * 2: replay(name) for name in "abc"} | {"codec": {"type": "codec"}}
    planned = study(chains, origins=origins("a", "b", "c"), editors=editors)
    for arm in ARMS:
        assert cells(planned, arm) == ["a--aa", "a--codec", "b--bb", "b--codec", "c--cc", "c--codec"]
    (remark,) = planned.remarks
    assert "6 pairs of origin and editor are left out" in remark


def test_one_editor_has_a_chain_for_each_origin(chains: Path) -> None:
    editors = {"model": {"type": "replay", "simulated": True, "per_origin": {n: {"source": n} for n in "ab"}}}
    planned = study(chains, origins=origins("a", "b"), editors=editors)
    assert cells(planned, "strict") == ["a--model", "b--model"]
    assert planned.remarks == ()
    settings = [job.config.editor.model_dump() for job in planned.jobs if job.arm == "strict"]
    assert [(one["source"], one["simulated"]) for one in settings] == [(chains / "a", True), (chains / "b", True)]


@pytest.mark.parametrize("place", ["run", "arm"])
def test_an_editor_outside_the_grid_has_chains_as_well(chains: Path, place: str) -> None:
    editor = {"type": "replay", "per_origin": {n: {"source": n} for n in "ab"}}
    fields: dict[str, Any] = (
        {"run": {**RUN, "editor": editor}}
        if place == "run"
        else {"arms": {"own": {"gate": "always_accept", "editor": editor}}}
    )
    planned = study(chains, origins=origins("a", "b"), **fields)
    assert {job.config.editor.model_dump()["source"].name for job in planned.jobs} == {"a", "b"}
    assert "lists no fields for origin 'c'" in refused(chains, origins=origins("a", "b", "c"), **fields)


def test_an_origin_that_is_not_listed_is_not_run_with_that_editor(chains: Path) -> None:
    editors = {"model": {"type": "replay", "per_origin": {"a": {"source": "a"}}}, "codec": {"type": "codec"}}
    planned = study(chains, origins=origins("a", "b"), editors=editors)
    assert cells(planned, "open") == ["a--model", "a--codec", "b--codec"]
    assert planned.remarks == ("editors.model is not run on origin b: per_origin does not list it",)


def test_an_arm_with_its_own_editor_runs_once_on_every_origin(chains: Path) -> None:
    editors = {name * 2: replay(name) for name in "ab"}
    planned = study(chains, origins=origins("a", "b"), editors=editors, controls=["codec-only"])
    assert cells(planned, "codec-only") == ["a--aa", "b--bb"], "in the cells of the other arms"


def test_two_names_and_two_files_of_one_picture_fit_one_chain(chains: Path) -> None:
    Image.open(chains / "a/0.png").save(chains / "same.tiff")
    named = {**origins("a"), "again": "a/0.png", "file": "same.tiff"}
    planned = study(chains, origins=named, editors={"aa": replay("a")})
    assert cells(planned, "open") == ["a--aa", "again--aa", "file--aa"]
    assert planned.remarks == ()


def test_a_chain_of_unknown_origin_is_run_and_told(chains: Path) -> None:
    one = study(chains, origins=origins("a"), editors={"u": replay("unknown")})
    (remark,) = one.remarks
    assert remark.startswith("editors.u: the record does not say from which picture it was made: whether it fits")
    two = study(chains, origins=origins("a", "b"), editors={"u": replay("unknown")})
    assert len(two.jobs) == 4
    assert "runs on 2 origins and fits one picture at most" in two.remarks[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"run": {**RUN, "editor": replay("a")}, "origins": origins("a", "b")}, "arm open, b: origin: the chain"),
        ({"run": {**RUN, "editor": replay("a"), "origin": "b/0.png"}}, "arm open: origin: the chain"),
        ({"run": {**RUN, "origin": "b/0.png"}, "editors": {"aa": replay("a")}}, "editors.aa fits no origin"),
        ({"origins": origins("b", "c"), "editors": {"aa": replay("a"), "bb": replay("b")}}, "editors.aa fits no"),
        ({"origins": origins("a", "c"), "editors": {"aa": replay("a")}}, "origins.c: no editor of the study"),
        (
            {"origins": origins("a"), "editors": {"e": {"type": "replay", "per_origin": {"a": {"source": "b"}}}}},
            "arm open, a--e: origin: the chain",
        ),
        (
            {"origins": origins("a"), "editors": {"e": {"type": "replay", "per_origin": {"aa": {"source": "a"}}}}},
            "editors.e.per_origin.aa: no origin is called 'aa'; did you mean 'a'?",
        ),
        ({"run": {**RUN, "editor": {"type": "replay", "per_origin": {"a": {}}}}}, "per_origin.a: no origin is called"),
        ({"origins": origins("a"), "editors": {"e": {"type": "replay", "per_origin": ["a"]}}}, "name origins with"),
        ({"origins": origins("a"), "editors": {"e": {"type": "replay", "per_origin": {}}}}, "per_origin lists no"),
        ({"origins": origins("a"), "editors": {"e": replay("nowhere")}}, "no run, folder of images or manifest at"),
        (
            {"origins": origins("a"), "arms": {"x": {"gate": "always_accept", "editor": replay("b")}}},
            "arm x, a: origin: the chain",
        ),
    ],
)
def test_a_pair_that_cannot_be_is_an_error_before_anything_runs(
    chains: Path, fields: dict[str, Any], words: str
) -> None:
    assert words in refused(chains, **fields)


def test_an_origin_that_cannot_be_read_is_named(chains: Path) -> None:
    with pytest.raises(BadImage, match=r"study\.yaml, arm open, x--aa: no image at .*gone\.png"):
        study(chains, origins={"x": "gone.png"}, editors={"aa": replay("a")})
