"""Which model the editor `diffusers` gets: local folders, a hub on this machine, and everything that is not there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.agent.editors import tiny_pipelines as tiny
from tests.agent.editors.editing import build as build_editor
from tests.agent.editors.editing import edited, refused
from tests.weights.hub import GATED, REPOSITORY, HubClient, commit_of, hub

from turngate.agent.editor import Editor
from turngate.agent.editors import EDITORS
from turngate.agent.editors.diffusers import DiffusersConfig
from turngate.errors import ConfigError, MissingWeights

pytest.importorskip("diffusers", reason="needs turngate[diffusers]")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tiny.Models:
    return tiny.Models(tmp_path_factory.mktemp("models"))


def build(folder: Path, **settings: Any) -> Editor:
    return build_editor("diffusers", folder=str(folder), **{"device": "cpu", **settings})


def test_the_version_is_the_content(models: tiny.Models, tmp_path: Path) -> None:
    """A copy is the same model; one other weight makes another, though every file keeps its size."""
    folder = models(tiny.instruct)
    copy, other = tmp_path / "a" / folder.name, tmp_path / "b" / folder.name
    for target in (copy, other):
        shutil.copytree(folder, target)
    tiny.spoil(other / "unet" / "diffusion_pytorch_model.safetensors", "conv_out.bias", 0.25)
    first, same, changed = (build(path, steps=1).model for path in (folder, copy, other))
    assert re.fullmatch(r"instruct@[0-9a-f]{12}", first) and first == same != changed
    assert edited(build(folder, steps=1)).model == first


def test_the_version_of_a_snapshot_is_its_commit(models: tiny.Models, tmp_path: Path) -> None:
    folder = tmp_path / "models--me--tiny-model" / "snapshots" / ("0123456789abcdef" * 3)[:40]
    shutil.copytree(models(tiny.instruct), folder)
    assert build(folder, steps=1).model == "me/tiny-model@0123456789ab"


def test_pickle_weights_are_refused_unless_allowed(models: tiny.Models, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(models(tiny.instruct), folder)
    import torch
    from safetensors.torch import load_file

    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    torch.save(load_file(file), file.with_suffix(".bin"))
    file.unlink()
    told = refused(MissingWeights, lambda: build(folder, steps=1))
    assert "pickle" in told and "allow_pickle: true" in told and "unet" in told
    expected = edited(build(models(tiny.instruct), steps=1))
    assert edited(build(folder, steps=1, allow_pickle=True)).data == expected.data


def test_broken_weights(models: tiny.Models, tmp_path: Path) -> None:
    folder = tmp_path / "torn"
    shutil.copytree(models(tiny.instruct), folder)
    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    assert "does not load" in refused(MissingWeights, lambda: build(folder))
    shutil.rmtree(folder / "unet")
    assert "does not load" in refused(MissingWeights, lambda: build(folder))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("unet/diffusion_pytorch_model.safetensors", "conv_out.bias"),
        ("text_encoder/model.safetensors", "encoder.layers.0.layer_norm1.bias"),
    ],
)
def test_weights_that_would_be_invented(models: tiny.Models, tmp_path: Path, file: str, name: str) -> None:
    """Both libraries fill in random numbers for what a file lacks and go on."""
    folder = tmp_path / "gappy"
    shutil.copytree(models(tiny.instruct), folder)
    tiny.drop(folder / file, name)
    assert f"weights are missing, {name} for one" in refused(MissingWeights, lambda: build(folder))


def test_a_model_that_is_not_here(tmp_path: Path) -> None:
    assert "no model_index.json" in refused(MissingWeights, lambda: build(tmp_path / "nowhere"))
    for name in ("./somewhere", "a/b/c", "name", "me/../you", ""):
        told = refused(ConfigError, lambda name=name: build_editor("diffusers", model=name))  # type: ignore[misc]
        assert "ORGANISATION/NAME" in told
    name = "nobody/turngate-no-such-model"
    told = refused(MissingWeights, lambda: build_editor("diffusers", model=name, local_files_only=True))
    assert f"hf download {name}" in told


def test_a_folder_whose_weights_changed_meanwhile(models: tiny.Models, tmp_path: Path) -> None:
    """run.json holds the fingerprint; a run does not go on with another model."""
    folder = tmp_path / "mine"
    shutil.copytree(models(tiny.instruct), folder)
    pinned = DiffusersConfig(type="diffusers", folder=folder, steps=1).pinned()
    EDITORS.build(pinned)
    tiny.spoil(folder / "unet" / "diffusion_pytorch_model.safetensors", "conv_out.bias", 0.25)
    assert "not hold the weights of this configuration any more" in refused(ConfigError, lambda: EDITORS.build(pinned))


def test_a_folder_that_is_no_pipeline(models: tiny.Models, tmp_path: Path) -> None:
    assert "no model_index.json" in refused(MissingWeights, lambda: build(tmp_path))
    file = models(tiny.instruct) / "model_index.json"
    assert "no model_index.json" in refused(MissingWeights, lambda: build(file))
    (tmp_path / "model_index.json").write_text("{")
    assert "cannot be read" in refused(MissingWeights, lambda: build(tmp_path))
    for named in ("NoSuchPipeline", ["my_code", "MyPipeline"], None):
        (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": named}))
        assert "does not have" in refused(ConfigError, lambda: build(tmp_path))
    (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": "DDPMPipeline"}))
    assert "does not take an image" in refused(ConfigError, lambda: build(tmp_path))


# The hub


def from_hub(client: HubClient, *asked: dict[str, Any]) -> list[str]:
    return client.build(*({"type": "diffusers", **one} for one in asked))


def test_a_repository_is_fetched_once(models: tiny.Models, hub_client: HubClient) -> None:
    """Nothing is asked of the hub with local_files_only, and a cached model works when the hub is gone."""
    commit = commit_of(models(tiny.instruct))
    version = f"{REPOSITORY}@{commit[:12]}"
    local = {"model": REPOSITORY, "local_files_only": True}
    with hub(models(tiny.instruct), hub_client.port) as (_, requests):
        (told,) = from_hub(hub_client, local)
        assert told.startswith("MissingWeights") and "local_files_only is set" in told
        assert not [request for request in requests if REPOSITORY in request]
        both = from_hub(hub_client, {"model": REPOSITORY}, {"model": REPOSITORY, "revision": commit})
        assert both == [version, version]
        fetched = len(requests)
        assert from_hub(hub_client, local) == [version]
        assert not [request for request in requests[fetched:] if REPOSITORY in request]
    gone = from_hub(hub_client, {"model": REPOSITORY}, {"model": "me/elsewhere"})
    assert gone[0] == version
    assert "the hub cannot be reached: run `hf download me/elsewhere`" in gone[1]


def test_what_the_hub_refuses(models: tiny.Models, hub_client: HubClient) -> None:
    with hub(models(tiny.instruct), hub_client.port):
        gated, unknown, revision = from_hub(
            hub_client,
            {"model": GATED},
            {"model": "me/nothing"},
            {"model": REPOSITORY, "revision": "nowhere"},
        )
    assert "accept its licence" in gated and "hf auth login" in gated
    assert "is not on the hub, or private" in unknown
    assert "has no revision nowhere" in revision


def test_a_repository_without_safetensors(models: tiny.Models, tmp_path: Path, hub_client: HubClient) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(models(tiny.instruct), folder)
    for file in folder.rglob("*.safetensors"):
        file.rename(file.with_suffix(".bin"))
    with hub(folder, hub_client.port) as (_, requests):
        (told,) = from_hub(hub_client, {"model": REPOSITORY})
    assert "only pickle files" in told
    assert not [request for request in requests if request.endswith(".bin")], "nothing was fetched"


def test_a_repository_with_code_of_its_own(tmp_path: Path, hub_client: HubClient) -> None:
    """It is never run, and not even fetched."""
    folder, ran = tmp_path / "coded", tmp_path / "ran"
    folder.mkdir()
    (folder / "model_index.json").write_text(json.dumps({"_class_name": ["my_code", "MyPipeline"]}))
    (folder / "my_code.py").write_text(f"open({str(ran)!r}, 'w').close()")
    with hub(folder, hub_client.port):
        (told,) = from_hub(hub_client, {"model": REPOSITORY})
    assert told.startswith("MissingWeights me/tiny cannot be fetched")
    assert not ran.exists()
