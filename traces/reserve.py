"""Room on the disk that is kept for the answer of a paid call."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from turngate.errors import MachineError

__all__ = ["NAME", "DiskReserve"]

NAME = "reserve.part"
"""File of a run folder that holds the room while the run is at work."""
_BYTES = 32 * 2**20
_ZEROS = bytes(2**20)
_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class DiskReserve:
    """A file of zeros, given up when an answer that was paid for would not fit otherwise.

    A call that is answered and cannot be stored would be made, and paid, again. So the room is there before the call.
    """

    def __init__(self, folder: Path, size: int = _BYTES) -> None:
        """`size` in bytes: the largest answer, and what SQLite writes besides."""
        self._file = folder / NAME
        self._size = size
        self._held = False

    def secure(self) -> None:
        """Take the room, unless it is held already; raises `MachineError` when the disk has too little."""
        if self._held:
            return
        try:
            with self._file.open("wb") as file:
                _fill(file.fileno(), self._size)
        except OSError as error:
            self.release()
            raise MachineError(
                f"no call was made, for its answer would find no room: {self._size // 2**20} MB are needed in "
                f"{self._file.parent} ({error.strerror or error}): free some space, then `turngate resume`"
            ) from error
        self._held = True

    def release(self) -> None:
        """Give the room to whatever is written next."""
        self._held = False
        with contextlib.suppress(OSError):
            self._file.unlink()


def _fill(descriptor: int, size: int) -> None:
    """Real blocks, not a hole."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size)
            return
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                raise
    for _ in range(0, size, len(_ZEROS)):
        os.write(descriptor, _ZEROS)
    os.fsync(descriptor)
