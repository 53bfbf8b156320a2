"""Decoded images of a run: each is read and decoded once while it is in use."""

from __future__ import annotations

import threading
from collections import OrderedDict

from turngate.picture import Picture
from turngate.traces.images import ImageStore

__all__ = ["Pictures"]


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
