"""The image before turn 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from turngate.errors import BadImage, ConfigError
from turngate.graphs.config import OriginConfig
from turngate.picture import Picture
from turngate.registry import nearest

__all__ = ["load_origin"]

_PREFIX = "skimage:"


def load_origin(config: OriginConfig) -> Picture:
    """Read the origin, shrunk when the configuration says so.

    Raises `BadImage` for a file that is not an image or is not the recorded one, `ConfigError` for a photograph
    that scikit-image does not ship.
    """
    path = _shipped(config.image.removeprefix(_PREFIX)) if config.image.startswith(_PREFIX) else Path(config.image)
    picture = Picture.from_file(path)
    if config.size is not None and max(picture.width, picture.height) > config.size:
        factor = config.size / max(picture.width, picture.height)
        size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
        shrunk = Image.fromarray(picture.rgb).resize(size, Image.Resampling.LANCZOS)
        picture = Picture.from_rgb(np.asarray(shrunk, dtype=np.uint8))
    if config.sha256 is not None and picture.sha256 != config.sha256:
        raise BadImage(f"{config.image} is not the image of this run any more: its SHA-256 changed")
    return picture


def _shipped(name: str) -> Path:
    import skimage

    folder = Path(skimage.__file__).parent / "data"
    images = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".png", ".jpg", ".jpeg")}
    if name not in images:
        raise ConfigError(f"origin.image: scikit-image ships no photograph {name!r}{nearest(name, list(images))}")
    return images[name]
