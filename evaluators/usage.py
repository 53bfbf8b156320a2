"""What an evaluation used up at a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

__all__ = ["Usage"]

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Usage:
    """Tokens and money of one evaluation, all its calls together; None where that is not known.

    An editor's is another: `turngate.agent.editor.Usage`, of one call, with its thoughts counted apart.
    """

    calls: int = 0
    """Answers that came back."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """Thoughts included."""
    cost_usd: float | None = None
    waited_seconds: float = 0.0
    """Time spent waiting on a limit, not working."""

    def __add__(self, other: Usage) -> Usage:
        """Both together. What one of them does not tell is not known of the sum, unless it never got an answer."""
        if not self.calls or not other.calls:
            told, idle = (self, other) if self.calls else (other, self)
            return replace(told, waited_seconds=told.waited_seconds + idle.waited_seconds)
        return Usage(
            self.calls + other.calls,
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost_usd, other.cost_usd),
            self.waited_seconds + other.waited_seconds,
        )


def _sum(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else one + other
