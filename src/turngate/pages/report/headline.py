"""The answer in words."""

from __future__ import annotations

from turngate.traces.analysis.run import RunSummary
from turngate.traces.analysis.statistics import counted
from turngate.traces.analysis.study import NO_GATE, ArmAnswer, StudyAnswer

__all__ = ["headline", "second_line", "study_headline"]

_OPEN = {"running", "waiting", "interrupted"}


def headline(summary: RunSummary) -> str:
    """One sentence: what the gate accepted, what got through, and whether the run collapsed."""
    if summary.turns == 0:
        return f"No turn was closed{' yet' if summary.status in _OPEN else ''} ({summary.turns_planned} planned)."
    lead = f"accepted {summary.accepted} of {counted(summary.turns, 'turn')}"
    planned = f" ({summary.turns_planned} planned)" if summary.turns < summary.turns_planned else ""
    subject = "So far the gate" if summary.status in _OPEN else "The gate"
    if summary.truth is None:
        forced = f"; {summary.forced} more went in against its verdict" if summary.forced else ""
        return f"{subject} {lead}{planned}{forced}. No truth was measured, so the damage is not known."
    through = counted(summary.propagated or 0, "damaged image") if summary.propagated else "no damaged image"
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
        parts.append(f"Of {counted(damaged, 'damaged candidate')}, {summary.caught} {_was(summary.caught)} kept out.")
    else:
        parts.append("No candidate was damaged.")
    if sound:
        parts.append(
            f"Of {counted(sound, 'sound candidate')}, {summary.false_alarms} {_was(summary.false_alarms)} turned away."
        )
    if summary.truth_unknown:
        parts.append(f"The truth about {counted(summary.truth_unknown, 'candidate')} is not known.")
    if summary.final_damaged is not None:
        value = f" (truth {summary.final_truth:.4g})" if summary.final_truth is not None else ""
        parts.append(f"The last accepted image is {'damaged' if summary.final_damaged else 'sound'}{value}.")
    return " ".join(parts)


def study_headline(answer: StudyAnswer) -> str:
    """Which arm let the least damage through, beside what happens without a gate and with a random one."""
    if not answer.truth:
        return "No truth was measured, so what got through is not known."
    own = [arm for arm in answer.arms if not arm.control and arm.propagated_share.value is not None]
    if not own:
        return "No gate of the study let a new image through."
    least = min(arm.propagated_share.value or 0.0 for arm in own)
    best = [arm for arm in own if (arm.propagated_share.value or 0.0) == least]
    if len(own) == 1:
        lead = f"With {best[0].arm}, {_of_new(best[0])}"
    elif len(best) == 1:
        lead = f"{best[0].arm} let the least damage through: {_of_new(best[0])}"
    elif len(best) == len(own):
        lead = f"All gates let the same share of damage through: {_of_new(best[0])}"
    else:
        lead = f"{', '.join(arm.arm for arm in best)} let the least damage through: {_of_new(best[0])}"
    words = {NO_GATE: "without a gate", "random": "with a random one"}
    beside = [
        f"{arm.propagated_share.value:.0%} {words[arm.arm]}"
        for arm in answer.arms
        if arm.control and arm.arm in words and arm.propagated_share.value is not None
    ]
    end = f"; it took a new image in {best[0].accepted_share.value:.0%} of its turns" if len(best) == 1 else ""
    return f"{lead}{', against ' if beside else ''}{' and '.join(beside)}{end}."


def _of_new(arm: ArmAnswer) -> str:
    share = arm.propagated_share
    interval = "" if share.low is None or share.high is None else f" [{share.low * 100:.0f}, {share.high * 100:.0f}]"
    return f"{share.value:.0%}{interval} of the new images are damaged"


def _was(number: int | None) -> str:
    return "was" if number == 1 else "were"
