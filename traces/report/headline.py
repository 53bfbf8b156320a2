"""The answer in words."""

from __future__ import annotations

from turngate.traces.analysis.summary import RunSummary

__all__ = ["headline", "second_line"]

_OPEN = {"running", "waiting", "interrupted"}


def headline(summary: RunSummary) -> str:
    """One sentence: what the gate accepted, what got through, and whether the run collapsed."""
    if summary.turns == 0:
        return f"No turn was closed yet ({summary.turns_planned} planned)."
    lead = f"accepted {summary.accepted} of {_count(summary.turns, 'turn')}"
    planned = f" ({summary.turns_planned} planned)" if summary.turns < summary.turns_planned else ""
    subject = "So far the gate" if summary.status in _OPEN else "The gate"
    if summary.truth is None:
        forced = f"; {summary.forced} more went in against its verdict" if summary.forced else ""
        return f"{subject} {lead}{planned}{forced}. No truth was measured, so the damage is not known."
    through = _count(summary.propagated or 0, "damaged image") if summary.propagated else "no damaged image"
    collapse = f"collapse at turn {summary.collapse_turn}" if summary.collapse_turn else "no collapse"
    if summary.forced:
        middle = f", {summary.forced} more went in against its verdict, and {through} got through"
    else:
        middle = f" and let {through} through"
    return f"{subject} {lead}{planned}{middle}; {collapse}."


def second_line(summary: RunSummary) -> str:
    """What was caught, what was turned away for nothing, and how the run ends; empty without a truth."""
    if summary.truth is None or summary.turns == 0:
        return ""
    damaged = (summary.caught or 0) + (summary.propagated or 0)
    sound = (summary.passed or 0) + (summary.false_alarms or 0)
    parts = []
    if damaged:
        parts.append(f"Of {_count(damaged, 'damaged candidate')}, {summary.caught} {_was(summary.caught)} kept out.")
    else:
        parts.append("No candidate was damaged.")
    if sound:
        parts.append(
            f"Of {_count(sound, 'sound candidate')}, {summary.false_alarms} {_was(summary.false_alarms)} turned away."
        )
    if summary.truth_unknown:
        parts.append(f"The truth about {_count(summary.truth_unknown, 'candidate')} is not known.")
    if summary.final_damaged is not None:
        value = f" (truth {summary.final_truth:.4g})" if summary.final_truth is not None else ""
        parts.append(f"The last accepted image is {'damaged' if summary.final_damaged else 'sound'}{value}.")
    return " ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _was(number: int | None) -> str:
    return "was" if number == 1 else "were"
