"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["whole_file", "write_whole"]


@contextlib.contextmanager
def whole_file(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """A temporary file beside `path` that becomes `path` at the end; when something goes wrong, it is removed.

    The folder is made where it is missing. A pipe or a device is written as it is. With `sync` the file is on the disk
    before it has its name. Raises `OSError` as the file system does.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        if sync:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_whole(path: Path, data: bytes | str, *, sync: bool = False) -> None:
    """Write bytes, or text as UTF-8, see `whole_file`."""
    with whole_file(path, sync=sync) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)
