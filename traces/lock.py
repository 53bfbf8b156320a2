"""One process per run: an advisory lock on `run.lock`, released by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType

from turngate.errors import MachineError, RunLocked

__all__ = ["RunLock", "holder"]


class RunLock:
    """Context manager; raises `RunLocked` naming the holder when another process has the run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "run.lock"
        self._descriptor = -1

    def __enter__(self) -> RunLock:
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise MachineError(
                f"cannot lock {self.path}: {error.strerror}: choose a folder you can write to"
            ) from error
        if not self._acquire():
            who = _read(self.path)
            os.close(self._descriptor)
            raise RunLocked(f"{self.path.parent} is being worked on by {who}: wait for it or stop it")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def _acquire(self) -> bool:
        for _ in range(5):  # `holder` takes the lock for an instant to look; that is no reason to refuse a run
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.05)
            else:
                return True
        return False


def holder(folder: Path) -> str | None:
    """Who works on the run now ("process 123 on host"), or None. A dead process holds nothing."""
    path = folder / "run.lock"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(path)
    finally:
        os.close(descriptor)
    return None


def _read(path: Path) -> str:
    try:
        who = json.loads(path.read_text())
        return f"process {who['pid']} on {who['host']}"
    except (OSError, ValueError, KeyError):
        return "another process"
