"""An external scorer for tests: speaks the line protocol, or breaks it as its first argument says.

Run as a program of its own; it imports nothing of turngate, as a real one would not.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path


def _value(question: dict[str, str]) -> float:
    """First byte of the file's hash as a number of 0..100, less those of the reference."""
    files = [Path(question[name]) for name in ("image", "reference") if question.get(name)]
    first, *other = [hashlib.sha256(file.read_bytes()).digest()[0] for file in files]
    return abs(first - sum(other)) / 2.56


def _misbehave(how: str, mark: Path) -> None:
    match how:
        case "crash":
            print("out of luck", file=sys.stderr, flush=True)
            sys.exit(3)
        case "crash_once" if not mark.exists():
            mark.touch()
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(600)
        case "deaf":
            os.close(1)
            time.sleep(600)
        case "chatter":
            print("loading ...\n{{{\n[1]\nnull\n" + json.dumps({"score": 3}))


def main() -> None:
    how, mark = sys.argv[1], Path(sys.argv[2])
    for line in sys.stdin:
        question = json.loads(line)
        _misbehave(how, mark)
        scores = {"nan": float("nan"), "inf": float("inf"), "true": True, "text": "7", "nothing": None, "far": 101}
        answer = {"id": question["id"], "score": scores.get(how, _value(question))}
        if how in ("error", "unscored"):
            answer = {"id": question["id"], how: "no\nface"}
        if how == "other":
            answer["id"] = "another"
        if how == "echo":
            answer = {"id": question["id"], "error": json.dumps(question)}
        print(json.dumps(answer), flush=True)


main()
