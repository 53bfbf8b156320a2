"""One decoded image: bytes as received, what they are, and how they became 8-bit RGB."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from turngate.errors import BadImage

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXTENSIONS", "FORMATS", "LUMA_WEIGHTS", "Picture", "encode_png", "looks_like_image", "open_image"]

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

    def to_pil(self) -> Image.Image:
        """The pixels as an RGB image of Pillow, a copy."""
        return Image.fromarray(self.rgb)

    @classmethod
    def _make(cls, data: bytes, sha256: str, name: str) -> Picture:
        opened = open_image(data, name)
        try:
            rgb, steps, remarks = _to_rgb(opened, data)
        except UnknownWhite:
            raise BadImage(f"{name} has 32-bit pixels, whose white nobody knows: save it with 8 or 16 bits") from None
        except Exception as error:  # decoders raise anything over a damaged file: that is the file's fault
            raise BadImage(_unreadable(name, type(error).__name__)) from None
        media_type = Image.MIME.get(opened.format or "", "application/octet-stream")
        made = cls(data, sha256, media_type, rgb.shape[1], rgb.shape[0], tuple(steps), tuple(remarks))
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


FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "PPM")
"""What is opened, by what the bytes are (MPO as JPEG). Others stay closed: some start programs, most are no photos."""


def open_image(data: bytes, name: str = "image") -> Image.Image:
    """The image in `data`, its pixels not decoded yet; raises `BadImage` naming `name` for none of `FORMATS`."""
    Image.init()  # all of Pillow's readers, once: the list above chooses among those that are loaded
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(data), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        most = Image.MAX_IMAGE_PIXELS or 0
        found = re.search(r"\((\d+) pixels\)", str(error))
        size = f"has {int(found[1]) / 1e6:.0f} million pixels" if found else "is too large"
        raise BadImage(f"{name} {size}, and {most / 1e6:.0f} million are the most: make it smaller") from None
    except Exception as error:
        raise BadImage(_unreadable(name, "" if data else "empty", type(error).__name__)) from None


def looks_like_image(path: Path) -> bool:
    """The first bytes of the file are those of an image of `FORMATS`; the pixels are not looked at."""
    Image.init()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS):
                return True
    except MemoryError:
        raise
    except Exception:  # Pillow's readers raise anything over a damaged file
        return False


class UnknownWhite(Exception):
    """The numbers of a picture do not say what is white."""


def _unreadable(name: str, *what: str) -> str:
    if "empty" in what:
        return f"{name} is empty: give a PNG, JPEG or WebP file"
    kind = next(filter(None, what), "")
    if kind == "UnidentifiedImageError":
        return f"{name} is no image that Pillow can read: give a PNG, JPEG or WebP file"
    return f"{name} is not a whole image that Pillow can read ({kind}): give a PNG, JPEG or WebP file"


def _to_rgb(opened: Image.Image, data: bytes) -> tuple[NDArray[np.uint8], list[str], list[str]]:
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
