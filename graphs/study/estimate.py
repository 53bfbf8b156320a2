"""What a study will take, before it runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from turngate.agent.editor import EditRequest
from turngate.evaluators.scoring import score
from turngate.graphs.components import Components, build_components
from turngate.graphs.config import RunConfig
from turngate.graphs.measure_step import origin_sample
from turngate.graphs.origin import load_origin
from turngate.graphs.study.plan import Study
from turngate.picture import Picture

__all__ = ["StudyEstimate", "estimate"]


@dataclass(frozen=True)
class StudyEstimate:
    """Size of a study. Upper bounds count every attempt of every turn."""

    runs: int
    turns: int
    calls_at_most: int
    """Editor calls if every turn took all its attempts."""
    paid_calls_at_most: int
    usd_at_most: float | None
    """List price of the paid calls; None when a price is not known."""
    seconds: float | None
    """Wall time of one attempt per turn, one run at a time; None when a paid editor is among them."""


def estimate(study: Study, components: Mapping[Path, Components], probe: bool) -> StudyEstimate:
    """Count the runs, and with `probe` time one edit and one scoring per kind of run: it takes some seconds.

    `components` are those of every run, as `check_study` gives them.
    """
    turns = calls = paid_calls = 0
    usd: float | None = 0.0
    seconds: float | None = 0.0 if probe else None
    timed: dict[str, float] = {}
    for job in study.jobs:
        config, editor = job.config, components[job.path].editor
        turns += config.turns
        at_most = config.turns * config.on_reject.attempts
        calls += at_most
        if editor.paid:
            paid_calls += at_most
            price = getattr(editor, "typical_usd", None)
            usd = None if usd is None or price is None else usd + at_most * price
            seconds = None
        elif seconds is not None:
            key = config.model_dump_json(
                include={"editor", "origin", "evaluators", "truth", "more_truths", "gate", "scenario", "on_reject"}
            )
            if key not in timed:  # components with weights are built here, and let go before the next ones
                timed[key] = _probe(config, build_components(config))
            seconds += config.turns * timed[key]
    return StudyEstimate(len(study.jobs), turns, calls, paid_calls, usd, seconds)


def _probe(config: RunConfig, components: Components) -> float:
    """Seconds of one attempt, measured on the second of two: the first also loads what is loaded once."""
    origin = load_origin(config.origin)
    for _ in range(2):
        started = time.perf_counter()
        answer = components.editor.edit(EditRequest((origin,), components.scenario.instruction(1).text, 1, 1, 1))
        data = getattr(answer, "data", None)
        candidate = getattr(answer, "picture", None) or (Picture.from_bytes(data) if data else origin)
        sample = replace(origin_sample(origin), candidate=candidate)
        for evaluator in (*components.evaluators.values(), *filter(None, components.truths.values())):
            score(evaluator, [sample])
        spent = time.perf_counter() - started
    return spent
