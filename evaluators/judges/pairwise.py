"""The candidate against a reference, asked in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from turngate.evaluators.judges.answer import word
from turngate.evaluators.judges.form import REASONS, Form, ReferenceImage, ShownImage, answer_shape
from turngate.evaluators.result import Score, Unscored

__all__ = ["Pairwise"]

_PLACE = {"first": 1, "tie": 0, "second": -1}


class Pairwise(Form):
    """Which of two is better: 1 when the candidate wins in both orders, 0 when the reference does, 0.5 for a tie.

    Judges like what they are shown first (or last). A decision needs the same winner in both orders.
    """

    form: Literal["pairwise"] = "pairwise"
    against: ReferenceImage = "previous"
    """The image that the candidate is compared with."""
    question: str = Field(
        default="Which version is the better picture, that is, which has less damage: noise, dots, colour casts, blur, "
        "over-sharpening, smeared or repeated texture, broken shapes? A difference in what is shown does not count.",
        min_length=1,
        max_length=4000,
    )
    """What better means."""
    ties: bool = True
    """Allow the judge to see no difference."""
    on_disagreement: Literal["unscored", "tie"] = "unscored"
    """When the two orders name different winners: give no score, or count it as a tie."""

    @property
    def bounds(self) -> tuple[float, float]:
        """From lost to won."""
        return 0.0, 1.0

    @property
    def orders(self) -> tuple[tuple[ShownImage, ...], ...]:
        """Two calls: the reference first, then the candidate first."""
        return (self.against, "candidate"), ("candidate", self.against)

    def places(self) -> Mapping[str, str]:
        """The question, and the answer's shape."""
        words = '"first" or "second"' + (', or "tie" if you see no difference' if self.ties else "")
        return {"question": self.question, "answer": answer_shape({"reasoning": REASONS, "better": words})}

    def fields(self) -> Mapping[str, Any]:
        """Which version is better."""
        return {"reasoning": str, "better": word("first", "second", *(["tie"] if self.ties else []))}

    def legend(self, order: Sequence[ShownImage]) -> str:
        """Nothing that gives away which version is the newer one."""
        return "Image 1: the first version.\nImage 2: the second version."

    def conclude(self, answers: Sequence[Mapping[str, Any]]) -> Score | Unscored:
        """Who won, if both orders agree.

        `position_bias` is 1 when the version that was shown first won both times, -1 when the second did. The parts are
        there without a score too: a judge that does not look is then found out.
        """
        behind, ahead = (str(answer["better"]) for answer in answers)
        # In the first call the reference stood first, in the second the candidate.
        wins = [0.5 - _PLACE[behind] / 2, 0.5 + _PLACE[ahead] / 2]
        bias = (_PLACE[behind] + _PLACE[ahead]) / 2
        flags = (f"better:{behind},{ahead}",)
        said = f"candidate second: {answers[0]['reasoning']}\ncandidate first: {answers[1]['reasoning']}"
        parts = {"candidate_second": wins[0], "candidate_first": wins[1], "position_bias": bias}
        if wins[0] == wins[1]:
            label = {0.0: "reference", 0.5: "tie", 1.0: "candidate"}[wins[0]]
            return Score(wins[0], label, said, parts, flags)
        if self.on_disagreement == "tie":
            return Score(0.5, "tie", said, parts, (*flags, "disagreement"))
        return Unscored("disagreement", f"reference first: {behind}; candidate first: {ahead}", flags, components=parts)
