"""The image before turn 1, and the decoded images of a run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np
from PIL import Image

from turngate.decoding import TooManyPixels
from turngate.errors import BadImage, ConfigError
from turngate.graphs.config import OriginConfig
from turngate.picture import Picture
from turngate.registry import nearest
from turngate.traces.images import ImageStore

__all__ = ["Pictures", "load_origin", "shrunk"]


_PREFIX = "skimage:"


def load_origin(config: OriginConfig) -> Picture:
    """Read the origin, shrunk when the configuration says so.

    Raises `BadImage` for a file that is not an image or is not the recorded one, `ConfigError` for a photograph
    that scikit-image does not ship.
    """
    path = _shipped(config.image.removeprefix(_PREFIX)) if config.image.startswith(_PREFIX) else Path(config.image)
    try:
        picture = Picture.from_file(path)
    except TooManyPixels:
        if config.size is None:
            raise
        picture = Picture.reduced(path, config.size)
    picture = shrunk(picture, config.size)
    if config.sha256 is not None and picture.sha256 != config.sha256:
        raise BadImage(f"{config.image} is not the image of this run any more: its SHA-256 changed")
    return picture


def shrunk(picture: Picture, size: int | None) -> Picture:
    """`picture` with at most `size` pixels on its longest side, as PNG; the picture itself where it is no larger."""
    if size is None or max(picture.width, picture.height) <= size:
        return picture
    factor = size / max(picture.width, picture.height)
    smaller = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    made = Image.fromarray(picture.rgb).resize(smaller, Image.Resampling.LANCZOS)
    return Picture.from_rgb(np.asarray(made, dtype=np.uint8))


def _shipped(name: str) -> Path:
    import skimage

    folder = Path(skimage.__file__).parent / "data"
    images = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".png", ".jpg", ".jpeg")}
    if name not in images:
        raise ConfigError(f"origin.image: scikit-image ships no photograph {name!r}{nearest(name, list(images))}")
    return images[name]


# Decoded images of a run: each is read and decoded once while it is in use.


class Pictures:
    """A small cache in front of the image store. The origin stays; of the others the latest `keep` do."""

    def __init__(self, store: ImageStore, origin: Picture, keep: int = 6) -> None:
        self.origin = origin
        self._store = store
        self._keep = keep
        self._cache: OrderedDict[str, Picture] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, sha256: str) -> Picture:
        """The picture of that hash; raises `DamagedRun` when its file is missing or changed."""
        if sha256 == self.origin.sha256:
            return self.origin
        with self._lock:
            if sha256 in self._cache:
                self._cache.move_to_end(sha256)
                return self._cache[sha256]
        picture = Picture.from_bytes(self._store.get(sha256), str(self._store.path(sha256)))
        self._remember(picture)
        return picture

    def put(self, picture: Picture) -> None:
        """Store a picture's bytes and remember its pixels."""
        self._store.put(picture.data, picture.media_type, picture.sha256)
        self._remember(picture)

    def put_bytes(self, data: bytes) -> str:
        """Store bytes that are not the result (an interim image, an answer that does not decode)."""
        return self._store.put(data, "application/octet-stream")

    def load(self, sha256: str) -> bytes:
        """Stored bytes as they are; raises `DamagedRun` when the file is missing or changed."""
        return self._store.get(sha256)

    def _remember(self, picture: Picture) -> None:
        with self._lock:
            self._cache[picture.sha256] = picture
            while len(self._cache) > self._keep:
                self._cache.popitem(last=False)
