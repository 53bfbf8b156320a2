"""How several evaluators' scores become one number: averages over a common scale, and votes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from turngate.errors import ConfigError
from turngate.evaluators.evaluator import Direction, EvalInput, Evaluator, Facts
from turngate.evaluators.result import Result, Score, Unscored, mean_score
from turngate.evaluators.scoring import score

__all__ = ["Average", "Joining", "Ranked", "VoteJoin"]


@dataclass(frozen=True)
class Joined:
    """One number made of several, and what it is made of."""

    value: float
    label: str | None = None
    components: Mapping[str, float] = field(default_factory=dict)


class Joining(Protocol):
    """Joins the values of those members that scored."""

    direction: Direction
    bounds: tuple[float, float]
    approximate: bool
    """Whether values outside `bounds` can occur."""

    def join(self, values: Mapping[str, float]) -> Joined:
        """`values` by member, each in the member's own unit; at least one."""
        ...

    def settled(self, values: Mapping[str, float]) -> bool:
        """Whether more members could not change the outcome."""
        ...


class Average:
    """Mean, median or worst, of values as they are or of each member's range brought to 0 (worst) .. 1 (best)."""

    def __init__(
        self,
        rule: Literal["mean", "median", "min"],
        scaled: bool,
        ranges: Mapping[str, tuple[float, float]],
        facts: Mapping[str, Facts],
    ) -> None:
        """Raises `ConfigError` for members that have no common scale."""
        self._rule = rule
        self._facts = facts
        self._ranges = {name: ranges.get(name, one.range) for name, one in facts.items()} if scaled else None
        directions = {one.direction for one in facts.values()}
        if self._ranges is None:
            if len(directions) > 1:
                raise ConfigError("scale: members are better in different directions: use `scale: range`")
            self.direction: Direction = directions.pop()
            self.bounds = min(one.range[0] for one in facts.values()), max(one.range[1] for one in facts.values())
            self.approximate = any(one.range_is_approximate for one in facts.values())
            return
        for name, bounds in self._ranges.items():
            if not all(map(math.isfinite, bounds)):
                raise ConfigError(f"ranges.{name}: is missing: {facts[name].name} has no finite range of its own")
        self.direction = "higher"
        self.bounds = (0.0, 1.0)
        self.approximate = any(
            self._ranges[name] != one.range or one.range_is_approximate for name, one in facts.items()
        )

    def join(self, values: Mapping[str, float]) -> Joined:
        """The average; with ranges its components are the scaled values, as `NAME.scaled`."""
        good = {name: self._goodness(name, value) for name, value in values.items()}
        match self._rule:
            case "mean":
                joined = mean_score(good.values())
            case "median":
                joined = statistics.median(good.values())
            case "min":
                joined = min(good.values())
        if self._ranges is not None:
            return Joined(joined, components={f"{name}.scaled": value for name, value in good.items()})
        return Joined(joined if self.direction == "higher" else -joined)

    def settled(self, values: Mapping[str, float]) -> bool:
        """Never: any member moves an average."""
        return False

    def _goodness(self, name: str, value: float) -> float:
        higher = self._facts[name].direction == "higher"
        if self._ranges is None:
            return value if higher else -value
        low, high = self._ranges[name]
        share = (value - low) / (high - low)
        return share if higher else 1 - share


class VoteJoin:
    """1 when more than half of the members say yes (`majority`), or when none says no (`veto`); otherwise 0."""

    direction: Direction = "higher"
    bounds = (0.0, 1.0)
    approximate = False

    def __init__(self, rule: Literal["majority", "veto"], at: Mapping[str, float], facts: Mapping[str, Facts]) -> None:
        """`at` is the worst value with which a member says yes, in its own unit."""
        self._rule = rule
        self._at = at
        self._facts = facts

    def join(self, values: Mapping[str, float]) -> Joined:
        """The outcome; components are each member's vote as `NAME.yes`, and the share of yes."""
        votes = {name: self._yes(name, value) for name, value in values.items()}
        share = sum(votes.values()) / len(votes)
        carried = share == 1 if self._rule == "veto" else share > 0.5
        label = "pass" if carried else "veto" if self._rule == "veto" else "fail"
        yes = {f"{name}.yes": float(vote) for name, vote in votes.items()}
        return Joined(float(carried), label, {**yes, "share": share})

    def settled(self, values: Mapping[str, float]) -> bool:
        """A veto holds, whatever the other members say."""
        return self._rule == "veto" and not all(self._yes(name, value) for name, value in values.items())

    def _yes(self, name: str, value: float) -> bool:
        higher = self._facts[name].direction == "higher"
        return value >= self._at[name] if higher else value <= self._at[name]


# An evaluator whose score becomes a rank among the images that were accepted before.


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
        for lost, words in (("instruction", "instructions"), ("edit_boxes", "edit boxes")):
            if lost in facts.inputs:
                raise ConfigError(f"{where}: rank_mean cannot give {facts.name} the {words} of old images")
        self._evaluator = evaluator
        self._known: dict[tuple[str | None, ...], float | None] = {}
        self.facts = replace(
            facts,
            direction="higher",
            range=(0.0, 1.0),
            range_is_approximate=False,
            tolerance=0.0,
            inputs=facts.inputs | {"history"},
        )

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """The rank of each candidate, its value as the component `value`; `Unscored` without accepted images."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
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

    def _value(self, sample: EvalInput) -> float | None:
        pictures = (sample.candidate, sample.origin, sample.first, sample.previous)
        key = tuple(picture.sha256 if picture else None for picture in pictures)
        if key not in self._known:
            result = score(self._evaluator, [sample])[0]
            self._known[key] = result.value if isinstance(result, Score) else None
        return self._known[key]


def _past(sample: EvalInput) -> list[EvalInput]:
    """Each accepted image with the references that it had when it was the candidate."""
    befores = [sample.origin, *sample.history]
    return [
        EvalInput(picture, sample.origin, sample.history[0], befores[number], sample.history[:number])
        for number, picture in enumerate(sample.history)
    ]
