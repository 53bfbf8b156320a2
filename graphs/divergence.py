"""Whether a run that is served recorded answers still follows its record: a fold of attempts and decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turngate.traces.records import AttemptRow, DecisionRow

__all__ = ["Divergence"]


@dataclass(frozen=True)
class Divergence:
    """How far the record bears. `after` takes in every recorded attempt in order, live and on resume alike."""

    beyond: bool = False
    """The run has gone another way than its record: it is not known which image it would really have by now."""
    turns: frozenset[int] = frozenset()
    """Turns whose standing image came about beyond the point of divergence."""

    def after(self, attempt: AttemptRow, decision: DecisionRow) -> Divergence:
        """The state after one recorded attempt.

        An answer beyond the point of divergence makes all that follow so, whatever was decided about it: nobody knows
        what the editor would have given in its place. Going back to an image that came about before that point ends it.
        """
        beyond = self.beyond or attempt.beyond_divergence
        if decision.closes_turn and decision.action in ("rollback", "restart"):
            return replace(self, beyond=decision.image_turn_after in self.turns)
        if beyond and decision.closes_turn and decision.image_turn_after == decision.turn:
            return Divergence(beyond, self.turns | {decision.turn})
        return replace(self, beyond=beyond)
