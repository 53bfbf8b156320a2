"""A terminal for the program: a pseudo terminal of a given size, and what was written to it."""

from __future__ import annotations

import os
import re
import subprocess
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import TURNGATE

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Written:
    """All that a program wrote to its terminal."""

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        """Every line of every frame, without colours and movements of the cursor."""
        return [line for line in re.split(r"[\r\n]+", _CONTROL.sub("", self.raw)) if line.strip()]


def in_terminal(
    *arguments: object,
    cwd: Path,
    env: Mapping[str, str],
    columns: int = 80,
    rows: int = 24,
    term: str = "xterm-256color",
) -> Written:
    """Run `turngate ARGUMENTS` in a terminal of this size."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (rows, columns))
    ours_alone = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    kept = {**{name: value for name, value in env.items() if name not in ours_alone}, "TERM": term}
    command = [TURNGATE, *map(str, arguments)]
    with subprocess.Popen(command, cwd=cwd, env=kept, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        found = b""
        try:
            while data := os.read(ours, 65536):
                found += data
        except OSError:  # Linux tells so that nobody writes any more
            pass
        os.close(ours)
    return Written(process.returncode, found.decode())
