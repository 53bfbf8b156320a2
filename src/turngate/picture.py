"""One decoded image: bytes as received, what they are, and how they became 8-bit RGB."""

from __future__ import annotations

import hashlib
import io
import warnings
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageOps

from turngate.errors import BadImage

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXTENSIONS", "LUMA_WEIGHTS", "Picture", "encode_png"]

LUMA_WEIGHTS = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in luma, ITU-R BT.601."""

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
    "image/bmp": "bmp",
    "image/tiff": "tif",
}
"""File extension of each media type that is stored; anything else becomes `.bin`."""


@dataclass(frozen=True, eq=False)
class Picture:
    """An image as bytes, with its pixels decoded once and shared by all who look at it."""

    data: bytes = field(repr=False)
    """Bytes as received, never re-encoded."""
    sha256: str
    """Hex digest of `data`; the image's name everywhere in turngate."""
    media_type: str
    """Sniffed from the bytes, not declared by whoever sent them."""
    width: int
    """Pixels, after the EXIF orientation is applied."""
    height: int
    """Pixels, after the EXIF orientation is applied."""
    normalised: tuple[str, ...]
    """Steps from the file to 8-bit RGB, in order; empty for a plain 8-bit RGB file."""

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "image") -> Picture:
        """Sniff and decode `data`; raises `BadImage` naming `name` when it is not a whole image."""
        return cls._make(data, hashlib.sha256(data).hexdigest(), name)

    @classmethod
    def from_file(cls, path: Path) -> Picture:
        """Read a file; raises `BadImage` when it is missing, unreadable or not an image."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise BadImage(f"no image at {path}: check the path") from None
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
            raise BadImage(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        return cls.from_bytes(data, str(path))

    @classmethod
    def from_rgb(cls, rgb: NDArray[np.uint8]) -> Picture:
        """Encode H x W x 3 8-bit pixels as PNG; the given pixels are kept, so nothing is decoded again."""
        data = encode_png(rgb)
        height, width = rgb.shape[:2]
        made = cls(data, hashlib.sha256(data).hexdigest(), "image/png", width, height, ())
        return made._with_pixels(np.array(rgb, dtype=np.uint8))

    @cached_property
    def pixel_identity(self) -> str:
        """First 16 hex digits of SHA-256 over size and 8-bit RGB pixels: the same for all files of one picture.

        Short, for people read it in configurations. Pictures that were cropped, resized or lossily coded again have
        another.
        """
        digest = hashlib.sha256(f"{self.width}x{self.height}:".encode())
        digest.update(np.ascontiguousarray(self.rgb).data)
        return digest.hexdigest()[:16]

    @cached_property
    def gray(self) -> NDArray[np.float64]:
        """H x W BT.601 luma, 0..255, not rounded."""
        luma: NDArray[np.float64] = self.rgb @ np.array(LUMA_WEIGHTS)
        luma.setflags(write=False)
        return luma

    @cached_property
    def rgb(self) -> NDArray[np.uint8]:
        """H x W x 3 8-bit sRGB pixels, read-only."""
        raise BadImage(f"image {self.sha256[:12]} was built without its pixels: use Picture.from_bytes")

    @classmethod
    def _make(cls, data: bytes, sha256: str, name: str) -> Picture:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                opened = Image.open(io.BytesIO(data))
                media_type = Image.MIME.get(opened.format or "", "application/octet-stream")
                rgb, steps = _to_rgb(opened)
        except (
            OSError,
            SyntaxError,
            ValueError,
            Image.DecompressionBombError,
            Image.DecompressionBombWarning,
        ) as error:
            what = "empty" if not data else f"not a whole image that Pillow can read ({type(error).__name__})"
            raise BadImage(f"{name} is {what}: give a PNG, JPEG or WebP file") from None
        made = cls(data, sha256, media_type, rgb.shape[1], rgb.shape[0], tuple(steps))
        return made._with_pixels(rgb)

    def _with_pixels(self, rgb: NDArray[np.uint8]) -> Picture:
        rgb.setflags(write=False)
        self.__dict__["rgb"] = rgb
        return self


def encode_png(rgb: NDArray[np.uint8]) -> bytes:
    """PNG of H x W x 3 8-bit pixels, coded for speed: level 1, Huffman only (measured a fifth faster than LZ77)."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb, dtype=np.uint8)).save(
        buffer, "PNG", compress_level=1, compress_type=zlib.Z_HUFFMAN_ONLY
    )
    return buffer.getvalue()


def _to_rgb(opened: Image.Image) -> tuple[NDArray[np.uint8], list[str]]:
    steps: list[str] = []
    if getattr(opened, "n_frames", 1) > 1:
        steps.append("first_frame")
    rawmode = _rawmode(opened)
    opened.load()
    image: Image.Image = opened
    if image.getexif().get(0x0112, 1) != 1:
        steps.append(f"exif_orientation:{image.getexif()[0x0112]}")
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        deep = np.asarray(image, dtype=np.float64)
        top = 65535.0 if image.mode.startswith("I") else 255.0
        gray = np.clip(np.rint(deep / top * 255), 0, 255).astype(np.uint8)
        return np.repeat(gray[:, :, None], 3, axis=2), [*steps, f"mode:{image.mode}->RGB"]
    if "16" in rawmode:
        steps.append("depth:16->8")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
        steps.append("mode:P->RGBA")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        flat = Image.new("RGBA", image.size, (255, 255, 255, 255))
        flat.alpha_composite(image.convert("RGBA"))
        steps.append(f"alpha:{image.mode} over white")
        image = flat.convert("RGB")
    elif image.mode != "RGB":
        steps.append(f"mode:{image.mode}->RGB")
        image = image.convert("RGB")
    return np.array(image, dtype=np.uint8), steps


def _rawmode(opened: Image.Image) -> str:
    tiles: list[Any] = list(getattr(opened, "tile", []))
    return str(tiles[0][3]) if tiles else ""
