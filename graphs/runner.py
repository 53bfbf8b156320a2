"""Start, continue and fork runs."""

from __future__ import annotations

import json
import re
import reprlib
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from turngate.component import differences
from turngate.errors import ConfigChanged, ConfigError, Paused, UserError, counted
from turngate.graphs.components import Components, build_components
from turngate.graphs.config import RunConfig
from turngate.graphs.edit_step import edit
from turngate.graphs.load import apply_overrides, parse_config, with_absolute_paths
from turngate.graphs.masked_accept import decide
from turngate.graphs.measure_step import measure, measure_truths
from turngate.graphs.origin import load_origin
from turngate.graphs.readiness import check_run
from turngate.graphs.session import LoopContext, Observer, Session
from turngate.graphs.work import ENDINGS, Review, Work, working_on
from turngate.picture import Picture
from turngate.traces.images import stored_files
from turngate.traces.ledger import Ledger
from turngate.traces.lock import RunLock
from turngate.traces.progress import Progress, fold
from turngate.traces.provenance import provenance
from turngate.traces.recorded import RecordedOrigin
from turngate.traces.run_folder import Parent, RunFolder, RunInfo, new_run_id
from turngate.traces.telemetry import Dropped

__all__ = [
    "DRIVERS",
    "Ended",
    "changed_config",
    "continue_run",
    "create_run",
    "fork_run",
    "open_session",
    "refuse_changes",
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


def start_run(
    config: RunConfig, folder: str | Path, observers: Sequence[Observer] = (), run_id: str | None = None
) -> Ended:
    """Create a run in `folder` and drive it to its end.

    A run of the same configuration that is already there goes on; another one raises `ConfigChanged`. `run_id` is
    made up when it is not given.
    """
    run = RunFolder(Path(folder))
    over = _over(run, config) if run.exists() else None
    if over is not None:
        return over
    with _begun(run, config, observers, run_id) as work:
        _drive(work.session)
    return _ended(work)


def continue_run(
    folder: str | Path,
    config: RunConfig | None = None,
    observers: Sequence[Observer] = (),
    review: Review | None = None,
) -> Ended:
    """Drive a run from where its ledger ends; a finished one is left alone.

    `config` may change budgets, driver and telemetry; other changes raise `ConfigChanged`.
    """
    run = RunFolder.existing(Path(folder))
    over = _over(run, config) if review is None else None
    if over is not None:
        return over
    with _gone_on(run, config, observers, review) as work:
        _drive(work.session)
    return _ended(work)


def _over(run: RunFolder, config: RunConfig | None) -> Ended | None:
    """How a finished run ended, None for another: it is only read, so it may lie where nothing can be written."""
    info = run.info()
    if config is not None:
        refuse_changes(run, info, parse_config(info.config, str(run.info_file)), _pinned(config))
    ledger = run.ledger()
    try:
        status = fold(info.origin.image, ledger.decisions()).status
    finally:
        ledger.close()
    return Ended(run.path, status, None, worked=False) if status in ENDINGS else None


@contextmanager
def open_session(
    folder: str | Path, config: RunConfig | None = None, observers: Sequence[Observer] = ()
) -> Iterator[Session]:
    """A run for a driver of your own: the machine within your graph, or a loop over its steps.

    The run in `folder` is begun, or goes on; `config` may be left out then. Its lock is held, the origin is scored, and
    begin and end are recorded and told to observers. Leaving while `session.status` is `running` makes the run
    `interrupted`, an exception `failed`; both can go on. Nothing is to be done where the status is another one.
    """
    run = RunFolder(Path(folder))
    if config is None or run.exists():
        at_work = _gone_on(RunFolder.existing(run.path), config, observers)
    else:
        at_work = _begun(run, config, observers)
    with at_work as work:
        yield work.session


@contextmanager
def _begun(
    run: RunFolder, config: RunConfig, observers: Sequence[Observer], run_id: str | None = None
) -> Iterator[Work]:
    """Work on a new run; on the one that is there when it has the same configuration."""
    if run.exists():
        with _gone_on(run, config, observers) as work:
            yield work
        return
    check_run(config)  # before weights are loaded: it is quick, and tells all that is wrong
    components, origin = build_components(config), load_origin(config.origin)
    _check_origin(components, origin)
    config = _pinned(config)
    run.prepare()
    with RunLock(run.path):
        info = create_run(config, run, components, origin, run_id or run_id_for(config))
        with working_on(run, info, config, components, observers) as work:
            yield work


@contextmanager
def _gone_on(
    run: RunFolder, config: RunConfig | None, observers: Sequence[Observer], review: Review | None = None
) -> Iterator[Work]:
    """Work on a run that is there."""
    info = run.info()
    recorded = parse_config(info.config, str(run.info_file))
    if config is not None:
        refuse_changes(run, info, recorded, _pinned(config))
        free = {name: getattr(config, name) for name in ("budgets", "driver", "telemetry")}
        recorded = recorded.model_copy(update=free)
    with RunLock(run.path):
        # Objects of a program are in the configuration that it gave, not in the record.
        components = build_components(recorded if config is None else config)
        with working_on(run, info, recorded, components, observers, review) as work:
            yield work


def fork_run(folder: str | Path, turn: int | None, target: Path | None, config: RunConfig) -> Path:
    """Start a child run that shares turns 1..`turn` with the run in `folder` (None: all closed turns).

    The parent is only read. The child's folder is `target`, or one beside the parent. Raises `ConfigError` when the
    parent has not closed that turn.
    """
    run_id = run_id_for(config)
    parent = RunFolder.existing(Path(folder))
    child = RunFolder(target or parent.path.parent / run_id)
    info = parent.info()
    if child.exists():
        raise UserError(f"{target} already holds a run: choose a new folder with --out")
    ledger = parent.ledger()
    try:
        closed = sum(row.closes_turn for row in ledger.decisions())
        turn = closed if turn is None else turn
        if not 0 <= turn <= closed:
            raise ConfigError(f"--turn {turn}: the run has closed {counted(closed, 'turn')}, give 0 to {closed}")
        if turn >= config.turns:
            raise ConfigError(f"--turn {turn}: the child needs more turns than it copies, add --set turns={turn + 1}")
        components = build_components(config)
        origin = Picture.from_bytes(parent.images.get(info.origin.image), "the origin")
        _check_origin(components, origin)
        child.prepare()
        with RunLock(child.path):
            _copy(ledger, parent, child, turn)
            create_run(_pinned(config), child, components, origin, run_id, Parent(run=info.run, turn=turn))
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


def create_run(
    config: RunConfig,
    run: RunFolder,
    components: Components,
    origin: Picture,
    run_id: str,
    parent: Parent | None = None,
) -> RunInfo:
    """Write the origin, the ledger and, last, run.json: a folder with a run.json is a whole run.

    The caller has prepared the folder and holds the run's lock.
    """
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


def _drive(session: Session) -> None:
    if session.status == "running":
        with _graceful(session):
            try:
                DRIVERS[session.config.driver](session)
            except Paused as paused:
                session.status, session.reason = "interrupted", str(paused)


def _ended(work: Work) -> Ended:
    """After the work: only then is it known what telemetry arrived."""
    session = work.session
    return Ended(session.folder, session.status, session.reason, work.worked, work.dropped)


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


def refuse_changes(run: RunFolder, info: RunInfo, recorded: RunConfig, config: RunConfig) -> None:
    """Raise `ConfigChanged` where `config` is another experiment than the one that is `recorded`."""
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


def run_loop(session: Session) -> None:
    """Drive the steps in a plain loop, evaluators one after the other; `session.status` says how it ended."""
    progress: Progress = session.progress
    while progress.status == "running":
        attempt = edit(session, progress)
        scores = [measure(session, attempt, name) for name in session.components.evaluators]
        progress = decide(session, progress, attempt, scores, measure_truths(session, attempt))


def run_graph(session: Session) -> None:
    """Drive the steps through the LangGraph machine, evaluators in parallel; `session.status` says how it ended."""
    from turngate.graphs.machine import build_machine, first_state, step_limit

    config = session.config
    limit = step_limit(config.turns, config.on_reject.attempts, config.budgets.attempts)
    build_machine().invoke(first_state(session.progress), {"recursion_limit": limit}, context=LoopContext(session))


DRIVERS: dict[Literal["graph", "loop"], Callable[[Session], None]] = {"graph": run_graph, "loop": run_loop}
"""Drivers by name."""
