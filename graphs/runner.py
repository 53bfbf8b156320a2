"""Start, continue and fork runs."""

from __future__ import annotations

import json
import os
import re
import reprlib
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from turngate.component import differences
from turngate.errors import ConfigChanged, ConfigError, UserError, one_line
from turngate.graphs.components import Components, build_components
from turngate.graphs.config import RunConfig
from turngate.graphs.decision import readings
from turngate.graphs.edit_step import edit
from turngate.graphs.load import apply_overrides, parse_config, with_absolute_paths
from turngate.graphs.masked_accept import decide
from turngate.graphs.measure_step import measure, measure_origin, measure_truths
from turngate.graphs.origin import load_origin
from turngate.graphs.readiness import check_run
from turngate.graphs.session import LoopContext, Observer, Session
from turngate.picture import Picture
from turngate.traces.images import stored_files
from turngate.traces.ledger import Ledger
from turngate.traces.lock import RunLock
from turngate.traces.progress import Progress
from turngate.traces.provenance import provenance
from turngate.traces.recorded import RecordedOrigin
from turngate.traces.redact import redact
from turngate.traces.run_folder import Parent, RunFolder, RunInfo, new_run_id
from turngate.traces.telemetry import Dropped, TelemetryConfig, TelemetryRecorder, started_under

__all__ = [
    "DRIVERS",
    "ENDINGS",
    "Ended",
    "Review",
    "changed_config",
    "continue_run",
    "fork_run",
    "run_graph",
    "run_id_for",
    "run_loop",
    "start_run",
]

_SHORT = reprlib.Repr()
"""A prompt is pages long: an error shows where it begins and ends."""
_SHORT.maxstring = _SHORT.maxother = 80
_LONGEST_SETTINGS = 200
"""Characters of `--set` options that an error still shows."""

ENDINGS = ("complete", "stopped", "attempts_exhausted")
"""Statuses of a run that has nothing left to do."""


@dataclass(frozen=True)
class Ended:
    """How this process's work on a run ended."""

    folder: Path
    status: str
    reason: str | None
    worked: bool
    """False when there was nothing to do."""
    dropped: Dropped = field(default_factory=Dropped)
    """Telemetry that never arrived; the run itself is whole."""

    @property
    def dropped_spans(self) -> int:
        """Spans that never arrived."""
        return self.dropped.spans


@dataclass(frozen=True)
class Review:
    """A person's decision about the attempt that waits."""

    accept: bool
    comment: str = ""
    by: str = ""
    """The person's name; empty where it is not said."""
    at: tuple[int, int] | None = None
    """Turn and attempt that the person saw. When the run waits with another one meanwhile, the decision is refused."""


def start_run(config: RunConfig, folder: Path, observers: Sequence[Observer] = (), run_id: str | None = None) -> Ended:
    """Create a run in `folder` and drive it to its end.

    A run of the same configuration that is already there goes on; another one raises `ConfigChanged`. `run_id` is
    made up when it is not given.
    """
    run = RunFolder(folder)
    if run.exists():
        return continue_run(folder, config, observers)
    check_run(config)  # before weights are loaded: it is quick, and tells all that is wrong
    components, origin = build_components(config), load_origin(config.origin)
    _check_origin(components, origin)
    config = _pinned(config)
    run.prepare()
    with RunLock(run.path):
        info = _create(config, run, components, origin, run_id or run_id_for(config))
        return _open(run, info, config, components, observers, None)


def continue_run(
    folder: Path, config: RunConfig | None = None, observers: Sequence[Observer] = (), review: Review | None = None
) -> Ended:
    """Drive a run from where its ledger ends; a finished one is left alone.

    `config` may change budgets, driver and telemetry; other changes raise `ConfigChanged`.
    """
    run = RunFolder.existing(folder)
    info = run.info()
    recorded = parse_config(info.config, str(run.info_file))
    if config is not None:
        _refuse_changes(run, info, recorded, _pinned(config))
        free = {name: getattr(config, name) for name in ("budgets", "driver", "telemetry")}
        recorded = recorded.model_copy(update=free)
    with RunLock(run.path):
        return _open(run, info, recorded, build_components(recorded), observers, review)


def fork_run(folder: Path, turn: int | None, target: Path | None, config: RunConfig) -> Path:
    """Start a child run that shares turns 1..`turn` with the run in `folder` (None: all closed turns).

    The parent is only read. The child's folder is `target`, or one beside the parent. Raises `ConfigError` when the
    parent has not closed that turn.
    """
    run_id = run_id_for(config)
    parent = RunFolder.existing(folder)
    child = RunFolder(target or parent.path.parent / run_id)
    info = parent.info()
    if child.exists():
        raise UserError(f"{target} already holds a run: choose a new folder with --out")
    ledger = parent.ledger()
    try:
        closed = sum(row.closes_turn for row in ledger.decisions())
        turn = closed if turn is None else turn
        if not 0 <= turn <= closed:
            raise ConfigError(f"--turn {turn}: the run has closed {closed} turns, give 0 to {closed}")
        if turn >= config.turns:
            raise ConfigError(f"--turn {turn}: the child needs more turns than it copies, add --set turns={turn + 1}")
        components = build_components(config)
        origin = Picture.from_bytes(parent.images.get(info.origin.image), "the origin")
        _check_origin(components, origin)
        child.prepare()
        with RunLock(child.path):
            _copy(ledger, parent, child, turn)
            _create(_pinned(config), child, components, origin, run_id, Parent(run=info.run, turn=turn))
    finally:
        ledger.close()
    return child.path


def changed_config(folder: Path, overrides: Sequence[str]) -> RunConfig:
    """The recorded configuration of a run with `field=value` overrides applied."""
    run = RunFolder.existing(folder)
    raw = apply_overrides(run.info().config, overrides)
    return parse_config(with_absolute_paths(raw, Path.cwd()), str(run.info_file))


def run_id_for(config: RunConfig) -> str:
    """A new run id that starts with the time and names what runs."""
    label = re.sub(r"[^A-Za-z0-9]+", "-", f"{config.editor.type}-{config.gate.type}")[:40].strip("-")
    return new_run_id(config.name or label)


def _check_origin(components: Components, origin: Picture) -> None:
    """Raise `ConfigError` where the editor serves a record of another picture."""
    misfit = getattr(components.editor, "misfit", None)
    problem = misfit(origin) if misfit else None
    if problem:
        raise ConfigError(f"origin: {problem}")


def _pinned(config: RunConfig) -> RunConfig:
    return config.model_copy(update={"editor": config.editor.pinned()})


def _create(
    config: RunConfig,
    run: RunFolder,
    components: Components,
    origin: Picture,
    run_id: str,
    parent: Parent | None = None,
) -> RunInfo:
    """Write the origin, the ledger and, last, run.json: a folder with a run.json is a whole run."""
    known = config.origin.model_copy(update={"sha256": origin.sha256})
    stored = config.model_copy(update={"origin": known})
    info = RunInfo(
        run=run_id,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        config=stored.model_dump(mode="json"),
        origin=RecordedOrigin(
            image=origin.sha256,
            media_type=origin.media_type,
            width=origin.width,
            height=origin.height,
            normalised=list(origin.normalised),
            remarks=list(origin.remarks),
            source=config.origin.image,
        ),
        resolved=components.resolved(),
        made_with=provenance(Path.cwd()),
        parent=parent,
    )
    run.images.put(origin.data, origin.media_type)
    run.ledger(read_only=False).close()
    run.create(info)
    return info


def _open(
    run: RunFolder,
    info: RunInfo,
    config: RunConfig,
    components: Components,
    observers: Sequence[Observer],
    review: Review | None,
) -> Ended:
    is_paid = components.editor.paid or any(one.facts.paid for one in components.evaluators.values())
    ledger = run.ledger(read_only=False, durable=is_paid)
    try:
        given = any(isinstance(observer, TelemetryRecorder) for observer in observers)
        telemetry = TelemetryRecorder(TelemetryConfig(exporter="none") if given else config.telemetry, run.path)
        recorders = [observer for observer in (*observers, telemetry) if isinstance(observer, TelemetryRecorder)]
        sends, counted = any(recorder.on for recorder in recorders), telemetry.on
        try:
            ended = _drive(run, info, config, components, ledger, [*observers, telemetry], review, sends)
        finally:
            dropped = telemetry.close()
            if counted and any(event.kind == "started" for event in ledger.events()):
                ledger.add_event("telemetry", asdict(dropped))
    finally:
        ledger.close()
    return replace(ended, dropped=dropped)


def _copy(ledger: Ledger, parent: RunFolder, child: RunFolder, turn: int) -> None:
    for row in ledger.attempts():
        if row.turn <= turn:
            for sha256 in stored_files(row):
                parent.images.link_into(child.images, sha256)
    copy = child.ledger(read_only=False)
    try:
        copy.copy_rows(ledger, turn)
    finally:
        copy.close()


def _drive(
    run: RunFolder,
    info: RunInfo,
    config: RunConfig,
    components: Components,
    ledger: Ledger,
    observers: Sequence[Observer],
    review: Review | None,
    sends_telemetry: bool,
) -> Ended:
    origin = Picture.from_bytes(run.images.get(info.origin.image), "the origin")
    session = Session(config, components, run, info, ledger, origin, observers)
    _take_review(ledger, session, review)
    if session.progress.status in ENDINGS:
        return Ended(run.path, session.progress.status, None, worked=False)
    at = {"pid": os.getpid(), "driver": config.driver, "turn": session.progress.turn}
    ledger.add_event("started", {**at, "telemetry": sends_telemetry, **started_under()})
    started_ns = session.started_ns or time.time_ns()
    for observer in observers:
        observer.started(info, started_ns)
    status, reason = "failed", "the process was stopped"
    try:
        _score_origin(session)
        used_up = session.budget_use.exhausted(config.budgets)
        if used_up:
            status, session.reason = "budget_exhausted", used_up
        else:
            with _graceful(session):
                status = DRIVERS[config.driver](session)
        reason = session.reason or ""
    except BaseException as error:
        reason = redact(str(error) or type(error).__name__)
        status = "failed" if isinstance(error, Exception) else "interrupted"
        raise
    finally:
        data: dict[str, Any] = {"status": status, "reason": reason}
        if status == "waiting":
            data |= {"turn": session.progress.turn, "attempt": session.progress.attempt}
        ledger.add_event("ended", data)
        for observer in observers:
            observer.ended(status, reason or None, time.time_ns())
    return Ended(run.path, status, session.reason, worked=True)


def _score_origin(session: Session) -> None:
    if session.config.score_origin or session.config.truth is not None:
        rows, truths = measure_origin(session)
        session.ledger.add_scores(rows, truths)
        session.budget_use.add_scores(rows)
        session.gate_history.origin = {**session.gate_history.origin, **readings(rows)}


def _take_review(ledger: Ledger, session: Session, review: Review | None) -> None:
    if review is None:
        return
    waiting = [event for event in ledger.events() if event.kind == "ended"]
    if not waiting or waiting[-1].data["status"] != "waiting":
        raise UserError("this run does not wait for a person: resume it without --accept or --reject")
    turn, attempt = session.progress.turn, session.progress.attempt
    if review.at not in (None, (turn, attempt)):
        raise UserError("the run does not wait for this decision any more: look at it again")
    said = {"accept": review.accept, "comment": review.comment, "by": one_line(review.by)}
    ledger.add_event("review", {"turn": turn, "attempt": attempt, **said})


def _refuse_changes(run: RunFolder, info: RunInfo, recorded: RunConfig, config: RunConfig) -> None:
    new = config.identity()
    if config.origin.sha256 is None:
        new["origin"] = {"sha256": load_origin(config.origin).sha256}
    changes = differences(recorded.identity(), new)
    if changes:
        shown = "; ".join(f"{field}: {_SHORT.repr(old)} -> {_SHORT.repr(now)}" for field, old, now in changes)
        raise ConfigChanged(
            f"the run {info.run} was made with another configuration ({shown}): "
            f"resume it unchanged, or start a child run: {_fork_command(run.path, changes)}",
            changes,
        )


def _fork_command(folder: Path, changes: Sequence[tuple[str, Any, Any]]) -> str:
    """What to type for a child run with `changes`, as far as `--set` can express them one by one."""
    command = f"turngate fork {shlex.quote(str(folder))}"
    settings = "".join(f" --set {shlex.quote(f'{field}={json.dumps(now)}')}" for field, _, now in changes)
    # A component of another type has other fields, and a null may be a field that is not there any more.
    direct = all(now is not None and not field.endswith("type") for field, _, now in changes)
    return command + (settings if direct and len(settings) <= _LONGEST_SETTINGS else " --set FIELD=VALUE")


@contextmanager
def _graceful(session: Session) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM end the run after the present attempt; a second one stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, _: FrameType | None) -> None:
        if session.halt is not None:
            raise KeyboardInterrupt
        session.halt = signal.Signals(number).name

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_loop(session: Session) -> str:
    """Drive the steps in a plain loop, evaluators one after the other; returns the status it ended with."""
    progress: Progress = session.progress
    while progress.status == "running":
        attempt = edit(session, progress)
        scores = [measure(session, attempt, name) for name in session.components.evaluators]
        progress = decide(session, progress, attempt, scores, measure_truths(session, attempt))
    return progress.status


def run_graph(session: Session) -> str:
    """Drive the steps through the LangGraph machine, evaluators in parallel; returns the status it ended with."""
    from turngate.graphs.machine import build_machine, first_state, step_limit

    config, progress = session.config, session.progress
    if progress.status != "running":
        return progress.status
    limit = step_limit(config.turns, config.on_reject.attempts, config.budgets.attempts)
    context = LoopContext(session)
    end = build_machine().invoke(first_state(progress), {"recursion_limit": limit}, context=context)
    return str(end["status"])


DRIVERS: dict[Literal["graph", "loop"], Callable[[Session], str]] = {"graph": run_graph, "loop": run_loop}
"""Drivers by name."""
