"""Evaluators that scored the runs of a study afterwards, against the truth: which would have caught the damage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from turngate.traces.analysis.later_view import later_names, with_later
from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.run.rescored import Key, Later, LaterScores, read_later
from turngate.traces.analysis.run_measures import measure_run
from turngate.traces.analysis.study.evaluators import Afterwards, EvaluatorAnswer, answer_evaluators

__all__ = ["answer_later"]


def answer_later(
    by_arm: Mapping[str, Sequence[Measured]], base: Sequence[Measured]
) -> tuple[list[EvaluatorAnswer], list[str]]:
    """Answers as by `answer_evaluators`, marked, and one line about each file of scores that cannot be read."""
    read = {id(one): read_later(one.view) for runs in by_arm.values() for one in runs}
    lines = [
        f"{one.run.arm} {one.run.label}: what was scored afterwards is left out: {read[id(one)].trouble}"
        for runs in by_arm.values()
        for one in runs
        if read[id(one)].trouble
    ]
    found = [one for scores in read.values() for one in scores.evaluators]
    if not found:
        return [], lines
    names = later_names(found)

    def through(one: Measured) -> Measured:
        view = with_later(one.view, read[id(one)].evaluators, names)
        return replace(one, view=view, numbers=measure_run(view))

    seen = {arm: [through(one) for one in runs] for arm, runs in by_arm.items()}
    looked_at = seen[base[0].run.arm] if base else []
    keys = {name: key for key, name in names.items()}
    answers = answer_evaluators(seen, looked_at)
    return [
        one.model_copy(update={"afterwards": _told(keys[one.evaluator], list(read.values()))}) for one in answers
    ], lines


def _told(key: Key, read: Sequence[LaterScores]) -> Afterwards:
    mine: list[Later] = [one for scores in read for one in scores.evaluators if one.key == key]
    images = sum(scores.images for scores in read)
    looked_at = sum(len(one.rows) for one in mine)
    settings = next((dict(one.told["settings"]) for one in mine if one.told.get("settings")), {})
    runs = f" in {len(mine)} of {len(read)} runs" if len(mine) < len(read) else ""
    extent = f"all {images} images" if looked_at == images else f"{looked_at} of {images} images{runs}"
    return Afterwards(
        type=key[0], version=key[1], parameters=key[2], settings=settings, images=images, looked_at=looked_at,
        partial=looked_at < images, extent=extent,
    )  # fmt: skip
