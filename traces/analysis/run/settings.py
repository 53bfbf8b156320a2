"""How a run was set up, in words, tables and YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from turngate.errors import counted
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.run.summary import RunSummary
from turngate.traces.recorded import RecordedRejection

__all__ = ["as_yaml", "gate_line", "in_words", "made_with", "models", "setup_lines"]

_ENDINGS = {
    "skip": "keep the current image and go on",
    "accept": "take the last candidate anyway",
    "keep_best": "take the best candidate{} anyway",
    "rollback": "go back to an accepted ancestor",
    "restart": "go back to the origin",
    "stop": "stop the run",
    "ask_human": "wait for a person",
}


def in_words(part: Any) -> str:
    """`type · field value · field value` of a component's settings; empty for none."""
    return _part(part)


def gate_line(run: RunView) -> str:
    """The gate in one line, and what follows a rejection where that is more than to go on."""
    policy = run.config.on_reject
    follows = "" if (policy.attempts, policy.then) == (1, "skip") else _rejection(policy)
    return _part(run.config.gate.as_mapping()) + (f"; {follows}" if follows else "")


def setup_lines(run: RunView, summary: RunSummary) -> list[tuple[str, str]]:
    """What a reader must know before the pictures mean anything, one line each."""
    config, editor = run.config, run.info.resolved.editor
    kind = "stochastic" if editor.stochastic else "deterministic"
    lines = [
        ("Gate", _part(config.gate.as_mapping())),
        ("When it rejects", _rejection(config.on_reject)),
        ("Without a score", _part(config.on_unscored)),
        ("Editor", f"{_part(config.editor.as_mapping())} · model {editor.model} · {kind}"),
        ("Scenario", f"{_part(config.scenario.as_mapping())} · {counted(summary.turns_planned, 'turn')}"),
        ("The editor sees", _HISTORIES.get(config.history, config.history)),
        ("Truth", summary.truth or "not measured"),
        ("Seed", f"{config.seed} · {config.seed_policy.replace('_', ' ')}"),
    ]
    return [(title, text) for title, text in lines if text]


_HISTORIES = {
    "previous": "the current image only",
    "origin": "always the origin",
    "anchor": "the current image and the origin",
    "chat": "the whole conversation",
}


def made_with(run: RunView) -> list[tuple[str, str]]:
    """Identity, origin, versions: everything that is needed to make the run again."""
    info, origin = run.info, run.info.origin
    git = info.made_with.get("git") or {}
    dirty = " with uncommitted changes" if git.get("dirty") else ""
    packages = (info.made_with.get("packages") or {}).items()
    size = f"{origin.width} x {origin.height} pixels"
    lines = [
        ("Run", info.run),
        ("Created", info.created),
        ("Forked from", f"{info.parent.run}, turn {info.parent.turn}" if info.parent else ""),
        ("Origin", f"{origin.source}, {size}, {origin.media_type}"),
        ("Origin SHA-256", origin.image),
        ("Origin normalised", ", ".join(origin.normalised) or "no: 8-bit RGB as it is"),
        ("Python", str(info.made_with.get("python"))),
        ("Platform", str(info.made_with.get("platform"))),
        ("Processor", str((info.made_with.get("processor") or {}).get("model", ""))),
        ("Git revision", f"{git['revision']}{dirty}" if git else "not a checkout"),
        ("Packages", ", ".join(f"{name} {version}" for name, version in packages)),
    ]
    return [(title, text) for title, text in lines if text]


def models(run: RunView) -> list[tuple[str, int]]:
    """Resolved model versions in the order of their first attempt, with the turn it was in."""
    first: dict[str, int] = {}
    for attempt in run.attempts:
        if attempt.row.model is not None:
            first.setdefault(attempt.row.model, attempt.row.turn)
    return list(first.items())


def as_yaml(config: Mapping[str, Any]) -> str:
    """The resolved configuration."""
    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=100)


def _part(part: Any) -> str:
    """`type · field value · field value` of a component's configuration, nested ones in brackets."""
    if not isinstance(part, Mapping):
        return _plain(part)
    lead = [str(part[key]) for key in ("type", "policy") if key in part]
    fields = [
        f"{name.replace('_', ' ')} {_setting(name, value)}"
        for name, value in part.items()
        if name not in ("type", "policy") and value is not None and (part.get("policy") in (None, "retry_evaluator"))
    ]
    return " · ".join([*lead, *fields])


def _setting(name: str, value: Any) -> str:
    if name == "calibrated_on" and isinstance(value, list):
        return counted(len(value), "origin")  # identities are 64 digits each
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"({_part(value)})"
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _rejection(policy: RecordedRejection) -> str:
    tries = f"up to {policy.attempts} attempts a turn, then " if policy.attempts != 1 else "no retry: "
    best = f" by {policy.best_by}" if policy.best_by else ""
    return tries + _ENDINGS.get(policy.then, policy.then).format(best)
