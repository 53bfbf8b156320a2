"""Image files of a recorded chain: known by their SHA-256, read again when they are asked for."""

from __future__ import annotations

import hashlib
import io
import warnings
from pathlib import Path

from PIL import Image

from turngate.errors import BadImage

__all__ = ["identify", "read_image"]


def identify(file: Path, where: str) -> str:
    """SHA-256 of an image file; raises `BadImage` that starts with `where` when it is missing or no image.

    Only the header is looked at: decoding a long chain would take longer than many runs do.
    """
    data = _bytes(file, where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            Image.open(io.BytesIO(data)).close()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        what = "empty" if not data else f"no image that Pillow can read ({type(error).__name__})"
        raise BadImage(f"{where}: {file} is {what}: give a PNG, JPEG or WebP file") from None
    return hashlib.sha256(data).hexdigest()


def read_image(file: Path, sha256: str) -> bytes:
    """Bytes of a recorded image; raises `BadImage` when it is gone or not the recorded one any more."""
    data = _bytes(file, "editor.source")
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BadImage(f"editor.source: {file} is not the recorded image any more, its SHA-256 changed: restore it")
    return data


def _bytes(file: Path, where: str) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise BadImage(f"{where}: no image at {file}: check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise BadImage(f"{where}: cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
