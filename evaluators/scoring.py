"""The one way to call an evaluator: whatever it does, a typed result comes out per sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turngate.component import SCORED_AT
from turngate.errors import Fault, TurngateError, counted, one_line
from turngate.evaluators.evaluator import EvalInput, Evaluator, Facts
from turngate.evaluators.result import Failed, Result, Score, Skipped, Unscored
from turngate.providers.calling import FATAL
from turngate.weights.torch_device import out_of_memory

__all__ = ["at_its_size", "score"]


def score(evaluator: Evaluator, samples: Sequence[EvalInput]) -> list[Result]:
    """Score a batch; one result per sample, in order. Raises only what would meet every later call too: a used-up
    quota, a refused key, an unknown model.

    Samples that lack what the facts say is needed, or that are too small, are `Unscored` and never reach the
    evaluator. What it raises, a wrong number of results, something that is no result, and a value outside an exact
    range are `Failed`. A batch that raises is scored again sample by sample (unless each call is paid for), so that
    only the guilty sample fails.
    """
    results: list[Result | None] = [_refused(evaluator.facts, sample) for sample in samples]
    asked = [sample for sample, refused in zip(samples, results, strict=True) if refused is None]
    answers = iter(_ask(evaluator, asked))
    return [next(answers) if refused is None else refused for refused in results]


def at_its_size(facts: Facts, result: Result, size: tuple[int, int], origin_size: tuple[int, int] | None) -> Result:
    """`result`, flagged where it is a value without a reference of an image that has not the size of the run's origin.

    Sizes are width and height in pixels; None where there is no origin to compare with.
    """
    if not isinstance(result, Score) or origin_size in (None, size) or facts.inputs & _REFERENCES:
        return result
    return replace(result, flags=(*result.flags, f"{SCORED_AT}:{size[0]}x{size[1]}"))


_REFERENCES = frozenset({"origin", "first", "previous", "history"})


def _refused(facts: Facts, sample: EvalInput) -> Unscored | None:
    given = {
        "origin": sample.origin, "first": sample.first, "previous": sample.previous, "instruction": sample.instruction,
        "edit_boxes": sample.edit_boxes,
    }  # fmt: skip
    missing = sorted(need for need in facts.inputs if need in given and given[need] is None)
    if missing:
        return Unscored("no_reference", f"{facts.name} needs the {' and the '.join(missing)}")
    shortest = min(sample.candidate.width, sample.candidate.height)
    if shortest < facts.min_size:
        return Unscored("too_small", f"{facts.name} needs at least {facts.min_size} pixels, the image has {shortest}")
    return None


def _ask(evaluator: Evaluator, samples: list[EvalInput]) -> list[Result]:
    if not samples:
        return []
    try:
        answers = list(evaluator.evaluate(list(samples)))  # a list of its own: it may use it up
    except FATAL:  # a used-up quota, a wrong key: every later call would fail the same
        raise
    except Exception as error:  # a component of a third party may raise anything; it costs scores, never the run
        if len(samples) > 1 and not evaluator.facts.paid:  # a paid answer is never asked for twice
            return [answer for sample in samples for answer in _ask(evaluator, [sample])]
        return [_failure(error)] * len(samples)
    if len(answers) != len(samples):
        wrong = Failed("us", "result_count", f"{counted(len(answers), 'result')} for {counted(len(samples), 'sample')}")
        return [wrong] * len(samples)
    return [_checked(evaluator.facts, answer) for answer in answers]


def _checked(facts: Facts, answer: object) -> Result:
    if not isinstance(answer, Score | Unscored | Failed | Skipped):
        return Failed("us", "result_type", f"{facts.name} returned {type(answer).__name__}, not a result")
    low, high = facts.range
    if isinstance(answer, Score) and not facts.range_is_approximate and not low <= answer.value <= high:
        return Failed("us", "range", f"{answer.value:g} is outside {low:g}..{high:g}")
    return answer


def _failure(error: Exception) -> Failed:
    fault: Fault = "us"
    if isinstance(error, TurngateError):
        fault = error.fault
    elif isinstance(error, OSError) or out_of_memory(error):
        fault = "machine"
    return Failed(fault, type(error).__name__, one_line(error, 500))
