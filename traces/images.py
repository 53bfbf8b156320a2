"""Content-addressed image store, `images/ab/<sha256>.<ext>` with bytes as received; and which images a run made."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from turngate.errors import DamagedRun, MachineError
from turngate.memo import Memo
from turngate.picture import EXTENSIONS, Picture
from turngate.traces.records import AttemptRow, CompositeRow
from turngate.whole_file import write_whole

__all__ = ["ImageKey", "ImageRole", "ImageStore", "made_images", "run_images", "stored_files"]

ImageRole = Literal["origin", "candidate", "composite", "image"]
"""What an image was in its run (a `composite` is what a masked accept made and took); `image` elsewhere."""

ImageKey = tuple[int, int, ImageRole]
"""Turn, attempt and role of an image in its run; 0, 0, `origin` for the origin."""


_IDENTITIES: Memo[str] = Memo(kept=4096)


class ImageStore:
    """Stores bytes under their SHA-256. Writing is atomic and idempotent; reading checks the hash."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, data: bytes, media_type: str, sha256: str | None = None) -> str:
        """Store `data` (temporary name, fsync, rename) and return its SHA-256; pass it where it is known."""
        sha256 = sha256 or hashlib.sha256(data).hexdigest()
        folder = self.root / sha256[:2]
        target = folder / f"{sha256}.{EXTENSIONS.get(media_type, 'bin')}"
        if target.exists():
            return sha256
        try:
            write_whole(target, data, sync=True)
        except OSError as error:
            raise MachineError(f"cannot store an image in {folder}: {error.strerror or error}") from error
        return sha256

    def get(self, sha256: str) -> bytes:
        """Bytes of an image; raises `DamagedRun` when it is missing or does not match its name."""
        path = self.path(sha256)
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise DamagedRun(f"image {path} was changed after it was stored: restore it from a copy")
        return data

    def path(self, sha256: str) -> Path:
        """File of an image; raises `DamagedRun` when it is missing."""
        found = self.find(sha256)
        if found is None:
            raise DamagedRun(f"image {sha256} is missing from {self.root}: restore it from a copy")
        return found

    def find(self, sha256: str) -> Path | None:
        """File of an image, or None."""
        matches = sorted((self.root / sha256[:2]).glob(f"{sha256}.*"))
        return matches[0] if matches else None

    def pixel_identity(self, sha256: str) -> str:
        """`Picture.pixel_identity` of a stored image, decoded once per process.

        Raises `DamagedRun` when it is missing or was changed, `BadImage` when it does not decode.
        """
        return _IDENTITIES.get(sha256, lambda: Picture.from_bytes(self.get(sha256), f"image {sha256}").pixel_identity)

    def link_into(self, other: ImageStore, sha256: str) -> None:
        """Give `other` the image too: a hard link where the file system can, a copy elsewhere."""
        source = self.path(sha256)
        target = other.root / sha256[:2] / source.name
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:
            write_whole(target, source.read_bytes(), sync=True)


# The images of a run, from its rows.


def made_images(attempt: AttemptRow, composite: CompositeRow | None) -> Iterator[tuple[ImageRole, str]]:
    """Role and SHA-256 of what an attempt made: the candidate, and the composite of a masked accept."""
    if attempt.image is not None:
        yield "candidate", attempt.image
    if composite is not None and composite.image is not None:
        yield "composite", composite.image


def run_images(origin: str, attempts: Iterable[tuple[AttemptRow, CompositeRow | None]]) -> dict[ImageKey, str]:
    """Place -> SHA-256 of everything that can be scored, in order."""
    images: dict[ImageKey, str] = {(0, 0, "origin"): origin}
    for attempt, composite in attempts:
        for role, sha256 in made_images(attempt, composite):
            images[attempt.turn, attempt.attempt, role] = sha256
    return images


def stored_files(attempt: AttemptRow) -> list[str]:
    """SHA-256 of all that an attempt put into the image store: candidate, other images, and what a model returned.

    A composite is among the other images.
    """
    extras = (extra["image"] for extra in attempt.extras)
    return [sha256 for sha256 in (attempt.image, *extras, attempt.content) if sha256 is not None]
