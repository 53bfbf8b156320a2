"""One decoded image: bytes as received, what they are, and how they became 8-bit RGB."""

from __future__ import annotations

import hashlib
import io
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.decoding import UnknownWhite, no_white, open_image, open_reduced, to_rgb, unreadable
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
    "image/avif": "avif",
    "image/mpo": "mpo",
    "image/jp2": "jp2",
    "image/x-portable-anymap": "ppm",
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
    remarks: tuple[str, ...] = ()
    """What the file says of its colours and was not done: `icc_unusable`, `gamma_not_applied:1`, `cicp_not_applied`."""

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "image") -> Picture:
        """Sniff and decode `data`; raises `BadImage` naming `name` when it is not a whole image."""
        return cls._make(data, hashlib.sha256(data).hexdigest(), name)

    @classmethod
    def from_file(cls, path: Path) -> Picture:
        """Read a file; raises `BadImage` when it is missing, unreadable or not an image."""
        return cls.from_bytes(_read(path), str(path))

    @classmethod
    def reduced(cls, path: Path, longest: int) -> Picture:
        """A file that is too large as it is, decoded no larger than is needed for `longest` pixels, see `open_reduced`.

        Its bytes are a PNG of the pixels that were decoded. Raises `BadImage` as `from_file` does.
        """
        opened = open_reduced(_read(path), str(path), longest)
        try:
            return cls.from_rgb(to_rgb(opened, b"")[0])
        except UnknownWhite:
            raise BadImage(no_white(str(path))) from None
        except Exception as error:
            raise BadImage(unreadable(str(path), type(error).__name__)) from None

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

    def to_pil(self) -> Image.Image:
        """The pixels as an RGB image of Pillow, a copy."""
        return Image.fromarray(self.rgb)

    @classmethod
    def _make(cls, data: bytes, sha256: str, name: str) -> Picture:
        opened = open_image(data, name)
        try:
            rgb, steps, remarks = to_rgb(opened, data)
        except UnknownWhite:
            raise BadImage(no_white(name)) from None
        except Exception as error:  # decoders raise anything over a damaged file: that is the file's fault
            raise BadImage(unreadable(name, type(error).__name__)) from None
        media_type = Image.MIME.get(opened.format or "", "application/octet-stream")
        made = cls(data, sha256, media_type, rgb.shape[1], rgb.shape[0], tuple(steps), tuple(remarks))
        return made._with_pixels(rgb)

    def _with_pixels(self, rgb: NDArray[np.uint8]) -> Picture:
        rgb.setflags(write=False)
        self.__dict__["rgb"] = rgb
        return self


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadImage(f"no image at {path}: check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise BadImage(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def encode_png(rgb: NDArray[np.uint8]) -> bytes:
    """PNG of H x W x 3 8-bit pixels, coded for speed: level 1, Huffman only (measured a fifth faster than LZ77)."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb, dtype=np.uint8)).save(
        buffer, "PNG", compress_level=1, compress_type=zlib.Z_HUFFMAN_ONLY
    )
    return buffer.getvalue()
