"""One process's work on one run: components, stores, memory and budgets. Lives beside the graph state, never in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from turngate.graphs.budget import BudgetUse, past_seconds
from turngate.graphs.components import Components
from turngate.graphs.config import RunConfig
from turngate.graphs.decision import GateHistory, readings
from turngate.graphs.origin import Pictures
from turngate.picture import Picture
from turngate.traces.ledger import Ledger
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRecord, AttemptRow, DecisionRow, EditAnswer, EventRow
from turngate.traces.reserve import DiskReserve
from turngate.traces.run_folder import RunFolder, RunInfo

__all__ = ["Divergence", "LoopContext", "Observer", "Session"]


class Observer(Protocol):
    """Gets what was recorded, after it was recorded. Must not raise and must not slow the loop."""

    def started(self, info: RunInfo, started_ns: int) -> None:
        """The run begins or goes on; `started_ns` is when it first began."""

    def attempt(self, record: AttemptRecord) -> None:
        """An attempt was recorded."""

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """This process's work on the run ended."""


@dataclass(frozen=True)
class LoopContext:
    """The machine's `Runtime` context: never checkpointed, so it may hold what the state must not."""

    session: Session
    ask: bool = False
    """Where a person must decide, interrupt the graph, which needs a checkpointer; otherwise it ends as `waiting`.
    `Command(resume={"accept": True, "comment": "..."})` goes on."""


class Session:
    """What the steps need beside the state."""

    def __init__(
        self,
        config: RunConfig,
        components: Components,
        folder: RunFolder,
        info: RunInfo,
        ledger: Ledger,
        origin: Picture,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.config = config
        self.components = components
        self.folder = folder.path
        """The run folder."""
        self.info = info
        self.ledger = ledger
        self.reserve = DiskReserve(folder.path)
        """Room for the answer of a paid call."""
        self.pictures = Pictures(folder.images, origin)
        self.observers = tuple(observers)
        self.halt: str | None = None
        """Set by a signal handler: end after the present attempt, with this reason."""
        self.status = "running"
        """What the last step came to: `running`, `waiting` (a person must decide), or how the run ended."""
        self.reason: str | None = None
        """Why the run ended or waits, set by the last step."""
        self.latest: AttemptRecord | None = None
        """What was recorded last."""
        self.model: str | None = None
        """Resolved model of the latest answer; another one later is flagged."""
        self._fold()

    @property
    def origin(self) -> Picture:
        """The image before turn 1."""
        return self.pictures.origin

    def has(self, attempt: AttemptRow) -> bool:
        """The attempt is recorded: a checkpoint that is older than the ledger brings it again."""
        return (attempt.turn, attempt.attempt) < (self.progress.turn, self.progress.attempt)

    def review(self, turn: int, attempt: int) -> EventRow | None:
        """A person's decision about this attempt, or None."""
        for event in reversed(self.ledger.events()):
            if event.kind == "review" and (event.data["turn"], event.data["attempt"]) == (turn, attempt):
                return event
        return None

    def _fold(self) -> None:
        """Take in what is recorded: the same steps as live, without calls."""
        ledger = self.ledger
        records, events = ledger.records(), ledger.events()
        self.progress = Progress.start(self.origin.sha256)
        self.gate_history = GateHistory(readings(ledger.origin().scores))
        self.divergence = Divergence()
        self.budget_use = BudgetUse(past_seconds(events, (record.decision for record in records)))
        self.budget_use.add_scores(ledger.scores())
        self.started_ns = next((event.at_ns for event in events if event.kind == "started"), 0)
        for record in records:
            self.progress = advance(self.progress, record.decision)
            self.gate_history.note(
                record.attempt, readings(record.scores), record.decision, self.progress, record.composite
            )
            self.divergence = self.divergence.after(record.attempt, record.decision)
            self.budget_use.add(record.attempt)
            self.model = record.attempt.model or self.model
            self.latest = record
        recall = getattr(self.components.scenario, "restore", None)
        if recall is not None:
            recall((record.attempt.turn, record.attempt.metadata) for record in records)
            # An answer that was stored and not decided yet has no attempt.
            edits = (call for call in ledger.calls() if call.kind == "edit")
            recall((call.turn, EditAnswer.stored(call.answer).metadata) for call in edits)
        restore = getattr(self.components.editor, "restore", None)
        if restore is not None:
            # From the stored answers, not the attempts: one that was stored just before the process died counts too.
            answers = (EditAnswer.stored(call.answer) for call in ledger.calls() if call.kind == "edit")
            restore((a.image, a.damage, a.metadata) for a in answers if a.image and a.damage is not None)


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
