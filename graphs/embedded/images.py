"""Images as programs hold them, to pictures as runs record them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from PIL import Image
from PIL.ExifTags import Base

from turngate.errors import BadImage
from turngate.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ImageLike", "image_bytes", "picture_of"]

ImageLike: TypeAlias = "Picture | bytes | str | Path | Image.Image | NDArray[np.generic]"
"""An image as programs hold it; what arrays may be says `picture_of`."""

_ORIENTATION = Base.Orientation
_AS_PNG = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16")
"""Modes of Pillow that a PNG keeps as they are, profile and orientation included."""
_TO_RGB = ("CMYK", "YCbCr", "LAB", "HSV", "RGBX", "RGBa", "La")


def picture_of(image: ImageLike, name: str) -> Picture:
    """`image` decoded; raises `BadImage` that begins with `name` for what is none.

    - bytes, or the path of a file: as they are, never coded again;
    - an image of Pillow: as PNG of the same pixels, its profile and orientation kept;
    - an array: H x W, H x W x 1, H x W x 3 or H x W x 4, `uint8` or floats from 0 to 1, sRGB.
    """
    if isinstance(image, Picture):
        return image
    if isinstance(image, str | Path):
        return Picture.from_file(Path(image))
    return Picture.from_bytes(image_bytes(image, name), name)


def image_bytes(image: bytes | bytearray | memoryview | Image.Image | NDArray[np.generic], name: str) -> bytes:
    """`image` as the bytes of a file; bytes as they are, whatever they hold. Raises `BadImage` for what is no image."""
    if isinstance(image, bytes | bytearray | memoryview):
        return bytes(image)
    if isinstance(image, Image.Image):
        return _png(image, name)
    if hasattr(image, "__array__"):  # of numpy, or a tensor on the CPU
        return _png(_drawn(np.asarray(image), name), name)
    raise BadImage(
        f"{name} is an object of {type(image).__name__}: give a path, bytes, an image of Pillow or an array of numpy"
    )


def _png(image: Image.Image, name: str) -> bytes:
    profile = image.info.get("icc_profile")
    if image.mode in _TO_RGB:
        profile = None  # of the other colours
        image = image.convert("RGB")
    if image.mode not in _AS_PNG:
        raise BadImage(f"{name} is an image of mode {image.mode}, whose white nobody knows: convert it to RGB")
    buffer = io.BytesIO()
    try:
        image.save(buffer, "PNG", compress_level=1, icc_profile=profile, exif=_orientation(image))
    except Exception as error:  # an image that was opened and not read yet: its decoder may raise anything
        raise BadImage(f"{name} cannot be read ({type(error).__name__})") from None
    return buffer.getvalue()


def _orientation(image: Image.Image) -> Image.Exif:
    """EXIF with the orientation alone, the only field that changes what is seen."""
    exif = Image.Exif()
    try:
        turned = image.getexif().get(_ORIENTATION)
    except Exception:  # other fields of it may be damaged
        turned = None
    if turned is not None:
        exif[_ORIENTATION] = turned
    return exif


def _drawn(array: NDArray[np.generic], name: str) -> Image.Image:
    if array.ndim == 4 and array.shape[0] == 1:  # a batch of one, as pipelines return it
        array = array[0]
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))) or 0 in array.shape:
        shape = " x ".join(map(str, array.shape))
        raise BadImage(f"{name} is an array of {shape}: give height x width x 3 (channels last), or height x width")
    if np.issubdtype(array.dtype, np.floating):
        if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
            raise BadImage(f"{name} is an array of floats beyond 0 to 1: scale it, or give 8-bit integers")
        array = np.rint(array.astype(np.float64) * 255).astype(np.uint8)
    if array.dtype != np.uint8:
        raise BadImage(f"{name} is an array of {array.dtype}: give 8-bit integers, or floats from 0 to 1")
    return Image.fromarray(np.ascontiguousarray(array))
