"""An image that is not opened yet, and the pictures that many samples share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from turngate.errors import BadImage, DamagedRun
from turngate.memo import Memo
from turngate.picture import Picture

__all__ = ["ImageSource", "Shelf"]


@dataclass(frozen=True)
class ImageSource:
    """Where an image lies."""

    path: Path
    sha256: str | None = None
    """What its bytes must hash to, where that is recorded; None: whatever is there."""

    def read(self) -> bytes:
        """The file's bytes; raises `BadImage` when it cannot be read, `DamagedRun` when it is not what was recorded."""
        try:
            data = self.path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise BadImage(f"cannot read {self.path}: {getattr(error, 'strerror', None) or error}") from None
        if self.sha256 is not None and hashlib.sha256(data).hexdigest() != self.sha256:
            raise DamagedRun(f"{self.path} was changed after it was stored: restore it from a copy")
        return data


class Shelf:
    """References, hashed and decoded once; the latest `kept` pictures stay. Safe for several threads."""

    def __init__(self, kept: int = 24) -> None:
        self._pictures: Memo[Picture] = Memo(kept)
        self._hashes: Memo[str] = Memo(100_000)

    def hash_of(self, source: ImageSource) -> str:
        """SHA-256 of an image; raises as `ImageSource.read`."""
        if source.sha256 is not None:
            return source.sha256
        return self._hashes.get(source.path, lambda: hashlib.sha256(source.read()).hexdigest())

    def picture(self, source: ImageSource) -> Picture:
        """The decoded image; raises `BadImage` or `DamagedRun`."""
        return self._pictures.get(source.path, lambda: Picture.from_bytes(source.read(), str(source.path)))
