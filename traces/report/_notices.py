"""What a reader should know before trusting the numbers of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from turngate.pages.report.run.settings import models
from turngate.pages.report.thumbnails import Shot
from turngate.traces.analysis.counted import counted
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.run.summary import RunSummary
from turngate.traces.analysis.truth_doubts import truth_doubts
from turngate.traces.report._tally import without_score

__all__ = ["notices"]

_ENDINGS = {
    "stopped": "The run was stopped",
    "attempts_exhausted": "The run used up its attempts",
    "budget_exhausted": "The run used up its budget",
    "waiting": "The run waits for a person",
    "interrupted": "The run was interrupted",
    "failed": "The run failed",
}


def notices(run: RunView, summary: RunSummary, shots: Mapping[str, Shot]) -> list[str]:
    """One line per thing that is not as one would expect."""
    found = []
    if summary.reason:
        found.append(f"{_ENDINGS.get(summary.status, 'The run ended')}: {summary.reason}")
    used = models(run)
    if len(used) > 1:
        changes = ", then ".join(f"{model} from turn {turn}" for model, turn in used)
        found.append(f"The editor's model changed during the run: {changes}.")
    if summary.no_images:
        reasons = Counter(a.row.why or "unknown" for a in run.attempts if a.row.outcome == "no_image")
        listed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        found.append(f"{counted(summary.no_images, 'editor call')} gave no image: {listed}.")
    if summary.no_change:
        found.append(f"{counted(summary.no_change, 'turn')} closed with an unchanged image: not an edit.")
    flags = Counter(flag for attempt in run.attempts for flag in attempt.row.flags)
    found.extend(f"{counted(count, 'candidate')} flagged {flag}." for flag, count in flags.most_common())
    found.extend(told for name in summary.counts if (told := without_score(run, name)))
    found.extend(truth_doubts([run]))
    broken = [shot for shot in shots.values() if shot.thumbnail is None]
    if broken:
        found.append(f"{counted(len(broken), 'image')} cannot be shown: {broken[0].sha256[:12]}: {broken[0].problem}.")
    return found
