"""Checks a run folder against its own ledger."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from turngate.errors import DamagedRun
from turngate.traces.images import stored_files
from turngate.traces.ledger import Ledger
from turngate.traces.progress import Progress, advance
from turngate.traces.run_folder import RunFolder

__all__ = ["Findings", "validate"]


@dataclass
class Findings:
    """What was checked and what is wrong."""

    attempts: int = 0
    images: int = 0
    problems: list[str] = field(default_factory=list)
    """One line each; empty when the run is whole."""
    remarks: list[str] = field(default_factory=list)
    """Worth knowing and harmless."""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def validate(path: Path) -> Findings:
    """Read every row and every image of a run; raises `NoSuchRun` or `DamagedRun` when it cannot be read at all."""
    run = RunFolder.existing(path)
    info = run.info()
    ledger = run.ledger()
    found = Findings()
    try:
        integrity = ledger.check()
        if integrity != "ok":
            found.problems.append(f"ledger.sqlite: {integrity}")
        _chain(ledger, info.origin.image, found)
        _images(run, ledger, info.origin.image, found)
        for score in ledger.scores():
            if (score.status == "scored") != (score.value is not None and math.isfinite(score.value)):
                here = f"turn {score.turn}, attempt {score.attempt}"
                found.problems.append(f"{here}: {score.evaluator} is {score.status} but its value is {score.value}")
    finally:
        ledger.close()
    left = [*run.path.glob("images/*/.*.part"), *run.path.glob("*.part")]
    if left:
        found.remarks.append(f"{len(left)} unfinished files of a stopped process can be deleted: {left[0].name}, ...")
    return found


def _chain(ledger: Ledger, origin: str, found: Findings) -> None:
    """Rows are contiguous, and each attempt edited the image that the rows before it left."""
    progress = Progress.start(origin)
    attempts = {(row.turn, row.attempt): row for row in ledger.attempts()}
    found.attempts = len(attempts)
    decisions = ledger.decisions()
    if {(row.turn, row.attempt) for row in decisions} != set(attempts):
        found.problems.append("attempts and decisions do not pair up")
    for decision in decisions:
        here = f"turn {decision.turn}, attempt {decision.attempt}"
        if (decision.turn, decision.attempt) != (progress.turn, progress.attempt):
            found.problems.append(f"{here}: turn {progress.turn}, attempt {progress.attempt} was owed")
        attempt = attempts.get((decision.turn, decision.attempt))
        expected = origin if attempt is not None and attempt.history == "origin" else progress.image
        if attempt is not None and attempt.input_image != expected:
            found.problems.append(f"{here}: edited {attempt.input_image[:12]}, not the current image {expected[:12]}")
        progress = advance(progress, decision)
    after = {(row.turn, row.attempt): row.image_after for row in decisions}
    for composite in ledger.composites():
        here = f"turn {composite.turn}, attempt {composite.attempt}"
        if (composite.turn, composite.attempt) not in after:
            found.problems.append(f"{here}: a composite without a decision")
        elif composite.image is not None and composite.image != after[composite.turn, composite.attempt]:
            found.problems.append(f"{here}: the composite {composite.image[:12]} did not become the current image")


def _images(run: RunFolder, ledger: Ledger, origin: str, found: Findings) -> None:
    named = {origin}
    for row in ledger.attempts():
        named.update(stored_files(row))
    for call in ledger.calls():
        if call.answer.get("image"):
            named.add(call.answer["image"])
    for sha256 in sorted(named):
        try:
            run.images.get(sha256)
        except (DamagedRun, OSError) as error:
            found.problems.append(str(error))
    stored = {path.stem for path in run.path.glob("images/*/*") if not path.name.startswith(".")}
    found.images = len(stored)
    if stored - named:
        found.remarks.append(
            f"{len(stored - named)} stored images are named by no row (calls in flight when a process died)"
        )
