"""Whether a judge that compares two images looks at them, or names the one in a place: pairs asked in both orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import computed_field

from turngate.errors import counted
from turngate.frozen import FrozenModel

__all__ = ["PositionBias", "position_bias"]

_ENOUGH = 3
"""Pairs from which on always naming one place is no chance: of a coin it is so in 1 of 32."""


class PositionBias(FrozenModel):
    """Answers of a pairwise judge by the place of the image that they name. Each pair was asked in both orders.

    A judge that looks names each place equally often, for its winner stands in either place once.
    """

    pairs: int = 0
    """Pairs with an answer in both orders."""
    first: int = 0
    """Answers that name the image that was shown first."""
    second: int = 0
    """Answers that name the one that was shown second."""
    ties: int = 0
    """Answers that see no difference."""
    disagreements: int = 0
    """Pairs of which the two orders name another winner."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def first_share(self) -> float | None:
        """Share of first-place answers among those that name an image, 0..1; 0.5 where the place does not matter."""
        named = self.first + self.second
        return self.first / named if named else None

    @property
    def always(self) -> str | None:
        """`first` or `second` where every answer of enough pairs names that place: the judge does not look."""
        if self.pairs < _ENOUGH or self.ties or (self.first and self.second):
            return None
        return "first" if self.first else "second"

    @property
    def words(self) -> str:
        """In one clause."""
        share = self.first_share
        if share is None:
            return f"only ties in {counted(self.pairs, 'pair')}"
        text = f"{100 * share:.0f} % of {counted(self.first + self.second, 'answer')} for the image shown first"
        if self.always:
            return f"always names the image shown {self.always}, in {counted(self.pairs, 'pair')}: it does not look"
        return f"{text}, {self.disagreements} of {counted(self.pairs, 'pair')} disagree"

    def __add__(self, other: PositionBias) -> PositionBias:
        """Both together."""
        names = PositionBias.model_fields
        return PositionBias(**{name: getattr(self, name) + getattr(other, name) for name in names})


def position_bias(answers: Iterable[Mapping[str, float]]) -> PositionBias | None:
    """From the components of a pairwise judge's results, those without a score too; None where there are none.

    `candidate_first` and `candidate_second` say how the candidate fared in that place: 1 won, 0 lost, 0.5 tie.
    """
    found = [one for one in answers if "candidate_first" in one and "candidate_second" in one]
    if not found:
        return None
    # What the candidate wins in the first place, and loses in the second, is named in the first place.
    named = [share for one in found for share in (one["candidate_first"], 1 - one["candidate_second"])]
    return PositionBias(
        pairs=len(found),
        first=named.count(1.0),
        second=named.count(0.0),
        ties=named.count(0.5),
        disagreements=sum(one["candidate_first"] != one["candidate_second"] for one in found),
    )
