"""Editors that wear an image out, as functions from 8-bit pixels to 8-bit pixels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _drift_inputs import jpeg, rounded
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from turngate.agent.editor import Edited, Editor, EditRequest
from turngate.agent.editors.simulated import SimulatedConfig, SimulatedEditor
from turngate.agent.editors.span import SpanConfig, SpanEditor
from turngate.picture import Picture

__all__ = ["NETWORKS", "SIMULATED", "STATIONARY", "Turn", "chain", "vae"]

Rgb = NDArray[np.uint8]
Turn = Callable[[Rgb, np.random.Generator], Rgb]


def chain(turn: Turn, origin: Rgb, turns: int, seed: int) -> list[Rgb]:
    """Origin and the image after each of `turns` turns."""
    rng = np.random.default_rng(seed)
    images = [origin]
    for _ in range(turns):
        images.append(turn(images[-1], rng))
    return images


def _shipped(editor: Editor) -> Turn:
    def turn(rgb: Rgb, rng: np.random.Generator) -> Rgb:
        request = EditRequest((Picture.from_rgb(rgb),), "replicate", 1, 1, int(rng.integers(2**31)))
        edited = editor.edit(request)
        if not isinstance(edited, Edited):
            raise SystemExit(f"{editor.model} gave no image: {edited.why}")
        return Picture.from_bytes(edited.data).rgb

    return turn


def vae(folder: Path) -> Turn:
    """Encode and decode with the tiny FLUX.2 autoencoder (taesd, MIT), built from the shapes of its two state dicts."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, pooled: bool) -> None:
            super().__init__()
            convolutions = [nn.Conv2d(64, 64, 3, padding=1) for _ in range(3)]
            self.conv = nn.Sequential(convolutions[0], nn.ReLU(), convolutions[1], nn.ReLU(), convolutions[2])
            if pooled:
                inner = (nn.Conv2d(64, 256, 1, bias=False), nn.GroupNorm(4, 256), nn.ReLU())
                self.pool = nn.Sequential(*inner, nn.Conv2d(256, 64, 1, bias=False))
            self.pooled = pooled

        def forward(self, x: Any) -> Any:
            x = x + self.pool(x) if self.pooled else x
            return torch.relu(self.conv(x) + x)

    class Squash(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.tanh(x / 3) * 3

    def build(state: dict[str, Any], decoder: bool) -> nn.Sequential:
        layers: list[nn.Module] = []
        for index in range(1 + max(int(name.split(".")[0]) for name in state)):
            own = {name.split(".", 1)[1]: value for name, value in state.items() if name.split(".")[0] == str(index)}
            if not own:
                layers.append(Squash() if index == 0 else nn.ReLU() if index == 2 else nn.Upsample(scale_factor=2))
            elif "weight" in own:
                leaving, entering = own["weight"].shape[:2]
                stride = 1 if decoder or "bias" in own else 2
                layers.append(nn.Conv2d(entering, leaving, 3, stride, 1, bias="bias" in own))
            else:
                layers.append(Block("pool.0.weight" in own))
        network = nn.Sequential(*layers)
        network.load_state_dict(state)
        return network.eval()

    states = [torch.load(folder / f"taef2_{half}.pth", weights_only=True) for half in ("encoder", "decoder")]
    encoder, decoder = build(states[0], False), build(states[1], True)

    def turn(rgb: Rgb, rng: np.random.Generator) -> Rgb:
        with torch.no_grad():
            entry = torch.from_numpy(rgb.transpose(2, 0, 1)[None].astype(np.float32) / 255)
            result = decoder(encoder(entry)).clamp(0, 1)[0].numpy().transpose(1, 2, 0)
        return rounded(result.astype(np.float64) * 255)

    return turn


def _stripes(rgb: Rgb, amplitude: float) -> NDArray[np.float64]:
    return amplitude * np.cos(2 * np.pi * np.arange(rgb.shape[1]) / 5)[None, :, None]


def _contrast(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    return rounded((rgb - rgb.mean()) * 1.04 + rgb.mean())


def _moving_jpeg(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    offset = tuple(int(pixels) for pixels in rng.integers(0, 8, 2))
    moved = jpeg(np.roll(rgb, offset, (0, 1)), 50)
    return np.roll(moved, (-offset[0], -offset[1]), (0, 1))


NETWORKS: dict[str, Callable[[], Turn]] = {
    "span x4 gaussian": lambda: _shipped(SpanEditor(SpanConfig(type="span", kernel="gaussian"))),
    "span x4 lanczos": lambda: _shipped(SpanEditor(SpanConfig(type="span", kernel="lanczos"))),
}
"""Real networks. `lanczos` is the default kernel of the editor."""
SIMULATED: dict[str, Turn] = {
    "simulated banana": _shipped(SimulatedEditor(SimulatedConfig(type="simulated"))),
    "noise": lambda rgb, rng: rounded(rgb + rng.normal(0, 1.5, rgb.shape)),
    "lattice": lambda rgb, rng: rounded(rgb + rng.normal(0, 0.3, rgb.shape) + _stripes(rgb, 0.7)),
    "tint": lambda rgb, rng: rounded(rgb + rng.normal(0, 0.3, rgb.shape) + (-0.6, 0.7, -0.5)),
    "blur": lambda rgb, rng: rounded(
        gaussian_filter(rgb.astype(float), (0.45, 0.45, 0)) + rng.uniform(-0.5, 0.5, rgb.shape)
    ),
    "contrast": _contrast,
    "JPEG q 50, moving grid": _moving_jpeg,
}
"""Damage written by hand: it shows that each component sees what it is named after, not how real editors decay."""
STATIONARY: dict[str, Turn] = {
    "JPEG q 50, fixed grid": lambda rgb, rng: jpeg(rgb, 50),
}
"""Chains that lose once and then hardly change: turn 10 is no worse than turn 1, so there is nothing to tell apart."""
