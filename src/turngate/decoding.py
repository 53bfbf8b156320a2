"""From the bytes of a file to 8-bit sRGB pixels: what is opened, how large it may be, and every step on the way."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, Jpeg2KImagePlugin, JpegImagePlugin, PngImagePlugin, TiffImagePlugin

from turngate.errors import BadImage, ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FORMATS",
    "LIMIT_VARIABLE",
    "TooManyPixels",
    "UnknownWhite",
    "looks_like_image",
    "no_white",
    "open_image",
    "open_reduced",
    "to_rgb",
    "unreadable",
]

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "PPM")
"""What is opened, by what the bytes are (MPO as JPEG). Others stay closed: some start programs, most are no photos."""


LIMIT_VARIABLE = "TURNGATE_MAX_MEGAPIXELS"
"""Environment variable: how many million pixels a picture may have."""
_LIMIT = 89.478485
"""Million pixels: Pillow's own limit, a quarter of a GB of RGB."""


class TooManyPixels(BadImage):
    """A picture that is larger than the limit: it may be a file that was made to use up the memory."""


def open_image(data: bytes, name: str = "image") -> Image.Image:
    """The image in `data`, its pixels not decoded yet; raises `BadImage` naming `name` for none of `FORMATS`.

    One of more pixels than the limit is `TooManyPixels`.
    """
    Image.init()  # all of Pillow's readers, once: the list above chooses among those that are loaded
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            opened: Image.Image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        found = re.search(r"\((\d+) pixels\)", str(error))
        _check_size(int(found[1]) if found else None, name)
        opened = _opened_large(data, name)
    except Exception as error:
        raise BadImage(unreadable(name, "" if data else "empty", type(error).__name__)) from None
    _check_size(opened.width * opened.height, name)
    return opened


def open_reduced(data: bytes, name: str, longest: int) -> Image.Image:
    """`open_image` for one that is shrunk to `longest` pixels anyhow: where the decoder can, it decodes fewer pixels.

    A JPEG is decoded at 1/2, 1/4 or 1/8, a JPEG 2000 at a lower resolution, with twice as many pixels a side as are
    wanted where there are so many. The limit holds for what is decoded.
    """
    opened = _opened_large(data, name)
    if isinstance(opened, JpegImagePlugin.JpegImageFile):
        opened.draft(None, (2 * longest, 2 * longest))
    elif isinstance(opened, Jpeg2KImagePlugin.Jpeg2KImageFile):
        times = max(0, int(math.log2(max(max(opened.size) / (2 * longest), 1))))
        times = min(times, 5)  # an encoder makes five lower resolutions unless it is told otherwise
        opened.reduce = times
        _check_size(opened.width * opened.height >> 2 * times, name)
        return opened
    _check_size(opened.width * opened.height, name)
    return opened


def _opened_large(data: bytes, name: str) -> Image.Image:
    """An image of more pixels than Pillow opens by itself; only formats that people have in that size."""
    kinds = (
        (b"\xff\xd8", JpegImagePlugin.jpeg_factory),
        (b"\x89PNG", PngImagePlugin.PngImageFile),
        (b"\x00\x00\x00\x0cjP", Jpeg2KImagePlugin.Jpeg2KImageFile),
        (b"\xff\x4f\xff\x51", Jpeg2KImagePlugin.Jpeg2KImageFile),
        (b"II", TiffImagePlugin.TiffImageFile),
        (b"MM", TiffImagePlugin.TiffImageFile),
    )
    for begins, kind in kinds:
        if data.startswith(begins):
            try:
                opened: Image.Image = kind(io.BytesIO(data))
            except Exception as error:
                raise BadImage(unreadable(name, type(error).__name__)) from None
            return opened
    raise TooManyPixels(f"{name} has too many pixels for its format: give a PNG, JPEG, JPEG 2000 or TIFF file")


def _check_size(pixels: int | None, name: str) -> None:
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        limit = float(text) if text else _LIMIT
    except ValueError:
        raise ConfigError(f"{LIMIT_VARIABLE}={text!r} is no number of million pixels: mend it or unset it") from None
    if pixels is None or pixels > limit * 1e6:
        size = "too many pixels" if pixels is None else f"{pixels / 1e6:.0f} million pixels"
        wanted = "" if pixels is None else f", or set {LIMIT_VARIABLE}={math.ceil(pixels / 1e6)}"
        raise TooManyPixels(f"{name} has {size}, and {limit:.0f} million are the most: make it smaller{wanted}")


def looks_like_image(path: Path) -> bool:
    """The first bytes of the file are those of an image of `FORMATS`; the pixels are not looked at."""
    Image.init()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS):
                return True
    except Exception:  # Pillow's readers raise anything over a damaged file
        return False


class UnknownWhite(Exception):
    """The numbers of a picture do not say what is white."""


def no_white(name: str) -> str:
    """What is said of a picture of `UnknownWhite`."""
    return f"{name} has 32-bit pixels, whose white nobody knows: save it with 8 or 16 bits"


def unreadable(name: str, *what: str) -> str:
    """What is said of bytes that are no image; `what` is what the decoder called it, or `empty`."""
    if "empty" in what:
        return f"{name} is empty: give a PNG, JPEG or WebP file"
    kind = next(filter(None, what), "")
    if kind == "UnidentifiedImageError":
        return f"{name} is no image that Pillow can read: give a PNG, JPEG or WebP file"
    return f"{name} is not a whole image that Pillow can read ({kind}): give a PNG, JPEG or WebP file"


def to_rgb(opened: Image.Image, data: bytes) -> tuple[NDArray[np.uint8], list[str], list[str]]:
    """8-bit sRGB pixels, the steps to them, and what the file says that could not be done."""
    steps: list[str] = []
    if _frames(opened) > 1:
        steps.append("first_frame")
    rawmode = _rawmode(opened)
    opened.load()
    # A profile, a transparent colour and the depth are facts of the file: what is made of it below does not carry them.
    profile, transparent = opened.info.get("icc_profile"), opened.info.get("transparency")
    image = _upright(opened, steps)
    deep = "16" in rawmode
    if image.mode == "F" or (image.mode.startswith("I") and not deep and not image.mode.startswith("I;16")):
        raise UnknownWhite
    if image.mode.startswith("I"):
        image = _shallow(image, transparent, steps)
        transparent = None
    elif deep:
        steps.append("depth:16->8")
        if isinstance(transparent, tuple):
            transparent = tuple(value >> 8 for value in transparent)
    if image.mode == "P":
        image = image.convert("RGBA" if transparent is not None else "RGB")
        steps.append(f"mode:P->{image.mode}")
    elif transparent is not None and image.mode in ("1", "L", "RGB"):
        steps.append(f"transparent_colour:{image.mode}->RGBA")
        image = _with_alpha(image, transparent)
    remarks: list[str] = []
    alpha = None
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        steps.append(f"alpha:{image.mode} over white")
        image = image.convert("RGBA")
        alpha = image.getchannel("A")
        image = image.convert("RGB")
    if profile:
        image = _in_srgb(image, profile, steps, remarks)
    elif opened.format == "PNG":
        remarks += _told_colours(opened, data)
    if image.mode != "RGB":
        steps.append(f"mode:{image.mode}->RGB")
        image = image.convert("RGB")
    if alpha is not None:
        white = Image.new("RGB", image.size, (255, 255, 255))
        image = Image.composite(image, white, alpha)
    return np.array(image, dtype=np.uint8), steps, remarks


def _frames(opened: Image.Image) -> int:
    try:
        return int(getattr(opened, "n_frames", 1))
    except Exception:  # later frames are not used: whatever is wrong with them costs nothing
        return 1


_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # fmt: skip
"""EXIF orientation -> what makes the image upright; 1 and values that EXIF does not define leave it."""


def _upright(image: Image.Image, steps: list[str]) -> Image.Image:
    """Turned as EXIF says. No other field is looked at: a mistyped one is no fault of the pixels."""
    try:
        orientation = image.getexif().get(0x0112, 1)
    except Exception:
        return image
    turn = _TURNS.get(orientation) if isinstance(orientation, int) else None
    if turn is None:
        return image
    steps.append(f"exif_orientation:{orientation}")
    return image.transpose(turn)


def _shallow(image: Image.Image, transparent: Any, steps: list[str]) -> Image.Image:
    """16-bit gray as 8 bits: the high byte, as Pillow has it for 16-bit RGB; a transparent value becomes alpha."""
    values = np.asarray(image, dtype=np.int64)
    gray = Image.fromarray(np.clip(values >> 8, 0, 255).astype(np.uint8))
    steps.append("depth:16->8")
    if not isinstance(transparent, int):
        return gray
    gray.putalpha(Image.fromarray(np.where(values == transparent, 0, 255).astype(np.uint8)))
    return gray


def _with_alpha(image: Image.Image, transparent: Any) -> Image.Image:
    """A transparent colour (PNG's tRNS) as alpha."""
    flat = image.convert("L") if image.mode == "1" else image
    pixels = np.asarray(flat)
    colour = transparent * 255 if image.mode == "1" and isinstance(transparent, int) else transparent
    same = pixels == np.asarray(colour)
    hidden = same.all(axis=2) if pixels.ndim == 3 else same
    rgba = flat.convert("RGB")
    rgba.putalpha(Image.fromarray(np.where(hidden, 0, 255).astype(np.uint8)))
    return rgba


def _in_srgb(image: Image.Image, profile: bytes, steps: list[str], remarks: list[str]) -> Image.Image:
    """The image in sRGB; where its profile cannot be used the numbers stay as they are, and that is remarked."""
    from PIL import ImageCms

    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        told = " ".join(ImageCms.getProfileDescription(source).split())[:60] or "unnamed profile"
        if told.startswith("sRGB"):
            return image
        target = ImageCms.createProfile("sRGB")
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        mode = "L" if image.mode == "1" else image.mode
        changed = ImageCms.profileToProfile(
            image.convert(mode), source, target, renderingIntent=intent, outputMode="RGB"
        )
    except Exception:  # a profile is as easily damaged as any other part of a file
        remarks.append("icc_unusable")
        return image
    if changed is None:
        remarks.append("icc_unusable")
        return image
    steps.append(f"icc:{told}->sRGB")
    return changed


_SRGB_GAMMA = 0.45455


def _told_colours(opened: Image.Image, data: bytes) -> list[str]:
    """What a PNG without a profile says of its colours and is not applied: a gamma, a code of ITU-T H.273."""
    found = []
    gamma = opened.info.get("gamma")
    if isinstance(gamma, float) and abs(gamma - _SRGB_GAMMA) > 0.01 and "srgb" not in opened.info:
        found.append(f"gamma_not_applied:{gamma:.3g}")
    place = 8
    while place + 8 <= len(data) and data[place + 4 : place + 8] != b"IDAT":
        length = int.from_bytes(data[place : place + 4])
        if data[place + 4 : place + 8] == b"cICP" and data[place + 8 : place + 10] != bytes([1, 13]):
            found.append("cicp_not_applied")
        place += 12 + length
    return found


def _rawmode(opened: Image.Image) -> str:
    tiles: list[Any] = list(getattr(opened, "tile", []))
    return str(tiles[0][3]) if tiles else ""
