"""A simulator of a decaying editor: every damage in it is written by hand, and it knows how much it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors._signatures import SIGNATURES, Signature
from turngate.part import PartConfig
from turngate.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SimulatedConfig", "SimulatedEditor"]

_CONFIDENT = (
    "The output reproduces the input faithfully; composition, colours and fine detail are preserved.",
    "I compared both images region by region and found them identical.",
    "The replica matches the original exactly. No changes were introduced.",
)
_NOTICES = (
    "The picture shows some grain and a slight colour cast; I kept both to stay faithful to the input.",
    "There is visible noise in the smooth areas. The replica preserves the image as provided.",
)


class SimulatedConfig(PartConfig):
    """Which model is imitated, and how strongly."""

    signature: Literal["nano-banana-pro"] = "nano-banana-pro"
    """Whose decay is imitated."""
    severity: float = Field(default=1.0, ge=0, le=20)
    """Multiplies all amplitudes: at 1 damage is visible by 5 to 10 turns, severe at 20; 0 returns the input."""
    spread: float = Field(default=0.35, ge=0, le=1)
    """How much attempts differ: each is 1 - spread .. 1 + spread times as strong, drawn from its seed."""
    chain_seed: int = Field(default=0, ge=0)
    """Draws the damage at which the reasoning summary first mentions noise; give repeats different ones."""


class SimulatedEditor:
    """SIMULATED decay after a published description: noise, tint, dots, lattice, blur, crop, confident summaries.

    The residual follows R_n = I + a R_(n-1) with a = 1: each turn adds its injection I to what the image already
    carries. `damage` is the sum of the injections along the lineage, in turns at severity 1 and mean strength; an
    image that this editor did not make counts as 0.
    """

    Config: ClassVar[type[PartConfig]] = SimulatedConfig
    requires: ClassVar[Mapping[str, str]] = {}
    simulated = True
    paid = False

    def __init__(self, config: SimulatedConfig) -> None:
        self.config = config
        self.model = f"simulated-{config.signature}"
        self.stochastic = config.severity > 0
        self._signature: Signature = SIGNATURES[config.signature]
        low, high = self._signature.mentions
        self._mentions_at = float(np.random.default_rng([config.chain_seed, 20]).uniform(low, high))
        self._damage: dict[str, float] = {}

    def restore(self, made: Iterable[tuple[str, float]]) -> None:
        """Remember (SHA-256, damage) of images made before this process started."""
        self._damage.update(made)

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Add one turn of damage; the image keeps its size."""
        rng = np.random.default_rng(request.seed)
        strength = self.config.severity * rng.uniform(1 - self.config.spread, 1 + self.config.spread)
        picture = Picture.from_rgb(_damaged(request.image.rgb, self._signature, strength, rng))
        before = self._damage.get(request.image.sha256, 0.0)
        damage = before + strength
        self._damage[picture.sha256] = damage
        notices = before >= self._mentions_at
        lines = _NOTICES if notices else _CONFIDENT
        return Edited.of(
            picture,
            reasoning=lines[int(rng.integers(len(lines)))],
            model=f"{self.model}-1",
            damage=damage,
            detail={"strength": strength},
        )


def _damaged(
    rgb: NDArray[np.uint8], signature: Signature, strength: float, rng: np.random.Generator
) -> NDArray[np.uint8]:
    if strength == 0:
        return rgb
    height, width = rgb.shape[:2]
    image = _zoomed(rgb, signature.crop * strength)
    image += np.minimum(signature.blur * strength, 1) * (_blurred(image) - image)
    fixed = np.random.default_rng(5)  # the same pattern each turn, so that it adds up
    image += strength * signature.grain * fixed.standard_normal((height, width, 1), dtype=np.float32)
    image += strength**0.5 * signature.noise * rng.standard_normal(image.shape, dtype=np.float32)
    image += strength * signature.lattice * _lattice(height, width, signature.period)[:, :, None]
    image += strength * np.array(signature.tint, dtype=np.float32)
    _add_dots(image, strength * signature.dots * height * width / 1e6, rng)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def _zoomed(rgb: NDArray[np.uint8], share: float) -> NDArray[np.float32]:
    height, width = rgb.shape[:2]
    box = (width * share / 2, height * share / 2, width * (1 - share / 2), height * (1 - share / 2))
    planes = [Image.fromarray(rgb[:, :, channel].astype(np.float32)) for channel in range(3)]
    resized = [np.asarray(p.resize((width, height), Image.Resampling.BICUBIC, box=box)) for p in planes]
    return np.stack(resized, axis=2)


def _blurred(image: NDArray[np.float32]) -> NDArray[np.float32]:
    from scipy.ndimage import gaussian_filter

    blurred: NDArray[np.float32] = gaussian_filter(image, (0.8, 0.8, 0), truncate=1.5)
    return blurred


def _lattice(height: int, width: int, period: tuple[int, int]) -> NDArray[np.float32]:
    x, y = np.arange(width), np.arange(height)[:, None]
    phase = (x / period[0] if period[0] else 0 * x) + (y / period[1] if period[1] else 0 * y)
    return np.sin(2 * np.pi * phase).astype(np.float32)


def _add_dots(image: NDArray[np.float32], expected: float, rng: np.random.Generator) -> None:
    height, width = image.shape[:2]
    number = int(rng.poisson(expected))
    offsets = np.arange(-2, 3)
    dot = np.exp(-(offsets[:, None] ** 2 + offsets**2) / 2).astype(np.float32)[:, :, None]
    for row, column, sign in zip(
        rng.integers(0, height, number), rng.integers(0, width, number), rng.choice([-25, 25], number), strict=True
    ):
        top, left = max(row - 2, 0), max(column - 2, 0)
        bottom, right = min(row + 3, height), min(column + 3, width)
        image[top:bottom, left:right] += (
            sign * dot[top - row + 2 : bottom - row + 2, left - column + 2 : right - column + 2]
        )
