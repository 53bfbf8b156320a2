"""The rows of `scores.sqlite`, the table of scores, field by field."""

from __future__ import annotations

from typing import Any, Literal

from turngate.sqlite_file import SqliteKind
from turngate.traces._sqlite import Tables
from turngate.traces.images import ImageRole
from turngate.traces.records import Row

__all__ = ["SCORE_TABLE", "SCORE_TABLES", "ScoredRow", "ScoringPass", "ScoringPassEnd"]


class ScoredRow(Row):
    """One evaluator's result on one image. Rows are added and never changed: other versions have rows of their own."""

    key: str
    """SHA-256 of item, evaluator type, version, settings, `inputs` and `tries`."""
    scoring: str
    """Pass that wrote the row: `id` in `passes`."""
    item: str
    """Which image: `turn/attempt/role` in a run, the path below the folder or the manifest's `id` elsewhere."""
    turn: int | None = None
    """In a run or where the manifest says so; 0 for the origin."""
    attempt: int | None = None
    role: ImageRole = "image"
    image: str
    """SHA-256 of the bytes that were scored; empty when they could not be read."""
    shown: dict[str, Any] = {}
    """What else was looked at: role -> SHA-256 (`history`: a list), and the instruction."""
    inputs: str
    """SHA-256 of all that the evaluator looked at: another image or reference under the same name has another row."""
    evaluator: str
    """Name that it was given."""
    type: str
    """Registry name of the evaluator."""
    version: str
    """Version of the evaluator."""
    parameters: str
    """SHA-256 of its settings, which `passes` holds."""
    status: Literal["scored", "unscored", "failed", "skipped"]
    value: float | None = None
    """Finite, in the evaluator's unit; only when scored."""
    direction: Literal["higher", "lower"]
    """Which way is better."""
    label: str | None = None
    explanation: str | None = None
    components: dict[str, float] = {}
    """Named parts of the value."""
    flags: list[str] = []
    why: str | None = None
    """Reason when unscored; short type of the error when failed."""
    fault: str | None = None
    """Who is at fault when failed: `user`, `provider`, `machine` or `us`."""
    detail: str = ""
    answers: list[str] = []
    """What a judge's model said, answer by answer, as it came; of a very long one a mark says how much was cut."""
    usage: dict[str, Any] = {}
    """What a judge used up, as in the ledger's `scores`."""
    tries: int = 1
    """1, or one more for each time that failures were asked for again."""
    turngate: str
    """Version of turngate."""
    row_version: int = 2
    """3: values of untouched images have the flag `identical`. Rows before it have no version of their own; they get
    the flag when they are read, where their value is the end of its scale."""
    started_ns: int
    """Of the evaluator's batch, Unix nanoseconds."""
    ended_ns: int

    @property
    def untouched(self) -> bool:
        """The image has the pixels that it was compared with: the value is the end of its scale, no measurement."""
        return "identical" in self.flags


class ScoringPass(Row):
    """One `turngate score`: what was asked for. Written before the first image is scored."""

    id: str
    """Unique over machines, in order of time."""
    evaluators: list[dict[str, Any]]
    """Name, type, version, parameters (SHA-256), settings and facts of each."""
    images: int
    """Total number of images."""
    chosen: int
    """Images that were asked for: fewer than `images` when only some were scored."""
    selection: dict[str, Any] = {}
    """How they were chosen: `turns`, `limit`; empty when all were."""
    made_with: dict[str, Any]
    """Versions of Python and packages, processor, git revision: as in run.json."""
    started_ns: int


class ScoringPassEnd(Row):
    """How a pass ended; one that was killed has no such row."""

    id: str
    """The pass."""
    status: Literal["complete", "interrupted", "failed"]
    reason: str | None = None
    added: int
    """Rows that it wrote."""
    ended_ns: int


SCORE_TABLES: Tables = {
    "scores": (ScoredRow, ("key",)),
    "passes": (ScoringPass, ("id",)),
    "pass_ends": (ScoringPassEnd, ("id",)),
}
"""Table -> (row model, primary key)."""

SCORE_TABLE = SqliteKind("table of scores", int.from_bytes(b"TGsc"), 2, frozenset(SCORE_TABLES), legacy="passes")
"""Its file. Version 1 had the same tables; until there was an `application_id`, the version was the ledger's."""
