"""The image that a pipeline is given, and how its answer gets back to the size that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Canvas"]


@dataclass(frozen=True)
class Canvas:
    """An input picture on a canvas whose sides are multiples of what the pipeline can make."""

    image: Image.Image
    """RGB. Padding repeats the last column and row, so nothing is resampled."""
    wanted: tuple[int, int]
    """Width and height of the result, pixels."""
    resized: bool
    """The input was resampled (Lanczos) because a size was configured."""

    @classmethod
    def of(cls, picture: Picture, size: tuple[int, int] | None, multiple: int) -> Canvas:
        """The picture at its own size, or at `size`, padded on the right and at the bottom."""
        image = Image.fromarray(picture.rgb)
        wanted = size or image.size
        resized = image.size != wanted
        if resized:
            image = image.resize(wanted, Image.Resampling.LANCZOS)
        right, bottom = -wanted[0] % multiple, -wanted[1] % multiple
        if right or bottom:
            image = Image.fromarray(np.pad(np.asarray(image), ((0, bottom), (0, right), (0, 0)), mode="edge"))
        return cls(image, wanted, resized)

    def cut(self, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The result without the padding; a result of another size than the canvas is left as it is."""
        if (rgb.shape[1], rgb.shape[0]) != self.image.size:
            return rgb
        return rgb[: self.wanted[1], : self.wanted[0]]

    def flags(self, made: NDArray[np.uint8]) -> tuple[str, ...]:
        """What happened to the size, for the record; `made` is the pipeline's own result."""
        sizes = {"wanted": self.wanted, "canvas": self.image.size, "made": (made.shape[1], made.shape[0])}
        text = {name: f"{width}x{height}" for name, (width, height) in sizes.items()}
        found = []
        if self.resized:
            found.append(f"input_resized:{text['wanted']}")
        if self.image.size != self.wanted:
            found.append(f"padded:{text['wanted']}->{text['canvas']}")
        if text["made"] != text["canvas"]:
            found.append(f"size_not_followed:{text['canvas']}->{text['made']}")
        return tuple(found)
