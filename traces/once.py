"""Every paid or non-deterministic call goes through `once`: it is made again only if its answer was never stored."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from turngate.traces.ledger import Ledger
from turngate.traces.records import CallRow

__all__ = ["call_key", "once"]


def call_key(kind: str, run: str, turn: int, attempt: int, inputs: list[str], parameters: Mapping[str, Any]) -> str:
    """SHA-256 over everything that makes two calls the same call. `inputs` are image hashes."""
    text = json.dumps([kind, run, turn, attempt, inputs, parameters], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def once(ledger: Ledger, key: str, kind: str, turn: int, attempt: int, call: Callable[[], dict[str, Any]]) -> CallRow:
    """The stored answer to `key`, or the answer of `call`, stored before it is returned.

    `call` returns plain JSON and puts images into the store itself. Only a call that was in flight when the
    process died is made twice.
    """
    stored = ledger.call(key)
    if stored is not None:
        return stored
    started = time.time_ns()
    answer = call()
    row = CallRow(
        key=key, kind=kind, turn=turn, attempt=attempt, answer=answer, started_ns=started, ended_ns=time.time_ns()
    )
    return ledger.add_call(row)
