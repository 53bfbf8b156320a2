"""Texts labelled with what they say, and how well a reader finds it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError, field_validator

from turngate.agent.reasoning import LABELS, ClaimLabel, ObjectCount, SummaryReader, SummaryReading
from turngate.errors import ConfigError, one_line
from turngate.frozen import FrozenModel, StrictModel
from turngate.registry import explain
from turngate.yaml_text import read_yaml

__all__ = ["LabelScore", "Labelled", "read_labelled", "score_reader"]

_COUNT = re.compile(r"(\+?)(\d+) (\S+)")


class Labelled(StrictModel):
    """One text."""

    text: str
    labels: frozenset[ClaimLabel] = frozenset()
    counts: tuple[ObjectCount, ...] = ()
    """Written as `3 apple`, or `+1 apple` for what was added."""

    @field_validator("counts", mode="before")
    @classmethod
    def _written(cls, raw: Any) -> Any:
        found = [_COUNT.fullmatch(str(one)) for one in raw]
        if not all(found):
            raise ValueError("write a count as `3 apple` or `+1 apple`")
        return tuple(ObjectCount(int(one[2]), one[3], bool(one[1])) for one in found if one)


class LabelScore(FrozenModel):
    """How well one label is found; undefined rates are None."""

    label: str
    """A label, or `counts`."""
    right: int
    """Found where it is."""
    wrong: int
    """Found where it is not."""
    missed: int
    """Not found where it is."""

    @property
    def precision(self) -> float | None:
        """Share of what was found that is right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Share of what is there that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both."""
        whole = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / whole if whole else None


def read_labelled(path: Path | None = None) -> dict[str, list[Labelled]]:
    """Sets of texts by name (`development`, `held_out`), from `path` or `labelled.yaml` here; raises `ConfigError`.

    The file maps the name of a set to a list of `{text, labels, counts}`.
    """
    source = path or Path(__file__).with_name("labelled.yaml")
    try:
        raw = read_yaml(source)
        sets = {str(name): list(rows) for name, rows in raw.items()}
    except (AttributeError, TypeError) as error:
        raise ConfigError(f"cannot read {source}: {one_line(error, 200)}") from None
    found: dict[str, list[Labelled]] = {name: [] for name in sets}
    for name, rows in sets.items():
        for number, row in enumerate(rows, 1):
            try:
                found[name].append(Labelled.model_validate(row))
            except ValidationError as error:
                raise ConfigError(explain(error, Labelled, f"{source}, {name} {number}")) from None
    return found


def score_reader(reader: SummaryReader, texts: Sequence[Labelled]) -> list[LabelScore]:
    """Every label, and the counts of a reader that finds any. A text that was not read says nothing."""
    readings = reader.read([one.text for one in texts])
    read = [one if isinstance(one, SummaryReading) else SummaryReading(counts=()) for one in readings]
    scores = []
    for label in LABELS:
        found_by = [{label} if getattr(found, label) else set() for found in read]
        there_by = [{label} & one.labels for one in texts]
        scores.append(_score(label, list(zip(there_by, found_by, strict=True))))
    if all(one.counts is not None for one in read):
        counted = [(set(one.counts), set(found.counts or ())) for one, found in zip(texts, read, strict=True)]
        scores.append(_score("counts", counted))
    return scores


def _score(label: str, pairs: Sequence[tuple[Any, Any]]) -> LabelScore:
    right = sum(len(there & found) for there, found in pairs)
    return LabelScore(
        label=label,
        right=right,
        wrong=sum(len(found) for _, found in pairs) - right,
        missed=sum(len(there) for there, _ in pairs) - right,
    )
