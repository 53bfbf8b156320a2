"""A threshold with a stated false-alarm rate: split conformal prediction (Vovk et al. 2005; Lei et al. 2018)."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from turngate.agent.gate import CalibratedConfig, Decision, Past, Readings
from turngate.component import ComponentConfig
from turngate.registry import nearest

__all__ = ["Conformal", "read_scores"]


# Reads calibration scores from a CSV or JSON file. Helper of the conformal gate.


def read_scores(path: Path, column: str | None) -> list[float]:
    """Numbers of a column of a CSV file or of a list of JSON objects, or of a plain JSON list.

    Empty cells and nulls (images without a score) are left out. Raises `ValueError` that names file and row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"there is no file at {path}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    cells = _json(path, text, column) if path.suffix.lower() == ".json" else _csv(path, text, column)
    return [_number(path, row, cell) for row, cell in enumerate(cells, 1) if cell not in (None, "")]


def read_origins(path: Path, column: str | None) -> list[str] | None:
    """Pixel identities in the column `origin` of a calibration file, as `turngate calibrate --out` writes it.

    Only of rows with a score, each once. None where the file has no such column, or cannot be read: `read_scores`
    says why.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = json.loads(text) if path.suffix.lower() == ".json" else [*csv.DictReader(text.splitlines())]
    except (OSError, ValueError):
        return None
    found = [row.get("origin") for row in rows if isinstance(row, dict) and row.get(column or "") not in (None, "")]
    known = dict.fromkeys(one for one in found if isinstance(one, str) and re.fullmatch("[0-9a-f]{16}", one))
    return [*known] or None


def _json(path: Path, text: str, column: str | None) -> list[Any]:
    try:
        rows = json.loads(text, object_pairs_hook=_once)
    except KeyError as error:
        raise ValueError(f"{path}: the key {error} is there twice in one object: keep one") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is not valid JSON") from None
    if not isinstance(rows, list):
        raise ValueError(f"{path} must hold a list, of numbers or of objects with a `column`")
    if column is None:
        return rows
    return [_cell(path, row, column) if isinstance(row, dict) else row for row in rows]


def _csv(path: Path, text: str, column: str | None) -> list[Any]:
    if column is None:
        raise ValueError(f"say with `column` which column of {path} holds the scores")
    rows = csv.DictReader(text.splitlines())
    if (rows.fieldnames or []).count(column) > 1:
        raise ValueError(f"{path}, line 1: the column {column!r} is there twice: keep one")
    return [_cell(path, row, column) for row in rows]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; raises `KeyError` for a name that is there twice: the last one would win without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyError(next(name for name in names if names.count(name) > 1))
    return found


def _cell(path: Path, row: dict[Any, Any], column: str) -> Any:
    if column not in row:
        raise ValueError(f"{path} has no column {column!r}{nearest(column, [str(name) for name in row])}")
    return row[column]


def _number(path: Path, row: int, cell: Any) -> float:
    try:
        number = float(cell) if not isinstance(cell, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path}, row {row}: {cell!r} is not a finite number")
    return number


class ConformalConfig(CalibratedConfig):
    """Calibration scores of sound images, and the false-alarm rate that is allowed."""

    paths: ClassVar[tuple[str, ...]] = ("calibration",)

    evaluator: str
    """Name of the evaluator in the run."""
    column: str | None = None
    """Column of the calibration file that holds the scores; none for a plain JSON list."""
    calibration: list[float] = Field(min_length=1, max_length=100_000)
    """Scores of sound images, in the evaluator's unit, or the CSV or JSON file that they are read from."""
    relative_to_origin: bool = False
    """Compare score minus the origin's score; the calibration then holds such differences, and fits other images."""
    alpha: float = Field(gt=0, lt=1)
    """Share of sound images that may be rejected, 0..1."""

    @model_validator(mode="before")
    @classmethod
    def _origins(cls, raw: Any) -> Any:
        """A calibration file that says which origins it is of fills `calibrated_on`."""
        source = raw.get("calibration") if isinstance(raw, Mapping) else None
        if not isinstance(source, str | Path) or raw.get("calibrated_on") is not None:
            return raw
        return {**raw, "calibrated_on": read_origins(Path(source), raw.get("column"))}

    @field_validator("calibration", mode="before")
    @classmethod
    def _inline(cls, raw: Any, info: ValidationInfo) -> Any:
        """Scores from a file become part of the configuration, so that run.json alone can repeat the run."""
        return read_scores(Path(raw), info.data.get("column")) if isinstance(raw, str | Path) else raw

    @field_validator("alpha")
    @classmethod
    def _enough(cls, alpha: float, info: ValidationInfo) -> float:
        have = len(info.data.get("calibration", ()))
        exact = Fraction(str(alpha))
        needed = math.ceil((1 - exact) / exact)
        if 0 < have < needed:
            raise ValueError(f"{have} calibration scores are too few for this rate: at least {needed} are needed")
        return alpha


class Conformal:
    """Accepts while one score is no worse than a quantile of calibration scores, with a stated false-alarm rate."""

    Config: ClassVar[type[ComponentConfig]] = ConformalConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: ConformalConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject what is worse than the ceil((n + 1)(1 - alpha))-th best of the n calibration scores.

        A candidate that is exchangeable with them is rejected with probability alpha at most. Nothing is promised for
        images of another kind, nor for all turns of a run at once (1 - (1 - alpha)^n were they independent), nor for
        sound images of late turns when the scores of sound images slide: they are not exchangeable with early ones.
        """
        name = self.config.evaluator
        reading, start, used = scores[name], past.origin.get(name), 0.0
        if self.config.relative_to_origin:
            if start is None:
                reason = f"{name} {reading.value:.4g}: the origin has no score to compare with"
                return Decision("accept", reason, {"value": reading.value})
            used = start.oriented_score
        sign = 1.0 if reading.direction == "higher" else -1.0
        calibration = sorted((sign * score for score in self.config.calibration), reverse=True)
        number, found = len(calibration), reading.oriented_score - used
        rank = math.ceil((number + 1) * (1 - Fraction(str(self.config.alpha))))
        worst = calibration[rank - 1]
        p_value = (1 + sum(score <= found for score in calibration)) / (number + 1)
        accept = found >= worst
        threshold = sign * (worst + used)
        reason = (
            f"{name} {reading.value:.4g} is {'no worse' if accept else 'worse'} than {threshold:.4g}, "
            f"rank {rank} of {number} calibration scores (p {p_value:.3g}, alpha {self.config.alpha:.3g})"
        )
        evidence = {
            "value": reading.value,
            "p_value": p_value,
            "alpha": self.config.alpha,
            "calibration": float(number),
        }
        return Decision("accept" if accept else "reject", reason, evidence, {name: threshold})
