"""Studies for the tests of plots: many arms, any names, a few turns each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.traces.runs import Writer, degraded, study_of

from turngate.picture import encode_png

CONTROLS = ("no-gate", "always-reject", "oracle", "random")


def small_run(
    path: Path, number: int, turns: int = 4, rollback: bool = False, rejecting: bool = False, **settings: Any
) -> Path:
    """A run that is damaged from some turn on and may reject what is; under `rollback` every second turn goes back."""
    writer = Writer(path, size=8, turns=turns, **settings)
    for turn in range(1, turns + 1):
        damage = min(1.0, 0.5 * turn / (1 + number % 5))
        back, kept = rollback and turn % 2 == 0, not (rejecting and damage >= 0.5)
        scores = {
            name: 30.0 + 7 * place - turn * (1 + (number + place) % 3) * (1 if place % 2 else -1)
            for place, name in enumerate(writer.evaluators)
        }
        writer.attempt(
            turn,
            image=encode_png(degraded(writer.origin, 0.05 * turn, 100 * number + turn)),
            scores=scores,
            damage=damage,
            verdict="accept" if kept and not back else "reject",
            action="rollback" if back else "accept" if kept else "skip",
            after=(writer.origin_sha, 0) if back else None,
            status_after="complete" if turn == turns else "running",
        )
    return writer.close()


def arms_study(
    root: Path, names: Sequence[str], origins: Sequence[str] = ("a", "b"), rollback: str = "", **settings: Any
) -> Path:
    """A study of these arms, those of `CONTROLS` as controls; odd ones reject what is damaged, as the oracle does.

    Where there is a `no-gate` arm, the others have the first evaluator only: nobody looks at their scores.
    """
    first = dict([next(iter(settings.get("evaluators", {"brisque": "lower"}).items()))])
    rows = []
    for place, name in enumerate(names):
        rejecting = name == "oracle" or (name not in (*CONTROLS, rollback) and place % 2 == 1)
        own = {**settings, "evaluators": first} if "no-gate" in names and name != "no-gate" else settings
        own = {**own, "gate": {"type": "always_accept"}} if name == "no-gate" else own
        for number, origin in enumerate(origins):
            path = root / f"run-{place}-{number}"
            small_run(path, 3 * place + number, rollback=name == rollback, rejecting=rejecting, **own)
            rows.append({"arm": name, "origin": origin, "control": name in CONTROLS, "path": path})
    return study_of(root, rows)
