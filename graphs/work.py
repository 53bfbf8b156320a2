"""This process's work on one run: what it needs is opened, its begin and end are recorded and told to observers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from turngate.errors import MachineError, UserError, one_line
from turngate.graphs.components import Components
from turngate.graphs.config import RunConfig
from turngate.graphs.decision import readings
from turngate.graphs.measure_step import measure_origin
from turngate.graphs.session import Observer, Session
from turngate.picture import Picture
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import Dropped, TelemetryConfig, TelemetryRecorder, started_under

__all__ = ["ENDINGS", "Review", "Work", "add_review", "ask_person", "take_review", "working_on"]

ENDINGS = ("complete", "stopped", "attempts_exhausted")
"""Statuses of a run that has nothing left to do."""


@dataclass(frozen=True)
class Review:
    """A person's decision about the attempt that waits."""

    accept: bool
    comment: str = ""
    by: str = ""
    """The person's name; empty where it is not said."""
    at: tuple[int, int] | None = None
    """Turn and attempt that the person saw. When the run waits with another one meanwhile, the decision is refused."""


@dataclass
class Work:
    """One process's work on one run, while it is open."""

    session: Session
    worked: bool = True
    """False when the run had ended before, so that there is nothing to do and nothing is recorded."""
    dropped: Dropped = field(default_factory=Dropped)
    """Telemetry that never arrived; known after the work."""


@contextmanager
def working_on(
    run: RunFolder,
    info: RunInfo,
    config: RunConfig,
    components: Components,
    observers: Sequence[Observer] = (),
    review: Review | None = None,
) -> Iterator[Work]:
    """Open the ledger, fold what is recorded, score the origin, and record the end, whatever it is.

    The caller holds the run's lock. The origin's scores may use up a budget: the session's status is `budget_exhausted`
    then, and nothing more may be done. An exception ends the work as `failed`; what is no `Exception` (a signal, a
    cancelled task) as `interrupted`, and so does leaving it while it runs.
    """
    is_paid = components.editor.paid or any(one.facts.paid for one in components.evaluators.values())
    ledger = run.ledger(read_only=False, durable=is_paid)
    try:
        given = any(isinstance(observer, TelemetryRecorder) for observer in observers)
        telemetry = TelemetryRecorder(TelemetryConfig(exporter="none") if given else config.telemetry, run.path)
        recorders = [one for one in (*observers, telemetry) if isinstance(one, TelemetryRecorder)]
        work = None
        try:
            origin = Picture.from_bytes(run.images.get(info.origin.image), "the origin")
            session = Session(config, components, run, info, ledger, origin, [*observers, telemetry])
            take_review(session, review)
            work = Work(session)
            if session.progress.status in ENDINGS:
                session.status, work.worked = session.progress.status, False
                yield work
            else:
                with _recorded(session, any(recorder.on for recorder in recorders)):
                    yield work
        finally:
            sent = telemetry.on
            dropped = telemetry.close()
            if work is not None:
                work.dropped = dropped
            if sent and any(event.kind == "started" for event in ledger.events()):
                ledger.add_event("telemetry", asdict(dropped))
    finally:
        ledger.close()


def take_review(session: Session, review: Review | None) -> None:
    """Record a person's decision; raises `UserError` when the run does not wait for it."""
    if review is None:
        return
    waiting = [event for event in session.ledger.events() if event.kind == "ended"]
    if not waiting or waiting[-1].data["status"] != "waiting":
        raise UserError("this run does not wait for a person: resume it without --accept or --reject")
    turn, attempt = session.progress.turn, session.progress.attempt
    if review.at not in (None, (turn, attempt)):
        raise UserError("the run does not wait for this decision any more: look at it again")
    add_review(session, review)


def ask_person(question: Mapping[str, Any]) -> Review:
    """Interrupt the LangGraph graph at work with `question`, until it is resumed with a decision."""
    from langgraph.types import interrupt

    asked = dict(question)
    while True:
        said = interrupt(asked)
        if isinstance(said, Mapping) and isinstance(said.get("accept"), bool):
            return Review(said["accept"], str(said.get("comment", "")))
        asked["problem"] = 'resume with Command(resume={"accept": True}), or False, and a "comment" if you like'


def add_review(session: Session, review: Review) -> None:
    """Record a person's decision about the attempt that waits."""
    at = {"turn": session.progress.turn, "attempt": session.progress.attempt}
    said = {"accept": review.accept, "comment": review.comment, "by": one_line(review.by)}
    session.ledger.add_event("review", {**at, **said})


@contextmanager
def _recorded(session: Session, sends_telemetry: bool) -> Iterator[None]:
    ledger = session.ledger
    at = {"pid": os.getpid(), "driver": session.config.driver, "turn": session.progress.turn}
    ledger.add_event("started", {**at, "telemetry": sends_telemetry, **started_under()})
    started_ns = session.started_ns or ledger.now_ns()
    for observer in session.observers:
        observer.started(session.info, started_ns)
    status, reason, broken_off = "failed", "the process was stopped", True
    try:
        _score_origin(session)
        used_up = session.budget_use.exhausted(session.config.budgets)
        if used_up:
            session.status, session.reason = "budget_exhausted", used_up
        yield
        # Left while it runs, without a word why: a `break` out of a stream of the machine.
        broken_off = session.status == "running" and not session.reason
        if session.status == "running":
            session.status = "interrupted"
        status, reason = session.status, session.reason or ""
    except BaseException as error:
        reason = redact(str(error) or type(error).__name__)
        status = session.status = "failed" if isinstance(error, Exception) else "interrupted"
        raise
    finally:
        data: dict[str, Any] = {"status": status, "reason": reason}
        if status == "waiting":
            data |= {"turn": session.progress.turn, "attempt": session.progress.attempt}
        if broken_off:
            data["broken_off"] = True
        session.reserve.release()
        try:
            ledger.add_event("ended", data)
        except MachineError:  # a full disk: what went wrong before says more
            if status not in ("failed", "interrupted"):
                raise
        for observer in session.observers:
            observer.ended(status, reason or None, ledger.now_ns())


def _score_origin(session: Session) -> None:
    if session.config.score_origin or session.config.truth is not None:
        rows, truths = measure_origin(session)
        session.ledger.add_scores(rows, truths)
        session.budget_use.add_scores(rows)
        session.gate_history.origin = {**session.gate_history.origin, **readings(rows)}
