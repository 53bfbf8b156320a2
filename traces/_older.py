"""What older turngates (schema versions 1 and 2) recorded otherwise, as it is recorded now. Plain values, no rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["answer_now", "composite_now", "evaluator_of", "flags_now", "thresholds_now", "truth_now"]

_OBJECT_FAILURES = ("nothing_added", "replaced", "row_too_many")
_MOVED = re.compile(r"(cropped|shifted):([+-][\d.]+)%?,([+-][\d.]+)%?")
_NOT_UPRIGHT = frozenset({"unregistered", "mirrored", "rotated"})


def answer_now(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An editor's answer: `told` is `metadata`, and what a simulator recorded of its failures has fields."""
    metadata = dict(raw["told"] or {})
    found: dict[str, Any] = {}
    if isinstance(metadata.get("operation_failed"), bool):
        found["operation_failed"] = metadata.pop("operation_failed")
    if metadata.get("object_failure", "") in (None, *_OBJECT_FAILURES):
        found["object_failure"] = metadata.pop("object_failure") or "none"
    return {**{name: value for name, value in raw.items() if name != "told"}, **found, "metadata": metadata}


def truth_now(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A truth: the flags of its measure were joined in `detail`, and only the flags held its numbers."""
    if raw["value"] is None or raw["measure"] == "simulator":
        return {**raw, "flags": [], "components": {}}
    flags = raw["detail"].split("; ") if raw["detail"] else []
    return {**raw, "detail": "", "flags": flags, "components": _moves(flags)}


_CEILINGS = {"psnr": 80.0, "ssim": 1.0, "ms_ssim": 1.0, "ciede2000": 0.0}
"""Measure -> its value for two images with the same pixels, exactly so after rounding."""
_DONE_FIRST = frozenset({"resized", "size", "shifted", "cropped", "mirrored", "rotated", "tilted"})
"""Flags of what was done to two images before they were compared."""


def flags_now(flags: Sequence[str], measure: str, value: float | None, *, is_origin: bool = False) -> list[str]:
    """Flags of a score or truth, with `identical` where its image was untouched: there was no such flag before
    version 3, so the value at the end of its scale says it.

    Not where registration moved or resized something first: then the pixels were not the same. A simulator's truth
    compares with nothing, but the origin is untouched.
    """
    moved = any(re.split("[: ]", flag)[0] in _DONE_FIRST for flag in flags)
    at_ceiling = value is not None and not moved and value == _CEILINGS.get(measure)
    untouched = at_ceiling or (measure == "simulator" and is_origin)
    return [*flags, "identical"] if untouched and "identical" not in flags else list(flags)


def _moves(flags: Sequence[str]) -> dict[str, float]:
    """How the candidate lies on its reference, where it was found: a flag named only what differed."""
    if any(re.split("[: ]", flag)[0] in _NOT_UPRIGHT for flag in flags):
        return {}
    moves = {"shift_x": 0.0, "shift_y": 0.0}
    for flag in flags:
        found = _MOVED.fullmatch(flag)
        if found:
            start = "crop" if found[1] == "cropped" else "shift"
            moves |= {f"{start}_x": float(found[2]), f"{start}_y": float(found[3])}
    return moves


def evaluator_of(gate: Mapping[str, Any]) -> str | None:
    """The one evaluator that a configured gate holds against a threshold; None for a gate that joins others."""
    name = gate.get("evaluator")
    return name if isinstance(name, str) else None


def thresholds_now(
    evidence: Mapping[str, Any], evaluator: str | None, directions: Mapping[str, str]
) -> dict[str, float]:
    """Thresholds of a decision: they were in its evidence, as `threshold`, or as `reference` and `margin`.

    `evaluator` is the one of the configured gate, `directions` say which way each evaluator is better.
    """
    named = evidence.get("evaluator") or evaluator
    if not isinstance(named, str):
        return {}
    threshold, reference, margin = (evidence.get(name) for name in ("threshold", "reference", "margin"))
    if isinstance(threshold, int | float):
        return {named: float(threshold)}
    if not isinstance(reference, int | float) or not isinstance(margin, int | float) or named not in directions:
        return {}
    return {named: reference - margin if directions[named] == "higher" else reference + margin}


def composite_now(turn: int, attempt: int, at_ns: int, kept: Mapping[str, Any]) -> dict[str, Any]:
    """A composite: it was a mapping in its decision's row, and its scores and truth had no place and no times.

    `at_ns` is the time of the decision, which stands for theirs.
    """
    place = {"turn": turn, "attempt": attempt}
    times = {"started_ns": at_ns, "ended_ns": at_ns}
    scores = [{**place, "evaluator": name, **times, **score} for name, score in kept.get("scores", {}).items()]
    truth = truth_now({**place, "detail": "", **kept["truth"]}) if kept.get("truth") else None
    fields = {name: value for name, value in kept.items() if name not in ("scores", "truth")}
    return {**place, **fields, "scores": scores, "truth": truth}
