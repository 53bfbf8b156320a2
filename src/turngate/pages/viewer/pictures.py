"""Images of a run as the viewer serves them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from turngate.errors import NoSuchRun
from turngate.pages.report import Shot, thumbnail
from turngate.pages.viewer.guard import confined
from turngate.picture import EXTENSIONS, Picture, encode_png
from turngate.traces.images import ImageStore

__all__ = ["EDGES", "linked_shots", "read_image", "small_image"]

EDGES = frozenset({64, 96, 144, 176, 240})
"""Sizes of thumbnails that can be asked for, in pixels."""

_NAME = re.compile(r"[0-9a-f]{64}")
_TYPES = {
    f".{extension}": media_type
    for media_type, extension in EXTENSIONS.items()
    if extension in ("png", "jpg", "webp", "gif", "bmp", "avif")
}
"""What browsers show as it is; of anything else they are sent a PNG of the pixels."""


def linked_shots(store: ImageStore, wanted: Iterable[str], base: str, key: str, edge: int) -> dict[str, Shot]:
    """SHA-256 -> shot whose pictures are addresses below `base`, for the run `key`."""
    return {name: _shot(store, name, base, key, edge) for name in set(wanted)}


def read_image(root: Path, store: ImageStore, sha256: str) -> tuple[bytes, str]:
    """Bytes and media type of a stored image; raises `NoSuchRun`, `UserError`, `BadImage` or `DamagedRun`."""
    path = store.find(sha256) if _NAME.fullmatch(sha256) else None
    if path is None:
        raise NoSuchRun("no such image in this run")
    confined(root, path)
    data = store.get(sha256)
    if path.suffix in _TYPES or path.suffix == ".bin":
        return data, _TYPES.get(path.suffix, "application/octet-stream")
    return encode_png(Picture.from_bytes(data).rgb), "image/png"


@lru_cache(maxsize=4096)
def small_image(root: Path, folder: Path, sha256: str, edge: int) -> bytes:
    """A JPEG of at most `edge` pixels a side; raises as `read_image`, and `BadImage` for what is no image."""
    return thumbnail(read_image(root, ImageStore(folder), sha256)[0], edge)


def _shot(store: ImageStore, sha256: str, base: str, key: str, edge: int) -> Shot:
    if not _NAME.fullmatch(sha256) or store.find(sha256) is None:
        return Shot(sha256, None, None, "the image is missing from the store")
    return Shot(sha256, f"{base}/image/{key}/{sha256}", f"{base}/thumb/{key}/{edge}/{sha256}")
