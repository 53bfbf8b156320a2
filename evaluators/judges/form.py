"""What the forms of a question share: which images are shown, what is asked, what the answers come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from turngate.evaluators.evaluator import Direction
from turngate.evaluators.result import Score, Unscored

__all__ = ["REASONS", "Form", "Labels", "Reference", "Role", "answer_shape"]

Reference = Literal["origin", "first", "previous"]
"""An image to compare with: before turn 1, the first accepted one, or the one that was edited."""
Role = Literal["origin", "first", "previous", "candidate"]


def _different(labels: tuple[str, str]) -> tuple[str, str]:
    if len({label.strip().casefold() for label in labels} - {""}) < 2:
        raise ValueError("labels are two different words")
    return labels


Labels = Annotated[tuple[str, str], AfterValidator(_different)]
"""Names of the good and of the bad verdict."""

_ROLES: Mapping[Role, str] = {
    "origin": "the reference: the picture before any edit",
    "first": "the reference: the picture after the first edit",
    "previous": "the reference: the picture that was edited",
    "candidate": "the candidate: what the editor made of it",
}


class Form(BaseModel, ABC):
    """A kind of question with its settings. `form` names it in a configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

    form: str
    preset: str | None = None
    """Preset that the settings were taken from; other fields replace its."""
    request: bool = True
    """Tell the judge what the editor was asked for. False for images that nobody asked for, a folder of photographs."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value."""

    @property
    @abstractmethod
    def orders(self) -> tuple[tuple[Role, ...], ...]:
        """One entry per call: the images in the order in which they are shown."""

    @property
    def better(self) -> Direction:
        """Which way is better."""
        return "higher"

    @abstractmethod
    def places(self) -> Mapping[str, str]:
        """Words for the prompt's places `criteria`, `question` and `answer`."""

    @abstractmethod
    def fields(self) -> Mapping[str, Any]:
        """Names in the answer, in the order in which they are asked for, and their types."""

    @abstractmethod
    def conclude(self, answers: Sequence[Mapping[str, Any]]) -> Score | Unscored:
        """The result of checked answers, one per entry of `orders`."""

    def legend(self, order: Sequence[Role]) -> str:
        """What the images are, for the prompt."""
        return "\n".join(f"Image {number}: {_ROLES[role]}." for number, role in enumerate(order, start=1))


REASONS = '"a few sentences: what you see, where"'
"""What belongs under `reasoning`; it comes first, so that marks follow from reasons."""


def answer_shape(fields: Mapping[str, str]) -> str:
    """An answer as a judge is shown it: names and what belongs there."""
    return "{" + ", ".join(f'"{name}": {what}' for name, what in fields.items()) + "}"
