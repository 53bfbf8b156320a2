"""Several evaluators as one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from turngate.component import ComponentConfig
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS
from turngate.evaluators.ensemble.joining import Average, Joining, Ranked, VoteJoin
from turngate.evaluators.evaluator import EvalInput, Evaluator, EvaluatorInput, Facts
from turngate.evaluators.result import IDENTICAL, EvaluationUsage, Failed, Result, Score, Skipped, Unscored
from turngate.evaluators.scoring import score

__all__ = ["Ensemble", "EnsembleConfig"]

_COUNTS: Mapping[type, str] = {Score: "scored", Unscored: "unscored", Failed: "failed", Skipped: "skipped"}


class EnsembleConfig(ComponentConfig):
    """Who belongs to it, and how their scores become one."""

    rule: Literal["mean", "median", "min", "majority", "veto", "rank_mean"]
    """`min` is the worst member. `majority` and `veto` are 1 or 0. `rank_mean`: mean over the members of the share of
    accepted images that the candidate is at least as good as (ties count half)."""
    members: dict[str, SerializeAsAny[ComponentConfig]] = Field(min_length=1, max_length=50)
    """Name -> evaluator."""
    scale: Literal["raw", "range"] = "raw"
    """For `mean`, `median`, `min`: values as they are, which needs members of one direction, or each member's range
    brought to 0 (worst) .. 1 (best)."""
    ranges: dict[str, tuple[float, float]] = Field(default={})
    """For `scale: range`: lowest and highest value of a member, instead of what its facts say."""
    at: dict[str, float] = Field(default={})
    """For `majority`, `veto`: the worst value with which a member says yes, in its own unit; every member needs one."""
    need: Literal["all"] | int = "all"
    """How many members must have scored; otherwise the ensemble gives no score. A veto holds even when others are
    missing."""

    @field_validator("members", mode="before")
    @classmethod
    def _members(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        return {name: EVALUATORS.configure(item, f"members.{name}") for name, item in raw.items()}

    @model_validator(mode="after")
    def _sound(self) -> EnsembleConfig:
        problem = next(self._problems(), None)
        if problem:
            raise ConfigError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        names = set(self.members)
        averages, votes = self.rule in ("mean", "median", "min"), self.rule in ("majority", "veto")
        for name in self.members:
            if "." in name or name in (*_COUNTS.values(), "share"):
                yield f"members.{name}: take another name"
        if self.scale == "range" and not averages:
            yield f"scale: {self.rule} does not depend on a scale, leave it out"
        for field, wanted in (("ranges", self.scale == "range"), ("at", votes)):
            for name in getattr(self, field):
                if not wanted:
                    yield f"{field}: it means nothing here, leave it out"
                if name not in names:
                    yield f"{field}.{name}: there is no such member; there are: {', '.join(self.members)}"
        for name in names - set(self.at) if votes else ():
            yield f"at.{name}: is missing: with `{self.rule}` every member needs a mark"
        for name, (low, high) in self.ranges.items():
            if not low < high:
                yield f"ranges.{name}: it goes from low to high"
        if isinstance(self.need, int) and not 1 <= self.need <= len(names):
            yield f"need: `all` or a number from 1 to {len(names)}, not {self.need}"


class Ensemble:
    """Mean, median, worst, majority, veto or mean rank of several evaluators, each a component of the score."""

    Config: ClassVar[type[ComponentConfig]] = EnsembleConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: EnsembleConfig, make: Callable[[ComponentConfig], Evaluator] = EVALUATORS.build) -> None:
        """Make the members; raises what they raise, and `ConfigError` for members that the rule cannot join."""
        self.config = config
        self.members: dict[str, Evaluator] = {name: make(one) for name, one in config.members.items()}
        if config.rule == "rank_mean":
            self.members = {name: Ranked(one, f"{config.type}.members.{name}") for name, one in self.members.items()}
        known = {name: one.facts for name, one in self.members.items()}
        self._joining = _joining(config, known)
        self.facts = _facts(config, known, self._joining)
        self._need = len(known) if config.need == "all" else config.need

    @classmethod
    def outline(cls, config: EnsembleConfig) -> Ensemble:
        """The ensemble of its members' outlines."""
        return cls(config, EVALUATORS.outline)

    @property
    def prices(self) -> Mapping[str, object] | None:
        """Prices of the members that are paid; None when one of them is not known, so that no money can be counted."""
        known = {name: getattr(one, "prices", None) for name, one in self.members.items() if one.facts.paid}
        return None if None in known.values() else known

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Every member scores the whole batch. Too few scores give `Failed` if a member failed, else `Unscored`."""
        columns = {name: score(member, batch) for name, member in self.members.items()}
        return [self._one({name: column[row] for name, column in columns.items()}) for row in range(len(batch))]

    def _one(self, results: Mapping[str, Result]) -> Result:
        scores = {name: result for name, result in results.items() if isinstance(result, Score)}
        values = {name: result.value for name, result in scores.items()}
        usage = sum(
            (one.usage for one in results.values() if not isinstance(one, Skipped) and one.usage), EvaluationUsage()
        )
        flags = tuple(
            f"{name}:{flag}" for name, one in results.items() if not isinstance(one, Skipped) for flag in one.flags
        )
        answers = tuple(text for one in results.values() if not isinstance(one, Skipped) for text in one.answers)
        if len(values) < self._need and not (values and self._joining.settled(values)):
            return replace(_too_few(results, self._need), flags=flags, usage=usage, answers=answers)
        if all(IDENTICAL in one.flags for one in scores.values()):
            flags = (*flags, IDENTICAL)
        joined = self._joining.join(values)
        counts = Counter(_COUNTS[type(result)] for result in results.values())
        inner = {f"{name}.{key}": value for name, one in scores.items() for key, value in one.components.items()}
        return Score(
            joined.value,
            joined.label,
            "\n".join(f"{name}: {_described(result)}" for name, result in results.items()),
            {**values, **inner, **joined.components, **{word: float(counts[word]) for word in _COUNTS.values()}},
            flags,
            usage if usage.calls or usage.waited_seconds else None,
            answers,
        )


def _joining(config: EnsembleConfig, facts: Mapping[str, Facts]) -> Joining:
    match config.rule:
        case "majority" | "veto":
            return VoteJoin(config.rule, config.at, facts)
        case "rank_mean":
            return Average("mean", False, {}, facts)
    try:
        return Average(config.rule, config.scale == "range", config.ranges, facts)
    except ConfigError as error:
        raise ConfigError(f"{config.type}.{error}") from None


def _facts(config: EnsembleConfig, members: Mapping[str, Facts], joining: Joining) -> Facts:
    known = sorted((name, config.members[name].type, one.version) for name, one in members.items())
    return Facts(
        name=config.type,
        version=f"1+{hashlib.sha256(repr(known).encode()).hexdigest()[:8]}",
        direction=joining.direction,
        range=joining.bounds,
        range_is_approximate=joining.approximate,
        deterministic=all(one.deterministic for one in members.values()),
        batch_invariant=all(one.batch_invariant for one in members.values()),
        tolerance=max(one.tolerance for one in members.values()),
        inputs=frozenset[EvaluatorInput]().union(*(one.inputs for one in members.values())),
        paid=any(one.paid for one in members.values()),
        weights="; ".join(dict.fromkeys(one.weights for one in members.values())),
        weights_licence="; ".join(dict.fromkeys(one.weights_licence for one in members.values())),
        judge=all(one.judge for one in members.values()),
        looks_at_the_rest=all(one.looks_at_the_rest for one in members.values()),
        source=f"{config.rule} of {', '.join(one.name for one in members.values())}",
    )


def _too_few(results: Mapping[str, Result], need: int) -> Unscored | Failed:
    missing = {name: result for name, result in results.items() if not isinstance(result, Score)}
    listed = "; ".join(f"{name}: {_described(result)}" for name, result in missing.items())
    detail = f"{len(results) - len(missing)} of {len(results)} members scored, {need} must: {listed}"[:1000]
    failed = [result for result in missing.values() if isinstance(result, Failed)]
    if failed:
        return Failed(failed[0].fault, "members", detail)
    whys = {result.why for result in missing.values() if isinstance(result, Unscored)}
    return Unscored(whys.pop() if len(whys) == 1 else "undefined", detail)


def _described(result: Result) -> str:
    match result:
        case Score():
            return f"{result.value:g}" + (f" ({result.label})" if result.label else "")
        case Unscored():
            return f"unscored ({result.why}) {result.detail}".strip()
        case Failed():
            return f"failed ({result.error}) {result.detail}".strip()
        case Skipped():
            return f"skipped ({result.why})"
