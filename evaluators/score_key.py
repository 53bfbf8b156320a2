"""What makes two evaluations the same one: type, version, settings, and everything that the evaluator is shown."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from turngate.evaluators.evaluator import Facts, Sample
from turngate.part import PartConfig

__all__ = ["Inputs", "inputs_hash", "parameters_hash", "score_key"]


@dataclass(frozen=True)
class Inputs:
    """What a sample holds, images by their SHA-256: known before any of them is decoded."""

    candidate: str
    origin: str | None = None
    first: str | None = None
    previous: str | None = None
    history: tuple[str, ...] = ()
    instruction: str | None = None

    @classmethod
    def of(cls, sample: Sample) -> Inputs:
        """The hashes of a sample's pictures."""
        origin, first, previous = (
            None if picture is None else picture.sha256 for picture in (sample.origin, sample.first, sample.previous)
        )
        history = tuple(picture.sha256 for picture in sample.history)
        return cls(sample.candidate.sha256, origin, first, previous, history, sample.instruction)


def inputs_hash(facts: Facts, inputs: Inputs) -> str:
    """SHA-256 of what this evaluator looks at: what it does not need cannot change its score."""
    return _digest({role: shown for role, shown in asdict(inputs).items() if role in facts.needs})


def parameters_hash(config: PartConfig) -> str:
    """SHA-256 of an evaluator's settings."""
    return _digest(config.model_dump(mode="json"))


def score_key(config: PartConfig, facts: Facts, inputs: Inputs, parameters: str | None = None) -> str:
    """SHA-256 of all of it; `parameters` where `parameters_hash` of the settings is known."""
    return _digest([config.type, facts.version, parameters or parameters_hash(config), inputs_hash(facts, inputs)])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
