"""A program that answers one JSON line with one JSON line, kept alive between questions."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import IO, Any, Literal

__all__ = ["LineProcess", "ProcessEnded"]

_LONGEST_LINE = 1 << 20
_MOST_NOISE = 10_000
"""Lines that are no answer, per question."""


class ProcessEnded(Exception):
    """The program is gone: by itself, or because it was ended."""

    def __init__(self, why: Literal["crashed", "killed", "timeout", "protocol", "not_started"], detail: str) -> None:
        super().__init__(detail)
        self.why = why


class LineProcess:
    """Standard input takes questions, standard output gives answers, standard error is for people.

    The program ends when its standard input does. What it starts itself is ended with it.
    """

    def __init__(self, command: list[str], folder: Path | None) -> None:
        self._command = command
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._said: deque[str] = deque(maxlen=20)
        self._end: weakref.finalize[Any, Any] | None = None

    @property
    def alive(self) -> bool:
        """Whether it has been started and not ended."""
        return self._process is not None

    def ask(self, question: dict[str, Any], seconds: float) -> tuple[dict[str, Any], int]:
        """The answer with the question's `id`, and the number of lines before it that were none.

        Raises `ProcessEnded`; the next question starts the program again.
        """
        deadline = time.monotonic() + seconds
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._gone() from None
        for noise in range(_MOST_NOISE):
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._stop("timeout", f"no answer within {seconds:g} s") from None
            if line is None:
                raise self._gone()
            answer = _object(line)
            if answer is None:
                continue
            if answer["id"] != question["id"]:
                raise self._stop("protocol", f"it answered question {answer['id']!r}, not {question['id']!r}")
            return answer, noise
        raise self._stop("protocol", f"{_MOST_NOISE} lines without an answer")

    def close(self) -> None:
        """End the program."""
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _start(self) -> subprocess.Popen[str]:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._command,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise ProcessEnded("not_started", f"{self._command[0]}: {error.strerror or error}") from None
        self._lines, self._said = queue.SimpleQueue(), deque(maxlen=20)
        assert process.stdout is not None
        assert process.stderr is not None
        readers = [
            threading.Thread(target=_read, args=(process.stdout, self._lines.put, True), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, self._said.append, False), daemon=True),
        ]
        for reader in readers:
            reader.start()
        self._process = process
        self._end = weakref.finalize(self, _kill, process, readers)
        return process

    def _gone(self) -> ProcessEnded:
        """It ended by itself."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):  # it closed its output and lives on
            self._process.wait(timeout=1)
        code = self._process.returncode
        if code == -signal.SIGKILL:
            return self._stop("killed", "something killed it, perhaps for want of memory")
        how = "it closed its output" if code is None else f"exit code {code}" if code >= 0 else f"signal {-code}"
        return self._stop("crashed", how)

    def _stop(self, why: Literal["crashed", "killed", "timeout", "protocol"], detail: str) -> ProcessEnded:
        self.close()
        last = " | ".join(line.strip() for line in list(self._said)[-5:] if line.strip())
        return ProcessEnded(why, f"{detail}; it last said: {last[-400:]}" if last else detail)


def _read(stream: IO[str], keep: Any, to_end: bool) -> None:
    """Hand every line on, and None at the end where that is wanted."""
    with contextlib.suppress(ValueError, OSError):  # closed while it was read
        for line in iter(lambda: stream.readline(_LONGEST_LINE), ""):
            keep(line)
    if to_end:
        keep(None)


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "id" in found else None


def _kill(process: subprocess.Popen[str], readers: list[threading.Thread]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for reader in readers:
        reader.join(timeout=5)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):  # a line that it never took
                stream.close()
