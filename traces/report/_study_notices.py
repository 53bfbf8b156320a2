"""What a reader should know before trusting the numbers of a study."""

from __future__ import annotations

from collections import Counter, defaultdict

from turngate.traces.analysis.counted import counted
from turngate.traces.analysis.later_view import MARK
from turngate.traces.analysis.study.answer import StudyAnswer

__all__ = ["study_notices"]

_WHOLE = {"complete"}
_FEW = 5


def study_notices(answer: StudyAnswer) -> list[str]:
    """One line per thing that is not as one would expect."""
    found = []
    if answer.origins < _FEW:
        origins = "1 origin: there are no intervals" if answer.origins == 1 else f"{answer.origins} origins: intervals"
        found.append(f"{origins}{'' if answer.origins == 1 else ' and p values are too rough to rest on'}.")
    if len(answer.truth) > 1:
        found.append(f"The runs measure truth in {len(answer.truth)} ways: {'; '.join(answer.truth)}.")
    if answer.missing:
        more = f" and {len(answer.missing) - 3} more" if len(answer.missing) > 3 else ""
        found.append(f"{counted(len(answer.missing), 'run')} never begun: {', '.join(answer.missing[:3])}{more}.")
    statuses: Counter[str] = Counter()
    for arm in answer.arms:
        statuses.update({status: n for status, n in arm.statuses.items() if status not in _WHOLE})
    found.extend(
        f"{counted(number, 'run')} {status.replace('_', ' ')}: counted as far as they got."
        for status, number in statuses.most_common()
    )
    for title, field in (("candidate", "truth_unknown"), ("editor call", "no_images")):
        number = sum(getattr(arm, field) for arm in answer.arms)
        if number:
            what = "whose truth could not be measured" if field == "truth_unknown" else "that gave no image"
            found.append(f"{counted(number, title)} {what}.")
    found.extend([*answer.remarks, *(remark for arm in answer.failures for remark in arm.remarks)])
    parts: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for one in answer.evaluators:
        if one.afterwards is not None and one.afterwards.partial:
            parts[one.afterwards.extent, one.candidates, one.of_candidates].append(one.evaluator.removesuffix(MARK))
    found.extend(
        f"{', '.join(names)}{MARK} looked at a part only, {extent}: an AUC over {known} of {every} candidates is not "
        "that of all."
        for (extent, known, every), names in parts.items()
    )
    measures = {truth.partition(",")[0] for truth in answer.truth}
    for one in answer.evaluators:
        counts = one.counts
        if (one.afterwards.type if one.afterwards else one.evaluator) in measures:
            found.append(f"{one.evaluator} is what the truth is measured by: its AUC is no merit.")
        if counts.unscored or counts.failed:
            found.append(
                f"{one.evaluator} gave no score for {counted(counts.unscored + counts.failed, 'candidate')}: "
                f"{counts.unscored} unscored, {counts.failed} failed."
            )
    return found
