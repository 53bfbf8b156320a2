"""Runs the jobs of a study, side by side, each for itself: what fails in one does not touch the others."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from turngate.component import ObjectConfig
from turngate.errors import MachineError, TurngateError
from turngate.graphs.runner import run_id_for, start_run
from turngate.graphs.session import Observer
from turngate.graphs.study.plan import Job, Study
from turngate.graphs.work import ENDINGS
from turngate.traces.progress import run_status
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunFolder
from turngate.whole_file import write_whole

__all__ = ["Finished", "MakeObservers", "run_jobs", "run_study", "unwatched"]

MakeObservers = Callable[[str, Path], AbstractContextManager[Sequence[Observer]]]
"""Makes the observers of one run from its label and folder."""


@dataclass(frozen=True)
class Finished:
    """How one job ended."""

    job: Job
    folder: Path
    status: str
    """Status of the run; `failed` also when it could not begin."""
    reason: str | None
    worked: bool
    """False when there was nothing to do."""
    exit_code: int | None = None
    """Of the error that ended it, when one did."""


@contextmanager
def unwatched(name: str, path: Path) -> Iterator[Sequence[Observer]]:
    """No observer of the run called `name` in `path`: a study can be watched through its ledgers."""
    yield []


def run_study(
    study: Study, folder: str | Path, watch: MakeObservers = unwatched, jobs: int = 1, retry_failed: bool = False
) -> list[Finished]:
    """Run every job in `folder` to its end, see `run_jobs`.

    With `jobs` above 1 a script must do this beneath `if __name__ == "__main__":`, for each process imports it again.
    """
    return list(run_jobs(study, Path(folder), watch, jobs, retry_failed))


def run_jobs(
    study: Study,
    folder: Path,
    watch: MakeObservers,
    jobs: int = 1,
    retry_failed: bool = False,
    leave: Collection[Path] = (),
) -> Iterator[Finished]:
    """Run every job in `folder`, yielding each as it ends; finished ones are left alone, interrupted ones go on.

    A job that failed before is left alone too, unless `retry_failed`. With `jobs` above 1 that many run at a time,
    each in a process of its own; `watch` must then be picklable. The ledgers are the same either way. Random gates
    that are matched to other arms run after those. Jobs whose path is in `leave` are in the plan and not touched.
    """
    _write_manifest(study, folder)
    left = set(leave)
    first = [job for job in study.jobs if not job.like and job.path not in left]
    for one in _run_all(first, folder, watch, jobs, retry_failed):
        yield one
        if one.status == "interrupted":
            return
    matched = [_matched(job, study.jobs, folder) for job in study.jobs if job.like]
    yield from _run_all(matched, folder, watch, jobs, retry_failed)


def _write_manifest(study: Study, folder: Path) -> None:
    """Write `study.json`: the file's fields, and which run is which arm and cell."""
    jobs = [
        {
            "arm": job.arm, "control": job.control, "origin": job.origin, "scenario": job.scenario,
            "editor": job.editor, "repeat": job.repeat, "path": job.path.as_posix(),
        }
        for job in study.jobs
    ]  # fmt: skip
    fields = study.config.model_dump(mode="json", fallback=_described)
    text = redact(json.dumps({"study": fields, "runs": jobs}, indent=2))
    try:
        write_whole(folder / "study.json", text)
    except OSError as error:
        raise MachineError(f"cannot write into {folder}: {error.strerror or error}") from error


def _described(given: Any) -> Any:
    """What stands in study.json for a component that a program gave as an object."""
    return ObjectConfig.of(given).model_dump(mode="json")


def _run_all(
    jobs: Sequence[Job], folder: Path, watch: MakeObservers, processes: int, retry_failed: bool
) -> Iterator[Finished]:
    work = [(job, folder / job.path, watch, retry_failed) for job in jobs]
    # What is finished needs no process of its own; it is only held against its configuration.
    here = [one for one in work if processes == 1 or _status(one[1]) in ENDINGS]
    for done in map(_run_job, here):
        yield done
        if done.status == "interrupted":
            return
    left = dict(enumerate(one for one in work if one not in here))
    if not left:
        return
    with _pool(min(processes, len(left))) as pool:
        futures: dict[Future[Finished], int] = {pool.submit(_run_job, one): key for key, one in left.items()}
        try:
            for future in as_completed(futures):
                try:
                    done = future.result()
                except BrokenProcessPool:  # a process was killed, and took the pool along
                    continue
                del left[futures[future]]
                yield done
                if done.status == "interrupted":
                    return
        finally:
            pool.shutdown(cancel_futures=True)
    yield from _one_by_one(left.values())  # finds out whose process it was


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_end_with_parent)


_working = threading.Lock()
"""Held while this process works on a run."""


def _end_with_parent() -> None:
    """See that this process does not outlive a study that was killed: its run ends after the present attempt."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)  # the run ends resumably, as if it had been asked itself
        with _working:
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one_by_one(work: Iterable[tuple[Job, Path, MakeObservers, bool]]) -> Iterator[Finished]:
    for one in work:
        job, path, _, _ = one
        with _pool(1) as pool:
            try:
                yield pool.submit(_run_job, one).result()
            except BrokenProcessPool:
                reason = "its process was killed, out of memory perhaps: run the study again, with fewer --jobs"
                yield Finished(job, path, "failed", reason, worked=True, exit_code=MachineError.exit_code)


def _run_job(work: tuple[Job, Path, MakeObservers, bool]) -> Finished:
    with _working:
        return _run(*work)


def _run(job: Job, path: Path, watch: MakeObservers, retry_failed: bool) -> Finished:
    before = _status(path)
    if before == "failed" and not retry_failed:
        return Finished(job, path, "failed", "failed before: mend it and add --retry-failed", worked=False)
    label = " ".join((job.arm, *job.path.parts[1:]))
    try:
        with watch(label, path) as observers:
            ended = start_run(job.config, path, observers, run_id_for(job.config))
    except TurngateError as error:
        return Finished(job, path, "failed", redact(str(error)), worked=True, exit_code=error.exit_code)
    except Exception as error:  # a component's bug ends one run, not the study
        reason = redact(f"{type(error).__name__}: {error}")
        return Finished(job, path, "failed", reason, worked=True, exit_code=TurngateError.exit_code)
    return Finished(job, path, ended.status, ended.reason, ended.worked)


def _status(path: Path) -> str | None:
    """Status of the run at `path`, None when there is none."""
    folder = RunFolder(path)
    if not folder.exists():
        return None
    ledger = folder.ledger()
    try:
        return run_status(folder.path, ledger.decisions(), ledger.events())
    finally:
        ledger.close()


def _matched(job: Job, jobs: Sequence[Job], folder: Path) -> Job:
    """The job with its gate's rate set to the mean acceptance rate of the arms it is matched to."""
    likes = [other for other in jobs if other.arm in job.like and other.cell == job.cell]
    rates = [rate for other in likes if (rate := _acceptance(folder / other.path)) is not None]
    if not rates:
        return job
    gate = job.config.gate.model_copy(update={"accept_rate": round(sum(rates) / len(rates), 6)})
    return replace(job, config=job.config.model_copy(update={"gate": gate}))


def _acceptance(path: Path) -> float | None:
    """Share of the candidates that the gate of a run accepted; None without candidates."""
    folder = RunFolder(path)
    if not folder.exists():
        return None
    ledger = folder.ledger()
    try:
        verdicts: list[Any] = [row.verdict for row in ledger.decisions() if row.rule == "gate"]
    finally:
        ledger.close()
    return sum(verdict != "reject" for verdict in verdicts) / len(verdicts) if verdicts else None
