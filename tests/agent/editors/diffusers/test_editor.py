"""The editor `diffusers`, on real pipelines with a few thousand random weights in a user's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.agent.editors import tiny_pipelines as tiny
from tests.agent.editors.editing import ask, edited, photo, refused, size_of
from tests.agent.editors.editing import build as build_editor

from turngate.agent.editor import Editor, NoImage
from turngate.errors import ConfigError, MachineError
from turngate.testing import check_editor

pytest.importorskip("diffusers", reason="needs turngate[diffusers]")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tiny.Models:
    return tiny.Models(tmp_path_factory.mktemp("models"))


def build(folder: Path, **settings: Any) -> Editor:
    return build_editor("diffusers", folder=str(folder), **{"device": "cpu", **settings})


EDITING: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "image-to-image": (tiny.text_to_image, {}, {"steps": 4, "strength": 0.5}),
    "instruct": (tiny.instruct, {}, {"steps": 2}),
    "flux": (tiny.flux, {"guidance_input": False}, {"steps": 2}),
    "klein": (tiny.klein, {"distilled": True}, {"steps": 1}),
}


@pytest.mark.parametrize("kind", EDITING)
def test_contract(models: tiny.Models, kind: str) -> None:
    """Same seed same bytes, another seed other bytes, images of every kind and odd size."""
    make, settings, config = EDITING[kind]
    check_editor(build(models(make, **settings), **config))


def test_the_instruction_is_heard(models: tiny.Models) -> None:
    editor = build(models(tiny.instruct), steps=2)
    assert edited(editor, instruction="make it red").data != edited(editor, instruction="make it blue").data


def test_what_is_recorded(models: tiny.Models) -> None:
    answer = edited(build(models(tiny.text_to_image), steps=4, strength=0.5), seed=11)
    detail = json.loads(json.dumps(dict(answer.metadata)))
    assert detail["pipeline"] == "StableDiffusionImg2ImgPipeline"
    assert (detail["device"], detail["dtype"], detail["seed"]) == ("cpu", "float32", 11)
    assert detail["steps"] == {"asked": 4, "done": 2}
    assert detail["guidance"] == {"guidance_scale": {"value": 7.5, "acts": True}}
    assert answer.flags == ()


# Size


def test_a_tiny_image(models: tiny.Models) -> None:
    answer = edited(build(models(tiny.instruct), steps=1), photo(3, 70))
    assert size_of(answer) == (3, 70)


@pytest.mark.parametrize("kind", EDITING)
def test_the_result_has_the_size_of_the_input(models: tiny.Models, kind: str) -> None:
    make, settings, config = EDITING[kind]
    editor = build(models(make, **settings), **config)
    for width, height in ((64, 72), (67, 70)):
        answer = edited(editor, photo(width, height))
        assert size_of(answer) == (width, height)
        assert any(flag.startswith(f"padded:{width}x{height}->") for flag in answer.flags) == (width != 64)


def test_a_configured_size(models: tiny.Models) -> None:
    editor = build(models(tiny.instruct), steps=1, size=[48, 32])
    first = edited(editor, photo(64, 64))
    assert first.picture is not None and size_of(first) == (48, 32)
    assert first.flags == ("input_resized:48x32",)
    assert edited(editor, first.picture).flags == (), "from turn 2 on nothing is resampled"
    assert "multiples of 8" in refused(ConfigError, lambda: build(models(tiny.instruct), size=[50, 32]))


def test_a_pipeline_with_its_own_idea_of_the_size(models: tiny.Models) -> None:
    editor = build(models(tiny.kontext), steps=1, arguments={"_auto_resize": False, "max_area": 1024})
    answer = edited(editor, photo(64, 64))
    assert size_of(answer) == (32, 32)
    assert answer.flags == ("size_not_followed:64x64->32x32",)


def test_kontext_follows_the_input(models: tiny.Models) -> None:
    answer = edited(build(models(tiny.kontext), steps=1, arguments={"_auto_resize": False}), photo(70, 64))
    assert size_of(answer) == (70, 64)


# Guidance: what is said to act must change the picture, and what is said not to act must not.

GUIDANCE: dict[str, tuple[Any, dict[str, Any], dict[str, Any], str, float | str, bool]] = {
    "classifier-free": (tiny.text_to_image, {}, {}, "guidance_scale", 3.0, True),
    "switched off": (tiny.text_to_image, {}, {}, "guidance_scale", 0.5, False),
    "as an input": (tiny.text_to_image, {"time_cond_proj_dim": 16}, {}, "guidance_scale", 3.0, True),
    "negative": (tiny.text_to_image, {}, {}, "negative_prompt", "blurred", True),
    "negative without": (tiny.text_to_image, {}, {"guidance_scale": 1.0}, "negative_prompt", "blurred", False),
    "instruct": (tiny.instruct, {}, {}, "guidance_scale", 3.0, True),
    "image": (tiny.instruct, {}, {}, "image_guidance_scale", 3.0, True),
    "image without": (tiny.instruct, {}, {"guidance_scale": 1.0}, "image_guidance_scale", 3.0, False),
    "image too low": (tiny.instruct, {}, {"image_guidance_scale": 0.9}, "guidance_scale", 3.0, False),
    "distilled with input": (tiny.flux, {"guidance_input": True}, {}, "guidance_scale", 9.0, True),
    "distilled without input": (tiny.flux, {"guidance_input": False}, {}, "guidance_scale", 9.0, False),
    "true without negative": (tiny.flux, {"guidance_input": False}, {}, "true_cfg_scale", 4.0, False),
    "true": (tiny.flux, {"guidance_input": False}, {"negative_prompt": "x"}, "true_cfg_scale", 4.0, True),
    "negative without true": (tiny.flux, {"guidance_input": True}, {}, "negative_prompt", "x", False),
    "klein": (tiny.klein, {"distilled": False}, {}, "guidance_scale", 9.0, True),
    "klein distilled": (tiny.klein, {"distilled": True}, {}, "guidance_scale", 9.0, False),
}


@pytest.mark.parametrize("case", GUIDANCE)
def test_guidance_without_effect_is_flagged(models: tiny.Models, case: str) -> None:
    make, settings, base, setting, value, acts = GUIDANCE[case]
    folder = models(make, **settings)
    base = {"steps": 2, **base}
    other = "something else" if isinstance(value, str) else value * 0.9
    editor = build(folder, **base, **{setting: value})
    told = any(line.startswith(f"editor.{setting}: ") for line in getattr(editor, "idle", ()))
    assert told == (not acts), "it is told before the first call, and as the call then shows"
    first, second = edited(editor), edited(build(folder, **base, **{setting: other}))
    assert (first.data != second.data) == acts
    assert (f"{setting}_has_no_effect" in first.flags) == (not acts)
    assert first.metadata["guidance"][setting] == {"value": value, "acts": acts}


def test_a_default_without_effect_is_no_remark(models: tiny.Models) -> None:
    """Only what was asked for can disappoint."""
    answer = edited(build(models(tiny.klein, distilled=True), steps=1))
    assert answer.flags == ()
    assert answer.metadata["guidance"]["guidance_scale"]["acts"] is False


# Steps


def test_settings_that_leave_no_step(models: tiny.Models) -> None:
    editor = build(models(tiny.text_to_image), steps=4, strength=0.2)
    assert "0.2 of 4 steps leaves no denoising step" in refused(ConfigError, lambda: ask(editor))


def test_a_pipeline_that_rounds_up_still_makes_a_step(models: tiny.Models) -> None:
    answer = edited(build(models(tiny.flux, guidance_input=False), steps=2, strength=0.3))
    assert answer.metadata["steps"] == {"asked": 2, "done": 1}


# Settings that the pipeline does not take


@pytest.mark.parametrize(
    ("make", "settings", "names"),
    [
        (tiny.instruct, {"strength": 0.5}, ["editor.strength", "Pix2Pix", "takes no strength", "image_guidance_scale"]),
        (tiny.text_to_image, {"true_cfg_scale": 4}, ["editor.true_cfg_scale", "it takes steps, guidance_scale"]),
        (tiny.instruct, {"arguments": {"etta": 1}}, ["editor.arguments.etta", "did you mean 'eta'?"]),
        (tiny.instruct, {"arguments": {"prompt": "x"}}, ["editor.arguments.prompt", "turngate sets it itself"]),
        (tiny.instruct, {"arguments": {"num_inference_steps": 3}}, ["write it as editor.steps"]),
        (tiny.inpaint, {}, ["StableDiffusionInpaintPipeline", "needs a mask_image"]),
        (tiny.instruct, {"offload": "model"}, ["editor.offload", "device is cpu"]),
        (tiny.instruct, {"variant": "fp16"}, ["editor.variant"]),
        (tiny.instruct, {"revision": "main"}, ["revision is for a repository"]),
        (tiny.instruct, {"model": "me/tiny"}, ["either model (a repository) or folder"]),
        (tiny.instruct, {"dtype": "float8"}, ["editor.dtype", "'bfloat16'", "float8"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_setting_that_cannot_work(models: tiny.Models, make: Any, settings: dict[str, Any], names: list[str]) -> None:
    told = refused(ConfigError, lambda: build(models(make), **settings))
    assert all(name in told for name in names), told


def test_a_device_that_is_not_there(models: tiny.Models) -> None:
    import torch

    missing = "mps" if torch.cuda.is_available() else "cuda"
    assert f"finds no {missing} device" in refused(ConfigError, lambda: build(models(tiny.instruct), device=missing))


def test_extra_arguments_reach_the_call(models: tiny.Models) -> None:
    folder = models(tiny.instruct)
    plain, noisy = (edited(build(folder, steps=2, arguments=more)) for more in ({}, {"eta": 1.0}))
    assert plain.data != noisy.data


# Two images


def test_anchor_gives_a_second_image(models: tiny.Models) -> None:
    editor = build(models(tiny.klein, distilled=True), steps=1)
    now = photo()
    assert edited(editor, now, photo(left=0)).data != edited(editor, now, photo(left=300)).data


@pytest.mark.parametrize("kind", ["image-to-image", "instruct", "flux"])
def test_anchor_is_refused_by_a_pipeline_for_one_image(models: tiny.Models, kind: str) -> None:
    """To these pipelines a list of images is a batch: the second would be edited and thrown away."""
    make, settings, config = EDITING[kind]
    editor = build(models(make, **settings), **config)
    assert "takes one image" in refused(ConfigError, lambda: ask(editor, photo(), photo(left=0)))


# Calls that give no image


def test_a_blanked_picture_is_no_image(models: tiny.Models) -> None:
    answer = ask(build(models(tiny.text_to_image, checker=tiny.ALWAYS), steps=2))
    assert isinstance(answer, NoImage) and (answer.why, answer.retryable) == ("safety", True)
    assert answer.model is not None
    edited(build(models(tiny.text_to_image, checker=tiny.NEVER), steps=2))


def test_numbers_that_are_not_finite_are_no_image(models: tiny.Models, tmp_path: Path) -> None:
    """Half precision overflows in some decoders; diffusers would show it as a black picture."""
    folder = tmp_path / "broken"
    shutil.copytree(models(tiny.instruct), folder)
    tiny.spoil(folder / "vae" / "diffusion_pytorch_model.safetensors", "decoder.conv_out.bias", float("nan"))
    answer = ask(build(folder, steps=1))
    assert isinstance(answer, NoImage) and (answer.why, answer.retryable) == ("error", False)
    assert "not finite" in answer.detail


def test_out_of_memory_ends_the_run_with_advice(models: tiny.Models, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from diffusers import UNet2DConditionModel

    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    editor = build(models(tiny.instruct), steps=1)
    monkeypatch.setattr(UNet2DConditionModel, "forward", full)
    assert "offload: model" in refused(MachineError, lambda: ask(editor))


def test_a_failing_pipeline_costs_one_attempt(models: tiny.Models, monkeypatch: pytest.MonkeyPatch) -> None:
    from diffusers import UNet2DConditionModel

    def wrong(*_: Any, **__: Any) -> Any:
        raise ValueError("shapes do not match:\n  3 and 4")

    editor = build(models(tiny.instruct), steps=1)
    monkeypatch.setattr(UNet2DConditionModel, "forward", wrong)
    answer = ask(editor)
    assert isinstance(answer, NoImage) and (answer.why, answer.retryable) == ("error", False)
    assert answer.detail == "ValueError: shapes do not match: 3 and 4"


def test_an_instruction_that_is_cut_is_flagged(models: tiny.Models) -> None:
    editor = build(models(tiny.text_to_image), steps=2)
    answer = edited(editor, instruction="red " * 60)
    assert "instruction_truncated" in answer.flags
    assert any("truncated" in text for text in answer.metadata["said"])


# In a run


def test_a_run(config: Any, run: Any, models: tiny.Models) -> None:
    """Flags, version and what the editor reported are in the ledger; the same configuration gives the same images."""
    editor = {
        "type": "diffusers",
        "folder": str(models(tiny.klein, distilled=True)),
        "device": "cpu",
        "steps": 1,
        "guidance_scale": 3,
    }
    settings = config(origin={"image": "skimage:astronaut", "size": 64}, turns=2, editor=editor)
    (ended, first), (_, second) = run(settings, "one"), run(settings, "two")
    assert ended.status == "complete"
    rows = [attempt.row for attempt in first.attempts]
    assert [row.flags for row in rows] == [["guidance_scale_has_no_effect"]] * 2
    (idle,) = first.info.resolved.editor.idle
    assert idle.startswith("editor.guidance_scale: it has no effect in ")
    assert [row.metadata["seed"] for row in rows] == [row.seed for row in rows]
    assert {row.model for row in rows} == {first.info.resolved.editor.model}
    assert [row.image for row in rows] == [attempt.row.image for attempt in second.attempts]


def test_nothing_is_printed(models: tiny.Models, capfd: pytest.CaptureFixture[str]) -> None:
    """Progress bars and warnings would tear the live view; they are in the record instead."""
    edited(build(models(tiny.klein, distilled=True), steps=1, guidance_scale=3))
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
