"""A tiny autoencoder of the TAESD family, its files loaded into diffusers' AutoencoderTiny."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turngate.agent.editors.networks.torch_talk import hushed, invented_weights
from turngate.errors import MissingWeights, one_line
from turngate.registry import nearest
from turngate.weights.hub import check_repository, fetch
from turngate.weights.version import fingerprint, snapshot_version

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["NAMES", "VaeFiles", "load_network", "repository_of"]


# Where the files of a tiny autoencoder are, and which version they are.

NAMES = ("taesd", "taesdxl", "taesd3", "taef1", "taef2")
"""Tiny autoencoders for the latents of SD 1 and 2, SDXL, SD 3, FLUX.1 and FLUX.2: `madebyollin/NAME` on the hub."""

_KINDS = (".safetensors", ".pth")


@dataclass(frozen=True)
class VaeFiles:
    """The files of one network."""

    files: tuple[Path, ...]
    """[config.json, weights], [weights], or [encoder, decoder]."""
    name: str

    @classmethod
    def pair(cls, encoder: Path, decoder: Path) -> VaeFiles:
        """Two state dicts; raises `MissingWeights` when one is not there."""
        for field, file in (("encoder", encoder), ("decoder", decoder)):
            if not file.is_file():
                raise MissingWeights(f"no file {file}: check editor.{field}")
        return cls((encoder, decoder), f"{encoder.stem}+{decoder.stem}")

    @classmethod
    def inside(cls, folder: Path, name: str) -> VaeFiles:
        """What `save_pretrained` writes, `NAME.safetensors`, or `NAME_encoder` and `NAME_decoder` (.safetensors, .pth).

        Raises `MissingWeights` when the folder holds none of these.
        """
        config, whole = folder / "config.json", folder / f"{name}.safetensors"
        if config.is_file() and len(weights := list(folder.glob("*.safetensors"))) == 1:
            return cls((config, *weights), folder.resolve().name)
        if whole.is_file():
            return cls((whole,), name)
        halves = [[folder / f"{name}_{half}{kind}" for kind in _KINDS] for half in ("encoder", "decoder")]
        found = [path for half in halves for path in [path for path in half if path.is_file()][:1]]
        if len(found) == len(halves):
            return cls(tuple(found), name)
        raise MissingWeights(
            f"{folder} holds no {name}: neither config.json with one .safetensors file, nor {whole.name}, nor "
            f"{halves[0][1].name} and {halves[1][1].name}"
        )

    @classmethod
    def on_the_hub(cls, model: str, revision: str | None, local_only: bool) -> VaeFiles:
        """Fetch a name or repository unless it is in the hub's cache; raises `MissingWeights` when it cannot be had."""
        repository = repository_of(model)
        check_repository(repository, "editor", nearest(model, list(NAMES)))
        folder = fetch(repository, revision, local_only, ("*.safetensors", "config.json"), "editor")
        return cls.inside(folder, Path(repository).name)

    @property
    def fingerprint(self) -> str:
        """12 hex digits."""
        return fingerprint({file.name: file for file in self.files})

    @property
    def version(self) -> str:
        """`organisation/name@commit` of a snapshot, else `name@fingerprint`."""
        return snapshot_version(self.files[0].parent) or f"{self.name}@{self.fingerprint}"


def repository_of(model: str) -> str:
    """The repository on the hub that one of `NAMES` stands for; any other name is a repository."""
    return f"madebyollin/{model}" if model in NAMES else model


_GROUPS = 4
"""Groups of the normalisation in a pooled block; the weights do not tell. As in the repository madebyollin/taesd."""


def load_network(files: Sequence[Path], device: str) -> Any:
    """AutoencoderTiny, float32, from (config.json, weights), (weights) or (encoder, decoder).

    Raises `MissingWeights` when the files are broken or hold another network.
    """
    import torch

    try:
        with hushed() as said:
            if files[0].name == "config.json":
                from diffusers import AutoencoderTiny

                tiny: Any = AutoencoderTiny  # diffusers is half typed
                opened = tiny.from_pretrained(files[0].parent, use_safetensors=True, local_files_only=True)
            else:
                opened = _build(files)
        if invented := invented_weights(said):
            raise ValueError(f"weights are missing, {invented} for one")
    except Exception as error:
        what = one_line(error, 200)
        names = " and ".join(file.name for file in files)
        raise MissingWeights(
            f"{names} in {files[0].parent} cannot be loaded as a tiny autoencoder "
            f"({type(error).__name__}: {what}): fetch them again, or take one of {', '.join(NAMES)}"
        ) from error
    # Channels last is how images lie in memory; measured a fifth faster on a CPU.
    return opened.to(device, memory_format=torch.channels_last)


def _read(file: Path) -> dict[str, Tensor]:
    if file.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(file)
    import torch

    state: dict[str, Tensor] = torch.load(file, map_location="cpu", weights_only=True)  # weights alone: runs no code
    return state


def _renamed(key: str, half: str) -> str:
    """The original files number layers from 0; their decoder starts with a clamp, which diffusers does not count."""
    if not re.match(r"\d+\.", key):
        return key
    index, _, rest = key.partition(".")
    return f"{half}.layers.{int(index) - (half == 'decoder')}.{rest}"


def _build(files: Sequence[Path]) -> Any:
    from diffusers import AutoencoderTiny

    state: dict[str, Tensor] = {}
    for file, half in zip(files, ("encoder", "decoder"), strict=False):
        state |= {_renamed(key, half): value for key, value in _read(file).items()}
    tiny: Any = AutoencoderTiny  # diffusers is half typed
    network = tiny(latent_channels=state["decoder.layers.0.weight"].shape[1])
    for key, weight in state.items():
        if key.endswith(".pool.0.weight"):
            half, _, index = key.removesuffix(".pool.0.weight").split(".")
            getattr(network, half).layers[int(index)] = _pooled_block(weight.shape[1], weight.shape[0])
    network.load_state_dict(state)
    return network.eval()


def _pooled_block(channels: int, wide: int) -> Any:
    """A block of FLUX.2's tiny autoencoder, which AutoencoderTiny does not have: it adds a normalised branch first."""
    from diffusers.models.unets.unet_2d_blocks import AutoencoderTinyBlock
    from torch import nn

    class PooledBlock(AutoencoderTinyBlock):
        def __init__(self) -> None:
            super().__init__(channels, channels, "relu")
            self.pool = nn.Sequential(
                nn.Conv2d(channels, wide, 1, bias=False),
                nn.GroupNorm(_GROUPS, wide),
                nn.ReLU(),
                nn.Conv2d(wide, channels, 1, bias=False),
            )

        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x + self.pool(x))

    return PooledBlock()
