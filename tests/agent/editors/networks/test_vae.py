"""The editor `vae`: on random weights always, on FLUX.2's tiny autoencoder where its weights are at hand."""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.editors import tiny_pipelines as tiny
from tests.agent.editors.editing import ask, edited, photo, refused, size_of
from tests.agent.editors.editing import build as build_editor
from tests.weights.hub import REPOSITORY, HubClient, commit_of, hub

from turngate.agent.editor import Editor, NoImage
from turngate.agent.editors import EDITORS
from turngate.agent.editors.networks import VaeConfig
from turngate.errors import ConfigError, MachineError, MissingWeights
from turngate.evaluators.registration import register
from turngate.picture import Picture
from turngate.testing import check_editor

pytest.importorskip("diffusers", reason="needs turngate[diffusers]")
pytestmark = pytest.mark.slow

WEIGHTS = Path(os.environ.get("TURNGATE_WEIGHTS", Path(__file__).parents[5] / "shared" / "weights"))
real = pytest.mark.skipif(
    not (WEIGHTS / "taef2_encoder.pth").is_file(),
    reason=f"no taef2_encoder.pth in {WEIGHTS}: set TURNGATE_WEIGHTS to a folder with the files of madebyollin/taesd",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An AutoencoderTiny with random weights, as a user's folder."""
    return tiny.save(tiny.autoencoder, tmp_path_factory.mktemp("models") / "mine")


def build(**settings: Any) -> Editor:
    return build_editor("vae", **{name: str(v) if isinstance(v, Path) else v for name, v in settings.items()})


@pytest.mark.parametrize("noise", [{}, {"dither": 0}, {"dither": 0, "latent_noise": 0.1}], ids=str)
def test_contract(folder: Path, noise: dict[str, Any]) -> None:
    """Deterministic without noise, seeded with it, any mode and size."""
    editor = build(folder=folder, **noise)
    assert editor.stochastic == (noise != {"dither": 0})
    check_editor(editor)


def test_any_size_comes_back(folder: Path) -> None:
    editor = build(folder=folder)

    @settings(deadline=None, max_examples=25)
    @given(st.integers(1, 50), st.integers(1, 50))
    def check(width: int, height: int) -> None:
        assert size_of(edited(editor, photo(width, height))) == (width, height)

    check()


def test_padding_is_outside_the_picture(folder: Path) -> None:
    """Cutting a picture at a multiple of 8 or padding it to one: far from the edge the result is the same."""
    editor = build(folder=folder, dither=0)
    padded, whole = (Picture.from_bytes(edited(editor, photo(width, 64)).data) for width in (297, 304))
    assert whole.rgb.std() > 20, "it does depend on the input"
    assert np.array_equal(padded.rgb[:, :40], whole.rgb[:, :40])


def test_threads_are_given_back(folder: Path) -> None:
    import torch

    before = torch.get_num_threads()
    edited(build(folder=folder, threads=before + 1))
    assert torch.get_num_threads() == before


def test_the_files_of_one_network_in_every_format(folder: Path, tmp_path: Path) -> None:
    """What save_pretrained writes, one safetensors file, and the two state dicts of the original repository."""
    whole, pair = tmp_path / "whole", tmp_path / "pair"
    tiny.write_whole(folder, whole / "taesd.safetensors")
    tiny.write_pair(folder, pair, "taesd")
    expected = edited(build(folder=folder, dither=0))
    editors = [
        build(model="taesd", folder=whole, dither=0),
        build(model="taesd", folder=pair, dither=0),
        build(encoder=pair / "taesd_encoder.pth", decoder=pair / "taesd_decoder.pth", dither=0),
    ]
    assert [edited(editor).data for editor in editors] == [expected.data] * 3
    assert editors[0].model.startswith("taesd@")
    assert editors[2].model.startswith("taesd_encoder+taesd_decoder@")


def test_pooled_blocks(folder: Path, tmp_path: Path) -> None:
    """FLUX.2's network has a branch in its inner blocks that AutoencoderTiny lacks: silent when its weights are 0."""
    expected = edited(build(folder=folder, dither=0))
    silent, loud = tmp_path / "silent", tmp_path / "loud"
    tiny.write_pair(folder, silent, "taef2", pool=0.0)
    tiny.write_pair(folder, loud, "taef2", pool=0.1)
    assert edited(build(model="taef2", folder=silent, dither=0)).data == expected.data
    assert edited(build(model="taef2", folder=loud, dither=0)).data != expected.data


def test_out_of_memory_ends_the_run_with_advice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import diffusers
    import torch

    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    editor = build(folder=folder)
    monkeypatch.setattr(diffusers.AutoencoderTiny, "encode", full)
    assert "64 x 64 pixels: use a smaller origin" in refused(MachineError, lambda: ask(editor))


def test_numbers_that_are_not_finite_are_no_image(tmp_path: Path) -> None:
    broken = tiny.save(tiny.autoencoder, tmp_path / "broken")
    tiny.spoil(broken / "diffusion_pytorch_model.safetensors", "decoder.layers.18.bias", float("nan"))
    answer = ask(build(folder=broken))
    assert isinstance(answer, NoImage) and (answer.why, answer.retryable) == ("error", False)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "taef2_encoder.pth" in refused(MissingWeights, lambda: build(folder=tmp_path))
    assert "no file" in refused(MissingWeights, lambda: build(encoder=tmp_path / "e.pth", decoder=tmp_path / "d.pth"))
    assert "ORGANISATION/NAME" in refused(ConfigError, lambda: build(model="./nowhere"))
    assert "did you mean 'taesdxl'?" in refused(ConfigError, lambda: build(model="taesd-xl"))
    told = refused(MissingWeights, lambda: build(model="nobody/turngate-no-such-model", local_files_only=True))
    assert "hf download nobody/turngate-no-such-model" in told


def test_files_that_hold_something_else(folder: Path, tmp_path: Path) -> None:
    """A network with a weight missing or another network altogether: diffusers would go on with random numbers."""
    import torch

    gappy = tiny.save(tiny.autoencoder, tmp_path / "gappy")
    tiny.drop(gappy / "diffusion_pytorch_model.safetensors", "decoder.layers.0.weight")
    other = tiny.save(tiny.other_autoencoder, tmp_path / "other")
    halves = tmp_path / "halves"
    tiny.write_pair(folder, halves, "taesd")
    (halves / "taesd_decoder.pth").write_bytes((halves / "taesd_encoder.pth").read_bytes())
    code = tmp_path / "code"
    tiny.write_pair(folder, code, "taesd")
    torch.save(torch.nn.ReLU(), code / "taesd_encoder.pth")
    for files in (gappy, other, halves, code):
        told = refused(MissingWeights, partial(build, model="taesd", folder=files))
        assert "cannot be loaded as a tiny autoencoder" in told


def test_files_that_changed_meanwhile(folder: Path, tmp_path: Path) -> None:
    tiny.write_pair(folder, tmp_path / "mine", "taesd")
    pinned = VaeConfig(type="vae", model="taesd", folder=tmp_path / "mine").pinned()
    EDITORS.build(pinned)
    tiny.write_pair(folder, tmp_path / "other", "taesd", pool=0.1)
    (tmp_path / "mine" / "taesd_decoder.pth").write_bytes((tmp_path / "other" / "taesd_decoder.pth").read_bytes())
    assert "any more" in refused(ConfigError, lambda: EDITORS.build(pinned))


def test_settings_that_contradict_each_other(tmp_path: Path) -> None:
    assert "go together" in refused(ConfigError, lambda: build(encoder=tmp_path))
    told = refused(ConfigError, lambda: build(encoder=tmp_path, decoder=tmp_path, folder=tmp_path))
    assert "not both" in told


def test_from_the_hub(folder: Path, hub_client: HubClient) -> None:
    raw = {"type": "vae", "model": REPOSITORY}
    with hub(folder, hub_client.port):
        assert hub_client.build(raw) == [f"{REPOSITORY}@{commit_of(folder)[:12]}"]
    assert hub_client.build({**raw, "local_files_only": True}) == [f"{REPOSITORY}@{commit_of(folder)[:12]}"]


def chain(editor: Editor, origin: Picture, turns: int) -> list[Picture]:
    pictures = [origin]
    for turn in range(turns):
        pictures.append(Picture.from_bytes(edited(editor, pictures[-1], seed=turn).data))
    return pictures


def psnr(picture: Picture, origin: Picture) -> float:
    error = np.mean((picture.rgb.astype(float) - origin.rgb) ** 2)
    return float(10 * np.log10(255**2 / error))


@real
def test_real_weights_decay_by_themselves() -> None:
    """The whole astronaut: 31.2 dB after one round trip and 21.8 dB after five, as measured with another loader."""
    pictures = chain(build(folder=WEIGHTS), photo(512, 512, 0, 0), 5)
    values = [psnr(picture, pictures[0]) for picture in pictures[1:]]
    assert values[0] == pytest.approx(31.2, abs=0.2)
    assert values[4] == pytest.approx(21.8, abs=0.3)
    assert all(later < earlier for earlier, later in pairwise(values))


@real
def test_real_weights_do_not_shift_the_picture() -> None:
    pictures = chain(build(folder=WEIGHTS), photo(192, 192), 4)
    assert register(pictures[-1], pictures[0], "shift").flags == ()


@real
def test_latent_noise_does_damage() -> None:
    origin = photo(192, 192)
    quiet, noisy = (psnr(chain(build(folder=WEIGHTS, latent_noise=n), origin, 1)[-1], origin) for n in (0.0, 0.5))
    assert noisy < quiet - 1
