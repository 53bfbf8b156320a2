"""Scores that were computed before, on disk: shared by runs, by `turngate score` and by processes that work at once."""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from turngate.component import Box, ComponentConfig, ObjectConfig
from turngate.errors import MachineError
from turngate.evaluators.evaluator import EvalInput, Evaluator, Facts
from turngate.evaluators.result import Result, Score, Unscored, result_from_json, result_to_json
from turngate.evaluators.scoring import score
from turngate.sqlite_file import SqliteKind, choose_journal

__all__ = [
    "Inputs",
    "ScoreCache",
    "cache_folder",
    "cacheable",
    "cached_score",
    "default_cache",
    "inputs_hash",
    "parameters_hash",
    "score_key",
]


@dataclass(frozen=True)
class Inputs:
    """What an evaluator looks at, images by their SHA-256: known before any of them is decoded."""

    candidate: str
    origin: str | None = None
    first: str | None = None
    previous: str | None = None
    history: tuple[str, ...] = ()
    instruction: str | None = None
    edit_boxes: tuple[Box, ...] | None = None

    @classmethod
    def of(cls, eval_input: EvalInput) -> Inputs:
        """The hashes of an input's pictures."""
        references = (eval_input.origin, eval_input.first, eval_input.previous)
        origin, first, previous = (None if picture is None else picture.sha256 for picture in references)
        history = tuple(picture.sha256 for picture in eval_input.history)
        given = (eval_input.instruction, eval_input.edit_boxes)
        return cls(eval_input.candidate.sha256, origin, first, previous, history, *given)


def inputs_hash(facts: Facts, inputs: Inputs) -> str:
    """SHA-256 of what this evaluator looks at: what it does not need cannot change its score."""
    return _digest({role: value for role, value in asdict(inputs).items() if role in facts.inputs})


def parameters_hash(config: ComponentConfig) -> str:
    """SHA-256 of an evaluator's settings."""
    return _digest(config.model_dump(mode="json"))


def score_key(config: ComponentConfig, facts: Facts, inputs: Inputs, parameters: str | None = None) -> str:
    """SHA-256 of what makes two evaluations the same: type, version, settings, and what the evaluator looks at.

    `parameters` is `parameters_hash` of the settings, where it is known.
    """
    return _digest([config.type, facts.version, parameters or parameters_hash(config), inputs_hash(facts, inputs)])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


CACHED = "cached"
"""Flag of a result that was not computed now."""

_log = logging.getLogger(__name__)
_KIND = SqliteKind("score cache", int.from_bytes(b"TGca"), 1, frozenset({"scores"}))
_TABLE = """CREATE TABLE IF NOT EXISTS scores (
    key TEXT PRIMARY KEY, type TEXT NOT NULL, version TEXT NOT NULL, result TEXT NOT NULL, at_ns INTEGER NOT NULL
) WITHOUT ROWID"""
_BUSY_SECONDS = 30
_FORMAT = "2:"
"""Before every key, raised with what a result holds. 2: the flag `identical`, which no result before it can have."""


def cache_folder() -> Path:
    """`TURNGATE_CACHE`, or `turngate` in the user's cache folder."""
    given = os.environ.get("TURNGATE_CACHE")
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "turngate"


def cacheable(facts: Facts) -> bool:
    """Whether the same input always gives the same value, whatever it is scored with, and for free."""
    return facts.deterministic and facts.batch_invariant and not facts.paid


class ScoreCache:
    """One SQLite file. Failures are never kept; a cache that breaks is left out and never breaks the scoring.

    What breaks it (a full disk, a damaged file) is logged once, as a warning. A file that is no cache is left alone.
    """

    def __init__(self, folder: Path) -> None:
        """Open or create `score_cache.sqlite` in `folder`; raises `MachineError` when that cannot be done."""
        self.path = folder / "score_cache.sqlite"
        self.trouble: str | None = None
        """Why it is not used any more; None while all is well."""
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._link = _connect(self.path)
        except (OSError, sqlite3.Error) as error:
            raise MachineError(
                f"cannot use the score cache {self.path} ({getattr(error, 'strerror', None) or error}): move the file "
                "away, set TURNGATE_CACHE to a folder that can be written, or do without the cache"
            ) from error

    def get(self, keys: Sequence[str]) -> list[Score | Unscored | None]:
        """What is kept under each key, with the flag `cached`."""
        found: list[Score | Unscored | None] = []
        for key in keys:
            rows = self._do("SELECT result FROM scores WHERE key=?", [(_FORMAT + key,)])
            result = _kept(rows[0][0]) if rows else None
            if rows and result is None:  # damaged: makes room for a new one
                self._do("DELETE FROM scores WHERE key=?", [(_FORMAT + key,)])
            found.append(result)
        return found

    def put(self, results: Mapping[str, Result], type_: str, version: str) -> None:
        """Keep scores, and verdicts that an image cannot be scored; the first one written is kept."""
        rows = [
            (_FORMAT + key, type_, version, json.dumps(result_to_json(result), ensure_ascii=False), time.time_ns())
            for key, result in results.items()
            if isinstance(result, Score | Unscored)
        ]
        if rows:
            self._do("INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._link.close()

    def _do(self, statement: str, rows: Sequence[tuple[object, ...]]) -> list[tuple[str]]:
        """One SELECT, or any number of INSERTs in one transaction."""
        if self.trouble is not None:
            return []
        with self._lock:
            try:
                if len(rows) == 1:
                    return self._link.execute(statement, rows[0]).fetchall()
                with self._link:
                    self._link.execute("BEGIN IMMEDIATE")
                    self._link.executemany(statement, rows)
            except sqlite3.Error as error:
                self.trouble = f"the score cache {self.path} is not used any more: {error}"
                if "malformed" in str(error) or "not a database" in str(error):
                    self.trouble += ": delete it"
                _log.warning("note: %s", self.trouble)
        return []


def cached_score(
    cache: ScoreCache | None, evaluator: Evaluator, config: ComponentConfig, eval_inputs: Sequence[EvalInput]
) -> list[Result]:
    """`turngate.evaluators.scoring.score`, asking only for what the cache does not hold.

    What it holds has the flag `cached`.
    """
    facts = evaluator.facts
    if cache is None or not cacheable(facts) or isinstance(config, ObjectConfig):  # its code may change unnoticed
        return score(evaluator, eval_inputs)
    keys = [score_key(config, facts, Inputs.of(eval_input)) for eval_input in eval_inputs]
    known = cache.get(keys)
    owed = [index for index, result in enumerate(known) if result is None]
    fresh = dict(zip(owed, score(evaluator, [eval_inputs[index] for index in owed]), strict=True))
    cache.put({keys[index]: result for index, result in fresh.items()}, config.type, facts.version)
    return [fresh[index] if result is None else result for index, result in enumerate(known)]


def default_cache() -> ScoreCache | None:
    """The cache in `cache_folder()`, opened once per process; None, and one warning, when that cannot be done."""
    key = (cache_folder(), os.getpid())  # a connection must not be carried into a forked process
    with _opening:
        if key not in _caches:
            try:
                cache = _caches[key] = ScoreCache(key[0])
            except MachineError as error:  # a cache is a convenience
                _caches[key] = None
                _log.warning("note: %s", error)
            else:
                atexit.register(cache.close)
        return _caches[key]


_caches: dict[tuple[Path, int], ScoreCache | None] = {}
_opening = threading.Lock()


def _kept(text: str) -> Score | Unscored | None:
    try:
        result = result_from_json(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError):  # damaged: whatever JSON may hold
        return None
    return replace(result, flags=(*result.flags, CACHED)) if isinstance(result, Score | Unscored) else None


def _connect(path: Path) -> sqlite3.Connection:
    """Open or create; raises `sqlite3.DatabaseError` for a file that is none of ours, and leaves it alone."""
    link = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        problem = _KIND.problem(link)
        if problem is not None:
            raise sqlite3.DatabaseError(problem)
        choose_journal(link, path)
        link.execute("PRAGMA synchronous=NORMAL")
        _KIND.create(link, lambda: link.execute(_TABLE))
    except BaseException:
        link.close()
        raise
    return link
