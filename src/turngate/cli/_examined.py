"""What the parts of a configuration lack on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import TurngateError
from turngate.evaluators import EVALUATORS
from turngate.graphs.config import RunConfig
from turngate.graphs.load import read_config, read_mapping
from turngate.graphs.study.plan import read_study
from turngate.part import PartConfig, missing_modules
from turngate.registry import Registry

__all__ = ["Finding", "examine"]


@dataclass(frozen=True)
class Finding:
    """One part of a configuration."""

    field: str
    """Where it stands: `editor`, `evaluators.NAME`, ..."""
    type: str
    missing: str | None
    """In one line; None when it can run here."""


def examine(path: Path) -> list[Finding]:
    """Build every part of a run or study as its start would, downloading nothing, and say what hinders each.

    Raises `ConfigError` for a configuration that is wrong. The process may download nothing afterwards either.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # the library reads it when it is imported
    is_study = "arms" in read_mapping(path)
    configs = [job.config for job in read_study(path).jobs] if is_study else [read_config(path)]
    parts = {(field, repr(part)): (registry, part) for one in configs for field, registry, part in _parts(one)}
    lacking = {key: _lacks(registry.find(part.type), part) for key, (registry, part) in parts.items()}
    os.environ["TURNGATE_OFFLINE"] = "1"
    return [
        Finding(key[0], part.type, lacking[key] or _why_not(registry, part)) for key, (registry, part) in parts.items()
    ]


def _parts(config: RunConfig) -> Iterator[tuple[str, Registry[Any], PartConfig]]:
    yield "editor", EDITORS, config.editor
    for name, part in config.evaluators.items():
        yield from _evaluators(f"evaluators.{name}", part)
    yield "gate", GATES, config.gate
    yield "scenario", SCENARIOS, config.scenario
    if config.truth is not None and isinstance(config.truth.measure, PartConfig):
        yield from _evaluators("truth.measure", config.truth.measure)


def _evaluators(field: str, config: PartConfig) -> Iterator[tuple[str, Registry[Any], PartConfig]]:
    """An evaluator, or the members of one that is made of several."""
    members: Mapping[str, PartConfig] | None = getattr(config, "members", None)
    if members is None:
        yield field, EVALUATORS, config
    for name, member in (members or {}).items():
        yield from _evaluators(f"{field}.members.{name}", member)


def _lacks(part: Any, config: PartConfig) -> str | None:
    lacks: str | None = part.lacks_of(config) if hasattr(part, "lacks_of") and not missing_modules(part) else None
    return lacks


def _why_not(registry: Registry[Any], config: PartConfig) -> str | None:
    try:
        registry.build(config)
    except TurngateError as error:
        return str(error)
    except Exception as error:  # a plug-in may raise anything; the others are looked at all the same
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return None
