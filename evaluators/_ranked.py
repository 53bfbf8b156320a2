"""An evaluator whose score becomes a rank among the images that were accepted before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turngate.errors import ConfigError
from turngate.evaluators.evaluator import Evaluator, Sample
from turngate.evaluators.result import Result, Score, Unscored
from turngate.evaluators.scoring import score

__all__ = ["Ranked"]


class Ranked:
    """Share of the accepted images that the candidate is at least as good as, ties counted half: 1 beats them all.

    Accepted images are scored again by the evaluator, each with the references that it had, and remembered. So the
    rank depends on the chain, never on what else is in the batch.
    """

    def __init__(self, evaluator: Evaluator, where: str) -> None:
        """Raises `ConfigError` that starts with `where` for an evaluator that cannot score an old image again."""
        facts = evaluator.facts
        if facts.paid or not (facts.deterministic and facts.batch_invariant):
            raise ConfigError(f"{where}: rank_mean scores old images again: {facts.name} is paid or not repeatable")
        if "instruction" in facts.needs:
            raise ConfigError(f"{where}: rank_mean cannot give {facts.name} the instructions of old images")
        self._evaluator = evaluator
        self._known: dict[tuple[str | None, ...], float | None] = {}
        self.facts = replace(
            facts,
            direction="higher",
            range=(0.0, 1.0),
            range_is_approximate=False,
            tolerance=0.0,
            needs=facts.needs | {"history"},
        )

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """The rank of each candidate; the value itself is its part `value`. Without past it is `Unscored`."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: Sample) -> Result:
        result = score(self._evaluator, [sample])[0]
        if not isinstance(result, Score):
            return result
        past = [value for value in map(self._value, _past(sample)) if value is not None]
        if not past:
            return Unscored("no_reference", "no accepted image to rank the candidate against")
        sign = 1 if self._evaluator.facts.direction == "higher" else -1
        beaten = sum(sign * result.value > sign * value for value in past)
        level = sum(result.value == value for value in past)
        return replace(result, value=(beaten + level / 2) / len(past), components={"value": result.value})

    def _value(self, sample: Sample) -> float | None:
        pictures = (sample.candidate, sample.origin, sample.first, sample.previous)
        key = tuple(picture.sha256 if picture else None for picture in pictures)
        if key not in self._known:
            result = score(self._evaluator, [sample])[0]
            self._known[key] = result.value if isinstance(result, Score) else None
        return self._known[key]


def _past(sample: Sample) -> list[Sample]:
    """Each accepted image with the references that it had when it was the candidate."""
    befores = [sample.origin, *sample.history]
    return [
        Sample(picture, sample.origin, sample.history[0], befores[number], sample.history[:number])
        for number, picture in enumerate(sample.history)
    ]
