"""What the registries know about each part, without building one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import TurngateError
from turngate.evaluators import EVALUATORS, Facts
from turngate.part import PartClass, missing_modules, summary
from turngate.registry import Registry

__all__ = ["KINDS", "all_names", "describe"]

KINDS: dict[str, Registry[Any]] = {
    "editors": EDITORS,
    "evaluators": EVALUATORS,
    "gates": GATES,
    "scenarios": SCENARIOS,
}
"""Kind of part -> its registry."""
_TOLD_OTHERWISE = ("name", "direction", "range", "needs")
"""Facts that are not told by their own name, or not as they are."""


def describe(kind: str, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Name, purpose, configuration fields, and whether each part can run here; of `names`, or of all with families."""
    registry = KINDS[kind]
    return [_describe(registry, name) for name in (registry.names() if names is None else names)]


def all_names(kind: str) -> list[str]:
    """Names of the parts, those of families included."""
    found: list[str] = []
    for name in KINDS[kind].names():
        members = getattr(KINDS[kind].find(name), "members", None) if name.endswith(">") else None
        found += [name] if members is None else members()
    return found


def _describe(registry: Registry[Any], name: str) -> dict[str, Any]:
    try:
        part = registry.find(name)
    except TurngateError as error:  # a plug-in that does not load must not hide the others
        return {"name": name, "what": "", "fields": {}, "runs_here": False, "missing": str(error)}
    missing = missing_modules(part)
    lacks = None if missing else _lacks(part, name)
    told: dict[str, Any] = {
        "name": name,
        "what": summary(part),
        "fields": _fields(part),
        "needs_here": getattr(part, "needs", ""),
        "runs_here": not missing and not lacks,
        "missing": _how(missing) or lacks,
    }
    facts = None if missing else _facts(part, name)
    if facts is not None:
        low, high = facts.range
        if hasattr(part, "facts_of") and not name.endswith(">"):
            told["what"] = facts.source
        told |= {
            "better": facts.direction,
            "range": f"{'~' if facts.range_is_approximate else ''}{low:g}..{high:g}",
            "needs": ", ".join(sorted(facts.needs - {"candidate"})),
            **{fact: value for fact, value in asdict(facts).items() if fact not in _TOLD_OTHERWISE},
        }
    return told


def _facts(part: type[PartClass], name: str) -> Facts | None:
    """Facts of an evaluator with default settings; None where it has none without settings."""
    if name.endswith(">") or not hasattr(part, "evaluate"):
        return None
    if hasattr(part, "facts_of"):  # of a family, without building the member
        stated = part.facts_of(part.Config(type=name))
        return stated if isinstance(stated, Facts) else None
    stated = getattr(part, "facts", None)
    if stated is None or not part.requires:  # an instance knows more, and a light one is built at once
        with contextlib.suppress(Exception):  # it needs settings; and a plug-in that breaks must not hide the others
            stated = getattr(part(part.Config(type=name)), "facts", None)
    return stated if isinstance(stated, Facts) else None


def _lacks(part: type[Any], name: str) -> str | None:
    """What is missing here besides packages, in one line."""
    if hasattr(part, "facts_of") and not name.endswith(">"):  # a member of a family: its name is all it needs
        lacks: str | None = part.lacks_of(part.Config(type=name))
        return lacks
    stated: str | None = getattr(part, "lacks", lambda: None)()
    return stated


def _fields(part: type[PartClass]) -> dict[str, str]:
    """Field -> what it means, with its default."""
    told = {}
    for name, field in part.Config.model_fields.items():
        if name == "type":
            continue
        default = "required" if field.is_required() else f"default {field.get_default(call_default_factory=True)!r}"
        told[name] = f"{' '.join((field.description or '').split())} ({default})"
    return told


def _how(missing: dict[str, str]) -> str | None:
    extras = sorted({extra for extra in missing.values() if extra})
    if extras:
        return f"pip install 'turngate[{','.join(extras)}]'"
    return f"pip install {' '.join(sorted(missing))}" if missing else None
