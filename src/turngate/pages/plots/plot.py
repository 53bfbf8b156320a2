"""One plot of a study: its figures, what its caption must say, and the numbers that it draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plot"]


@dataclass(frozen=True)
class Plot:
    """What one plot consists of."""

    name: str
    """Of its files."""
    figures: list[Figure]
    """More than one when its panels do not fit on a page."""
    caption: str
    """Plain text, ready for a paper."""
    columns: tuple[str, ...]
    """Of the table."""
    rows: Sequence[Sequence[Any]]
    """The numbers as the answer has them; None is an empty cell."""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.name} does not have {len(self.columns)} cells")

    def stems(self) -> list[str]:
        """Names of the figures without a suffix: `truth`, or `truth-1`, `truth-2`."""
        if len(self.figures) == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number, _ in enumerate(self.figures, 1)]
