"""Whether a run's gate was blind to the truth that it is judged by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.records import LEADING_TRUTH

__all__ = ["calibration_origins", "origin_identity", "truth_seen_by_gate"]


def truth_seen_by_gate(run: RunView) -> bool:
    """Whether the gate knew something of the truth in the leading place: then it was judged by its own ruler.

    So it is when the gate reads the truth (the oracle; it is shown the recorded leading one), or reads an evaluator
    that measures the same thing: of the same type, with the same settings but for the alignment, alone or within an
    ensemble. People's verdicts and a simulator's record are never seen otherwise.
    """
    truth = run.config.truth
    if truth is None:
        return False
    reads, reads_truth = _gate(run)
    if reads_truth and run.seen == LEADING_TRUTH:
        return True
    if truth.measure == "simulator":
        return False
    measure = _measure(truth.measure.as_mapping())
    return any(
        measure in map(_measure, _components(part.as_mapping()))
        for name, part in run.config.evaluators.items()
        if name in reads
    )


def _gate(run: RunView) -> tuple[frozenset[str], bool]:
    """Names of the evaluators that the gate reads, and whether it reads the truth."""
    gate = run.info.resolved.gate
    if gate is not None:
        return frozenset(gate.reads), gate.reads_truth
    # Older runs did not record it: a gate names what it reads in its settings, however deep.
    words = frozenset(_words_in(run.config.gate.as_mapping()))
    return words & run.config.evaluators.keys(), "oracle" in words


def _words_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (str(key), *_words_in(item))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words_in(item)


def _components(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """An evaluator and the members of one that is made of several."""
    yield part
    for member in (part.get("members") or {}).values():
        yield from _components(member)


def _measure(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "align"}


# Which picture a run began with, and which pictures its gate was calibrated on: by pixels, not by name.


def origin_identity(run: RunView) -> str:
    """Pixel identity of the run's origin; two names, files or formats of one picture have the same.

    Raises `DamagedRun` when the stored image is missing or was changed.
    """
    return run.folder.images.pixel_identity(run.info.origin.image)


def calibration_origins(run: RunView) -> frozenset[str]:
    """Pixel identities of the origins that the run's gate says it was calibrated on, gates inside it included.

    Empty where the configuration does not say. The gate was judged on its own calibration where `origin_identity(run)`
    is among them.
    """
    return run.config.gate.calibrated_on
