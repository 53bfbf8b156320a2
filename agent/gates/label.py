"""Accepts by a judge's verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.part import PartConfig

__all__ = ["Label", "LabelConfig"]


def _as_list(raw: Any) -> Any:
    return [raw] if isinstance(raw, str) else raw


class LabelConfig(PartConfig):
    """Which verdicts are accepted."""

    evaluator: str
    """Name of the evaluator in the run; its scores must carry labels."""
    accept: Annotated[list[str], BeforeValidator(_as_list)] = Field(min_length=1)
    """Labels that are accepted, one or a list; case and outer spaces do not matter."""


class Label:
    """Accepts when the verdict of one judge, in words, is among those named; no verdict is rejected."""

    Config: ClassVar[type[PartConfig]] = LabelConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: LabelConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})
        self._accepted = frozenset(_plain(label) for label in config.accept)

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Look the label up; the number beside it decides nothing."""
        reading = scores[self.config.evaluator]
        wanted = " or ".join(self.config.accept)
        evidence = {"value": reading.value, "label": reading.label, "accepted": wanted}
        if reading.label is None:
            return Decision("reject", f"{reading.evaluator} gave no label, {wanted} is needed", evidence)
        accept = _plain(reading.label) in self._accepted
        shown = " ".join(reading.label.split())[:100]
        reason = f"{reading.evaluator} says {shown!r}, {'as' if accept else 'not'} {wanted}"
        return Decision("accept" if accept else "reject", reason, evidence)


def _plain(label: str) -> str:
    return " ".join(label.split()).casefold()
