"""A tiny autoencoder of the TAESD family, its files loaded into diffusers' AutoencoderTiny."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turngate.agent.editors._tiny_vae_files import NAMES
from turngate.agent.editors.networks.torch_talk import hushed, invented_weights
from turngate.errors import MissingWeights

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["load_network"]

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
        what = " ".join(str(error).split())[:200]
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
