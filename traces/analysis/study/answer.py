"""The answer of a study: per truth, arm, evaluator and failure, with intervals that respect the origins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turngate.errors import counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.failures import LABEL_FILE, RunFailures, find_failures
from turngate.traces.analysis.html import paragraph, table_html
from turngate.traces.analysis.labels import Labels, agreements, verdicts_of
from turngate.traces.analysis.run import calibration_origins, truth_doubts, truth_seen_by_gate, truth_unit
from turngate.traces.analysis.statistics import Estimate, cluster_share, smallest_p
from turngate.traces.analysis.study.arms import ArmAnswer, answer_arm
from turngate.traces.analysis.study.evaluators import (
    EvaluatorAnswer,
    answer_evaluators,
    answer_rescored,
    unreadable_scores,
)
from turngate.traces.analysis.study.loaded import LoadedRun, LoadedStudy, by_arm, load_study, seen_through
from turngate.traces.analysis.study.pairs import (
    ArmDifference,
    SensitivityRow,
    TruthDisagreement,
    disagreements,
    pair_arms,
    sensitivity_at,
    unbeaten_arms,
)
from turngate.traces.analysis.study.study_view import StudyView
from turngate.traces.analysis.study.summaries import ReasoningAnswer, answer_reasoning
from turngate.traces.analysis.study.tables import (
    arm_legend,
    arm_rows,
    difference_rows,
    evaluator_rows,
    matched_rows,
    study_truth_words,
    verdict_lines,
)
from turngate.traces.analysis.taxonomy import FAILURES, FailureLevel, FailureName

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import SummaryReader

__all__ = [
    "NO_GATE",
    "FailureAnswer",
    "StudyAnswer",
    "TaxonomyAnswer",
    "TruthAnswer",
    "answer_failures",
    "answer_study",
]


class FailureAnswer(FrozenModel):
    """One failure over the candidates of an arm."""

    name: FailureName
    level: FailureLevel
    measured: int
    """Candidates that a measuring source could judge; 0 means not measured, not absent."""
    found: int
    """Those among them that show it."""
    share: Estimate
    """Mean over origins of the share that is found; the interval is 95 %, from 5 origins on."""
    runs: int
    """Runs in which it was found, by any source."""
    first_turns: list[int]
    """First turn of each of these, sorted."""
    labelled: int
    """Candidates that a label file gives it; they are in none of the counts of what was measured."""
    sources: list[str]
    """What the judgements were read from."""


class TaxonomyAnswer(FrozenModel):
    """All failures of an arm."""

    arm: str
    simulated_runs: int
    """Runs of a simulator: its failures were written by hand."""
    runs: int
    failures: list[FailureAnswer]
    """In the order of the taxonomy."""
    remarks: list[str]
    """Rows of the label file that have no image in their run, and images that people disagree about."""


def answer_failures(arm: str, runs: Sequence[LoadedRun], labels: Labels | None = None) -> TaxonomyAnswer:
    """Add up the runs of one arm."""
    found = [(one, find_failures(one.view, labels)) for one in runs]
    remarks = [remark for one in runs for remark in labels.of(one.view).remarks] if labels is not None else []
    return TaxonomyAnswer(
        arm=arm,
        simulated_runs=sum(one.summary.simulated for one in runs),
        runs=len(runs),
        failures=[_answer(name, found) for name in FAILURES],
        remarks=remarks,
    )


def _answer(name: FailureName, runs: Sequence[tuple[LoadedRun, RunFailures]]) -> FailureAnswer:
    groups: dict[str, list[dict[tuple[int, int], bool]]] = {}
    for one, failures in runs:
        if places := failures.measured(name):
            groups.setdefault(one.cluster, []).append(places)
    everything = [judgement for _, failures in runs for judgement in failures.judgements if judgement.name == name]
    turns = [[judgement.turn for judgement in failures.found(name)] for _, failures in runs]
    measured = [places for group in groups.values() for places in group]
    return FailureAnswer(
        name=name,
        level=FAILURES[name].level,
        measured=sum(map(len, measured)),
        found=sum(sum(places.values()) for places in measured),
        share=cluster_share(
            {name: [(sum(places.values()), len(places)) for places in found_in] for name, found_in in groups.items()}
        ),
        runs=sum(map(bool, turns)),
        first_turns=sorted(min(found) for found in turns if found),
        labelled=sum(judgement.source == LABEL_FILE for judgement in everything),
        sources=sorted({judgement.source for judgement in everything}),
    )


NO_GATE = "no-gate"
"""Name of the control arm without a gate; an own arm whose gate accepts everything takes its place where it is not."""


class TruthAnswer(FrozenModel):
    """What one truth says of all arms."""

    truth_name: str
    """`truth` for the leading one of the configuration, `labels` for people's verdicts, else its name there."""
    truth: list[str]
    """How it was measured, and the threshold; more than one when runs differ, none when it was not measured."""
    truth_better: str | None
    """`higher` or `lower`: which way its values are better."""
    truth_unit: str
    """Unit of its values; empty where they have none."""
    seen_by_gate: list[str]
    """Arms whose gate knew something of this truth: they were judged by their own ruler."""
    arms: list[ArmAnswer]
    pairs: list[ArmDifference]
    """Every other arm against the one without a gate."""
    unbeaten: list[str]
    """Own arms that no other own arm is as good as on both axes and better than on one; empty where a recorded chain
    diverged, for then the arms' rates are over different turns."""
    evaluators: list[EvaluatorAnswer]
    """Those of the runs, then those that scored the runs after them (`rescored` is set)."""
    sensitivity: list[SensitivityRow]
    """The same under other thresholds of damaged; of the leading truth only."""


class StudyAnswer(TruthAnswer):
    """Everything that a study found, as the leading truth says it, and the other truths beside it."""

    study: str
    question: str
    origins: int
    """Different pictures among the origins: clusters of the intervals."""
    smallest_p: float | None
    """Smallest p that this number of origins can give, before any correction; None with few origins."""
    tests: int
    """Tests that p is corrected for: both axes of every own arm that has a p."""
    smallest_p_alone: float | None
    """What is left of it after the correction where one difference alone is that small: `smallest_p` times `tests`, at
    most 1. None with few origins or without an own arm that has a p."""
    base: str | None
    """The arm without a gate that others are held against; None when the study has none."""
    more_truths: list[TruthAnswer]
    disagreements: list[TruthDisagreement]
    """Where the leading truth and each other one disagree."""
    reasoning: list[ReasoningAnswer]
    """What the reasoning summaries of each arm are worth; arms without a summary that was read are left out."""
    failures: list[TaxonomyAnswer]
    """Failures of the taxonomy, per arm."""
    missing: list[str]
    """Planned runs that were never begun."""
    remarks: list[str]
    """What a reader must know before the numbers: one sentence each."""

    def _repr_html_(self) -> str:
        parts = [paragraph(self.question), paragraph(study_truth_words(self))]
        parts += [paragraph(line) for line in verdict_lines(self)]
        parts += [table_html(arm_rows(self.arms)), paragraph(arm_legend(self))]
        parts.append(table_html(difference_rows(self), "Against the arm without a gate, on the same cells:"))
        parts.append(table_html(matched_rows(self), "Truth after the n-th accepted edit, median:"))
        parts.append(table_html(evaluator_rows(self), f"Evaluators against truth, within the runs of {self.base}:"))
        return "".join([*parts, *map(paragraph, self.remarks)])


def read_answer(folder: str | Path) -> StudyAnswer:
    """What the study in `folder` found; raises `NoSuchRun` when there is none, `DamagedRun` when it cannot be read."""
    return answer_study(load_study(StudyView.load(Path(folder))))


def answer_study(loaded: LoadedStudy, reader: SummaryReader | None = None) -> StudyAnswer:
    """Count over all runs. `reader` reads the reasoning summaries; without one they are left out."""
    study, labels, runs = loaded.study, loaded.labels, loaded.runs
    arms = by_arm(runs)
    base = base_arm(arms)
    # A person's verdict is no value that another threshold could cut.
    thresholds = study.config.get("sensitivity", []) if labels is None else []
    origins = len({one.cluster for one in runs})
    lead = _answer_truth(loaded, runs, base, [float(one) for one in thresholds])
    names = [name for name in loaded.truths if name != lead.truth_name]
    others = [_answer_truth(loaded, seen_through(runs, name), base, []) for name in names]
    lowest = smallest_p(origins)
    tests = sum(p is not None for pair in lead.pairs for p in (pair.progress_p, pair.exposure_p))
    return StudyAnswer(
        **dict(lead),
        study=str(study.config["name"]),
        question=str(study.config["question"]),
        origins=origins,
        smallest_p=lowest,
        tests=tests,
        smallest_p_alone=min(1.0, lowest * tests) if lowest is not None and tests else None,
        base=base,
        more_truths=others,
        disagreements=disagreements(loaded, names),
        reasoning=_reasoning(arms, reader),
        failures=[answer_failures(arm, of_arm, labels) for arm, of_arm in arms.items()],
        missing=[f"{run.arm} {run.label}" for run in study.runs if not run.exists()],
        remarks=[
            *_replayed(runs),
            *_same_pictures(loaded),
            *_unequal(runs),
            *_calibrated_here(arms),
            *_seen_by_gate(lead),
            *_of_people(labels, runs),
            *truth_doubts(one.view for one in runs),
            *unreadable_scores(loaded),
        ],
    )


def _of_people(labels: Labels | None, runs: Sequence[LoadedRun]) -> list[str]:
    """Rows of the label file that mean no run, and how well every two people agree."""
    if labels is None:
        return []
    views = [one.view for one in runs]
    return [*labels.strangers(views), *(f"{one.words}." for one in agreements(verdicts_of(labels, views)))]


def base_arm(arms: Mapping[str, Sequence[LoadedRun]]) -> str | None:
    """The arm without a gate: the control of that name, else the first own arm whose gate accepts everything.

    An own arm may have that name as well; it stands in the control's place where it has no gate.
    """
    if NO_GATE in arms and not any(one.gated for one in arms[NO_GATE]):
        return NO_GATE
    open_arms = (arm for arm, runs in arms.items() if not runs[0].run.control and not any(one.gated for one in runs))
    return next(open_arms, None)


def _answer_truth(
    loaded: LoadedStudy, runs: Sequence[LoadedRun], base: str | None, thresholds: Sequence[float]
) -> TruthAnswer:
    arms = by_arm(runs)
    ungated = arms.get(base, []) if base is not None else []
    higher = {one.truth_direction == "higher" for one in runs if one.summary.truth}
    ordered = [answer_arm(arm, arms[arm]) for arm in loaded.study.arms() if arm in arms]
    seen = runs[0].view.seen if runs else ""
    rescored = loaded.rescored_runs if seen == (loaded.runs[0].view.seen if loaded.runs else "") else []
    return TruthAnswer(
        truth_name=seen,
        truth=sorted({truth for one in runs if (truth := one.summary.truth)}),
        truth_better=None if len(higher) != 1 else "higher" if higher.pop() else "lower",
        truth_unit=next((unit for one in runs if (unit := truth_unit(one.view))), ""),
        seen_by_gate=[arm for arm, of_arm in arms.items() if any(truth_seen_by_gate(one.view) for one in of_arm)],
        arms=ordered,
        pairs=pair_arms(arms, ungated),
        unbeaten=[] if any(one.answer.diverged_turn is not None for one in runs) else unbeaten_arms(ordered),
        evaluators=[*answer_evaluators(arms, ungated), *(answer_rescored(loaded, base) if rescored else [])],
        sensitivity=[row for damaged_at in thresholds for row in sensitivity_at(arms, damaged_at)],
    )


def _reasoning(arms: Mapping[str, Sequence[LoadedRun]], reader: SummaryReader | None) -> list[ReasoningAnswer]:
    if reader is None:
        return []
    answers = (answer_reasoning(arm, runs, reader) for arm, runs in arms.items())
    return [answer for answer in answers if answer.counts.read]


# What a reader must know before the numbers.


def _same_pictures(loaded: LoadedStudy) -> list[str]:
    return [
        f"Origins {', '.join(names)} are one picture, pixel for pixel: they count as one origin."
        for names in loaded.same_pictures
    ]


def _unequal(runs: Sequence[LoadedRun]) -> list[str]:
    """Runs that are not whole: they are counted over their planned turns, and that must be said."""
    found = []
    short: Counter[tuple[str, str]] = Counter(
        (one.run.arm, one.summary.status) for one in runs if one.answer.turns.not_reached
    )
    for (arm, status), number in short.items():
        found.append(
            f"{arm}: {counted(number, 'run')} ended before the last planned turn ({status.replace('_', ' ')}): the "
            "turns not reached count, with the image that stood at the end."
        )
    at_work = sum(one.answer.going_on for one in runs)
    if at_work:
        found.append(
            f"{counted(at_work, 'run')} still at work or interrupted: counted as far as it got, not comparable yet."
        )
    planned = sorted({one.view.config.turns for one in runs})
    if len(planned) > 1:
        lengths = ", ".join(map(str, planned))
        found.append(f"Runs plan different numbers of turns ({lengths}): differences to no gate are over equal turns.")
    diverged = Counter(one.run.arm for one in runs if one.answer.diverged_turn is not None)
    for arm, number in diverged.items():
        of_arm = [one.answer for one in runs if one.run.arm == arm]
        unknown, turns = sum(one.turns.unknown for one in of_arm), sum(one.planned for one in of_arm)
        found.append(
            f"{arm}: in {counted(number, 'run')} the recorded chain diverged; {counted(unknown, 'turn')} beyond that "
            f"point are unknown and in no rate: its numbers are over the other {turns - unknown} of "
            f"{counted(turns, 'turn')}."
        )
    if diverged:
        found.append("Rates of arms that diverged are over different turns: no arm is named as unbeaten.")
    return found


def _replayed(runs: Sequence[LoadedRun]) -> list[str]:
    """What recorded chains can say, and what not."""
    replayed = [one for one in runs if one.view.replayed]
    if not replayed:
        return []
    which = "All runs serve" if len(replayed) == len(runs) else f"{counted(len(replayed), 'run')} of {len(runs)} serve"
    found = [f"{which} recorded chains: nothing was edited, every turn brings the frame that was recorded."]
    if any(one.gated for one in replayed):
        found.append(
            "Gates are compared by replay: where one refuses a frame that was kept then, the next ones were made from "
            "another image. Each run counts up to there, and differences to no gate are over the turns before it."
        )
    lost = sum(attempt.row.not_on_record for one in replayed for attempt in one.view.attempts)
    if lost:
        found.append(f"{counted(lost, 'turn')} of recorded chains have no image that can be read: unknown, in no rate.")
    return found


def _calibrated_here(arms: Mapping[str, Sequence[LoadedRun]]) -> list[str]:
    found = []
    for arm, runs in arms.items():
        names = sorted({one.run.origin or "its origin" for one in runs if _on_own_origin(one)})
        if names:
            found.append(
                f"{arm}: its gate was calibrated on {', '.join(names)} and is judged there: not out of sample."
            )
    return found


def _on_own_origin(run: LoadedRun) -> bool:
    return run.picture in calibration_origins(run.view)


def _seen_by_gate(answer: TruthAnswer) -> list[str]:
    own = [arm.arm for arm in answer.arms if arm.arm in answer.seen_by_gate and not arm.control]
    return [f"{', '.join(own)}: the gate reads what the truth is measured by: judged by its own ruler."] if own else []
