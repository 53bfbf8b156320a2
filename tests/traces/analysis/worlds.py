"""Runs and studies in memory whose answer is known: chains of named images, without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from turngate.component import BEYOND_DIVERGENCE
from turngate.traces.analysis.run import AttemptView, RunAnswer, RunView, Stretch, answer_stretch, attempt_views
from turngate.traces.analysis.study import LoadedRun, LoadedStudy, StudyRun, StudyView
from turngate.traces.progress import Progress, advance
from turngate.traces.recorded import RecordedFacts, RecordedOrigin, Resolved
from turngate.traces.records import AttemptRecord, AttemptRow, CompositeRow, DecisionRow, RunStatus, ScoreRow, TruthRow
from turngate.traces.run_folder import RunFolder, RunInfo

ORIGIN = "origin"

Action = Literal["accept", "retry", "skip", "force_accept", "keep_best", "rollback", "restart", "stop"]


def truth_row(
    value: float | None, place: tuple[int, int] = (0, 0), at: float = 0.5, name: str = "truth", higher: bool = False
) -> TruthRow:
    """A truth of that value: at or beyond `at` it is damaged."""
    damaged = None if value is None else value <= at if higher else value >= at
    return TruthRow(
        turn=place[0], attempt=place[1], name=name, measure="simulator", value=value, damaged_at=at, damaged=damaged
    )


@dataclass
class Chain:
    """Writes attempts one by one and keeps where the run stands, as the loop does.

    Damage is a number, damaged from 0.5 on; None where its truth could not be measured.
    """

    planned: int = 10
    history: str = "previous"
    origin: str = ORIGIN
    origin_damage: float | None = 0.0
    measured: bool = True
    """The run has a truth at all."""
    attempts: list[AttemptRecord] = field(default_factory=list)
    clock: int = 0

    def __post_init__(self) -> None:
        self.progress = Progress.start(self.origin)

    def add(
        self,
        image: str | None,
        damage: float | None = 0.0,
        action: Action = "accept",
        *,
        back: int = 1,
        taken: int | None = None,
        composite: tuple[str, float | None] | None = None,
        beyond: bool = False,
        scores: Mapping[str, float | None] | None = None,
        cost: float | None = None,
        more_truths: Mapping[str, float] | None = None,
    ) -> Chain:
        """One attempt; an `image` with the name of the input is no change, None is no image."""
        at, edits_origin = self.progress, self.history == "origin"
        edited = self.origin if edits_origin else at.image
        outcome = "no_image" if image is None else "no_change" if image == edited else "edited"
        row = AttemptRow.model_validate({
            "turn": at.turn, "attempt": at.attempt, "seed": 1, "instruction": "copy it", "history": self.history,
            "input_image": edited, "input_turn": 0 if edits_origin else at.image_turn, "outcome": outcome,
            "image": image, "why": "safety" if image is None else None, "cost_usd": cost,
            "flags": [BEYOND_DIVERGENCE] if beyond else [], "started_ns": self._tick(), "ended_ns": self._tick(),
        })  # fmt: skip
        if action in ("accept", "force_accept"):
            taken = at.attempt
        stands, stands_turn = at.image, at.image_turn
        if action == "rollback":
            older = at.lineage[:-back] if back < len(at.lineage) else ()
            stands_turn, stands = older[-1] if older else (0, self.origin)
        elif action == "restart":
            stands_turn, stands = 0, self.origin
        elif taken is not None:
            before = {one.attempt.attempt: one for one in self.attempts if one.attempt.turn == at.turn}
            chosen = image if taken == at.attempt else before[taken].attempt.image
            chosen = composite[0] if composite is not None else chosen
            if chosen is not None and chosen != at.image:
                stands, stands_turn = chosen, at.turn
        closes = action != "retry"
        status = "attempts_exhausted" if action == "stop" else "running"
        verdict = "reject" if action != "accept" else "accept" if composite is None else "accept_masked"
        decision = DecisionRow.model_validate({
            "turn": at.turn, "attempt": at.attempt, "rule": "gate", "reason": "", "action": action,
            "taken_attempt": taken, "verdict": verdict, "image_after": stands, "image_turn_after": stands_turn,
            "closes_turn": closes, "at_ns": self._tick(),
            "status_after": "complete" if closes and at.turn >= self.planned and status == "running" else status,
        })  # fmt: skip
        place = (at.turn, at.attempt)
        made = None
        if composite is not None:
            made = CompositeRow(
                turn=at.turn, attempt=at.attempt, base=edited, candidate=str(image), image=composite[0], changed=0.1,
                truth=truth_row(composite[1], place),
            )  # fmt: skip
        self.attempts.append(
            AttemptRecord(
                row,
                tuple(_score(name, value, place) for name, value in (scores or {}).items()),
                truth_row(damage, place) if self.measured and image is not None else None,
                decision,
                made,
                {name: truth_row(value, place, name=name) for name, value in (more_truths or {}).items()},
            )
        )
        self.progress = advance(at, decision)
        return self

    def repeat(self, times: int, image: str | None, damage: float | None = 0.0, action: Action = "accept") -> Chain:
        """The same attempt again; `{}` in the name becomes the turn."""
        for _ in range(times):
            self.add(None if image is None else image.format(self.progress.turn), damage, action)
        return self

    def views(self) -> list[AttemptView]:
        """Its attempts as analysis sees them."""
        return attempt_views(self.attempts)

    def stretch(self, going_on: bool = False) -> Stretch:
        """All of it."""
        base = truth_row(self.origin_damage) if self.measured else None
        return Stretch(self.origin, base, self.views(), self.planned, going_on)

    def answer(self, going_on: bool = False) -> RunAnswer:
        """What it comes to."""
        return answer_stretch(self.stretch(going_on))

    def view(self, path: Path = Path("nowhere"), status: RunStatus | None = None, **fields: Any) -> RunView:
        """As a run without a folder, ended by a budget where no decision did; `fields` are of its configuration."""
        last = self.attempts[-1].decision.status_after if self.attempts else "running"
        evaluators = list(dict.fromkeys(score.evaluator for one in self.attempts for score in one.scores))
        others = list(dict.fromkeys(name for one in self.attempts for name in one.more_truths))
        config = {
            "turns": self.planned, "history": self.history, "scenario": {"type": "replicate"}, "seed": 1,
            "editor": {"type": "scripted"}, "gate": {"type": "threshold"}, "on_reject": {"attempts": 1, "then": "skip"},
            "evaluators": {name: {"type": name} for name in evaluators},
            "truth": {"measure": "simulator", "damaged_at": 0.5} if self.measured else None,
            "more_truths": {name: {"measure": "simulator", "damaged_at": 0.5} for name in others},
            **fields,
        }  # fmt: skip
        info = RunInfo(
            run=str(path).replace("/", "-"), created="2026-11-30T10:15:00+00:00", config=config,
            origin=RecordedOrigin(image=self.origin),
            resolved=Resolved(
                evaluators={name: RecordedFacts(name=name) for name in evaluators},
                more_truths=dict.fromkeys(others),
            ),
            made_with={},
        )  # fmt: skip
        ended = "budget_exhausted" if last == "running" else last
        base = truth_row(self.origin_damage) if self.measured else None
        more = {name: truth_row(0.0, name=name) for name in others}
        return RunView(RunFolder(path), info, status or ended, {}, base, self.views(), [], more)

    def _tick(self) -> int:
        self.clock += 1
        return self.clock


def _score(name: str, value: float | None, place: tuple[int, int]) -> ScoreRow:
    turn, attempt = place
    return ScoreRow(
        turn=turn, attempt=attempt, evaluator=name, type=name, version="1", direction="higher", started_ns=0,
        ended_ns=0, value=value, status="scored" if value is not None else "unscored",
        why=None if value is not None else "undefined",
    )  # fmt: skip


def no_gate(planned: int = 10, sound: int = 3, start: str = ORIGIN) -> Chain:
    """Takes everything: `sound` sound images, then damaged ones."""
    chain = Chain(planned, origin=start)
    for turn in range(1, planned + 1):
        chain.add(f"{start}-{turn}", 0.0 if turn <= sound else 0.9)
    return chain


def stalls(planned: int = 10, sound: int = 3, start: str = ORIGIN) -> Chain:
    """Takes `sound` sound images, then refuses the same damaged candidate to the end."""
    chain = Chain(planned, origin=start)
    for turn in range(1, sound + 1):
        chain.add(f"{start}-{turn}")
    return chain.repeat(planned - sound, f"{start}-bad", 0.9, "skip")


def rolls_back(planned: int = 10, sound: int = 3, start: str = ORIGIN) -> Chain:
    """Takes `sound` images, refuses a damaged one and goes one back; the editor then gives new images."""
    chain = Chain(planned, origin=start)
    for turn in range(1, planned + 1):
        if turn % (sound + 1):
            chain.add(f"{start}-{turn}")
        else:
            chain.add(f"{start}-bad-{turn}", 0.9, "rollback")
    return chain


Rows = Sequence[tuple[str, str, str, Chain]]
"""Arm, origin, editor, run."""


def study(
    rows: Rows,
    controls: Sequence[str] = (),
    pictures: Mapping[str, str] | None = None,
    gates: Mapping[str, str] | None = None,
    sensitivity: Sequence[float] = (),
    folder: Path = Path("nowhere"),
) -> LoadedStudy:
    """A study in memory. `pictures` maps a name of an origin to its pixels, where another name has the same."""
    gates = {"no-gate": "always_accept", **(gates or {})}
    runs, seen = [], dict[str, str]()
    for number, (arm, origin, editor, chain) in enumerate(rows):
        path = folder / f"{number}-{arm}"
        view = chain.view(path, gate={"type": gates.get(arm, "threshold")})
        picture = (pictures or {}).get(origin, origin)
        cluster = seen.setdefault(picture, origin)
        runs.append(LoadedRun(StudyRun(arm, arm in controls, origin, "", editor, 1, path), view, picture, cluster))
    config = {"name": "demo", "question": "?", "notes": "", "sensitivity": list(sensitivity)}
    return LoadedStudy(StudyView(folder, config, [one.run for one in runs]), runs)
