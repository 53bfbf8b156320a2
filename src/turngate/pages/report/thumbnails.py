"""Small JPEG copies of stored images as data URIs, each distinct image once."""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from turngate.decoding import open_image
from turngate.errors import BadImage, MachineError
from turngate.picture import Picture
from turngate.traces.images import ImageStore

__all__ = ["Shot", "edge_for", "shots", "thumbnail"]

_NAME = re.compile(r"[0-9a-f]{64}")
_PLAIN = {"RGB", "L"}
_PLAIN_FILE = frozenset({"exif", "icc_profile", "transparency"})
"""What a file may say that changes its pixels: then it is decoded as everywhere else."""


@dataclass(frozen=True)
class Shot:
    """An image as a page shows it."""

    sha256: str
    href: str | None
    """Address of the full image, relative to the page; None when it is not there."""
    thumbnail: str | None
    """Data URI; None when the image cannot be shown."""
    problem: str = ""
    """Why it cannot be shown."""


def edge_for(images: int) -> int:
    """Longest side of a thumbnail in pixels, so that a page of that many images stays small."""
    return next(edge for limit, edge in ((120, 240), (450, 144), (1500, 96), (images, 64)) if images <= limit)


def shots(store: ImageStore, wanted: Iterable[str], page: Path, edge: int) -> dict[str, Shot]:
    """SHA-256 -> shot for every wanted image; `page` is the folder of the page that will show them.

    An image that is missing or cannot be read gives a shot that says so; nothing is raised.
    """
    names = sorted(set(wanted))
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        return dict(zip(names, pool.map(lambda name: _shot(store, name, page, edge), names), strict=True))


def _shot(store: ImageStore, sha256: str, page: Path, edge: int) -> Shot:
    path = store.find(sha256) if _NAME.fullmatch(sha256) else None
    if path is None:
        return Shot(sha256, None, None, "the image is missing from the store")
    href = quote(Path(os.path.relpath(path, page)).as_posix())
    try:
        data = thumbnail(store.get(sha256), edge)
    except MachineError:
        return Shot(sha256, href, None, "the image was changed after it was stored")
    except BadImage:
        return Shot(sha256, href, None, "the bytes are not a whole image")
    return Shot(sha256, href, f"data:image/jpeg;base64,{base64.b64encode(data).decode()}")


def thumbnail(data: bytes, edge: int) -> bytes:
    """A JPEG of at most `edge` pixels a side; raises `BadImage` for what is no image."""
    buffer = io.BytesIO()
    try:
        _small(data, edge).save(buffer, "JPEG", quality=70)
    except (BadImage, MemoryError):
        raise
    except Exception as error:  # decoders raise anything over a damaged file
        raise BadImage(f"the image cannot be shown ({type(error).__name__})") from None
    return buffer.getvalue()


def _small(data: bytes, edge: int) -> Image.Image:
    """At most `edge` pixels a side; a plain 8-bit file is reduced while it is decoded, others are normalised first."""
    opened = open_image(data)
    if opened.mode not in _PLAIN or not _PLAIN_FILE.isdisjoint(opened.info):
        image: Image.Image = Image.fromarray(Picture.from_bytes(data).rgb)
    else:
        image = opened
    # A gap of 1 reduces by whole factors as far as it goes: twice as fast as the default and no different at this size.
    image.thumbnail((edge, edge), Image.Resampling.BICUBIC, reducing_gap=1.0)
    return image.convert("RGB")
