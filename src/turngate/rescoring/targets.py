"""What is scored: the images of one run, folder or manifest, and the file of their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from turngate.agent.scenario import Scenario
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import BadImage, ConfigError, TurngateError, UserError
from turngate.evaluators import EvaluatorInput
from turngate.evaluators.bulk import ImageSource, ScoreJob
from turngate.graphs.measure_step import edit_boxes
from turngate.image_files import images_and_others
from turngate.manifest import manifest_rows
from turngate.picture import Picture
from turngate.traces.images import ImageRole, ImageStore, made_images
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRecord
from turngate.traces.rescored import FILE_NAME
from turngate.traces.run_folder import RunFolder, RunInfo, find_runs

__all__ = ["FoundTargets", "ImagePlace", "Target", "find", "turns_in"]


@dataclass(frozen=True)
class ImagePlace:
    """Place of an image in its run."""

    turn: int | None = None
    attempt: int | None = None
    role: ImageRole = "image"


@dataclass(frozen=True)
class Target:
    """Images that belong together."""

    name: str
    """Run id, or path."""
    table: Path
    """File of the scores."""
    jobs: tuple[ScoreJob, ...]
    """One per image that is scored."""
    images: int
    """Total number of images."""
    offers: frozenset[EvaluatorInput]
    """What at least one image can be compared with."""
    places: Mapping[str, ImagePlace] = field(default_factory=dict)
    """Id of a job -> place of its image in a run; empty for a folder."""
    selection: Mapping[str, Any] = field(default_factory=dict)
    """How `jobs` were chosen; empty when they are all images."""
    left_out: tuple[Path, ...] = ()
    """Files of a folder that are no images."""

    def place(self, job: ScoreJob) -> ImagePlace:
        """Place of a job's image in a run."""
        return self.places.get(job.id, ImagePlace())


_ORIGIN = ImagePlace(0, 0, "origin")
_Source = Callable[[str], ImageSource]


def run_target(path: Path, turns: frozenset[int] | None = None, with_history: bool = True) -> Target:
    """Origin, candidates and composites of the run at `path`, or those of some turns (0 for the origin).

    Each has the references that it had when it was made. Without history a run of n turns takes n steps, with it n^2.
    Raises `NoSuchRun` or `DamagedRun`.
    """
    folder = RunFolder.existing(path)
    info, ledger = folder.info(), folder.ledger()
    try:
        records = ledger.records()
    finally:
        ledger.close()
    scenario = _scenario(info, records)
    found = list(_images(_sources(folder.images), info.origin.image, records, with_history, scenario))
    start = info.origin
    size = (start.width, start.height) if "width" in start.model_fields_set else None
    return Target(
        info.run,
        folder.path / FILE_NAME,
        tuple(replace(job, origin_size=size) for job, place in found if turns is None or place.turn in turns),
        len(found),
        frozenset(get_args(EvaluatorInput)),
        {job.id: place for job, place in found},
        {} if turns is None else {"turns": sorted(turns)},
    )


def _images(
    source: _Source, origin: str, records: list[AttemptRecord], with_history: bool, scenario: Scenario | None
) -> Iterator[tuple[ScoreJob, ImagePlace]]:
    start = source(origin)
    yield ScoreJob("0/0/origin", start, start, start, start, instruction="", edit_boxes=()), _ORIGIN
    position = Progress.start(origin)
    for record in records:
        attempt = record.attempt
        boxes = edit_boxes(scenario, position, attempt) if scenario is not None else None
        for role, image in made_images(attempt, record.composite):
            job = ScoreJob(
                f"{attempt.turn}/{attempt.attempt}/{role}",
                source(image),
                origin=start,
                first=source(position.first(image)),
                previous=source(position.image),
                history=tuple(map(source, position.history)) if with_history else (),
                instruction=attempt.instruction,
                edit_boxes=boxes,
            )
            yield job, ImagePlace(attempt.turn, attempt.attempt, role)
        position = advance(position, record.decision)


def _scenario(info: RunInfo, records: Sequence[AttemptRecord]) -> Scenario | None:
    """The run's scenario, for where its edits were; None where it is not installed here."""
    try:
        scenario = SCENARIOS.build(SCENARIOS.configure(info.config["scenario"], "scenario"))
    except (TurngateError, KeyError):
        return None
    restore = getattr(scenario, "restore", None)
    if restore is not None:
        restore((record.attempt.turn, record.attempt.metadata) for record in records)
    return scenario


def _sources(store: ImageStore) -> _Source:
    @cache
    def source(sha256: str) -> ImageSource:
        # A missing file costs the scores of that image, not those of all.
        return ImageSource(store.find(sha256) or store.root / sha256[:2] / sha256, sha256)

    return source


def folder_target(path: Path, origin: Path | None = None, table: Path | None = None) -> Target:
    """All images at or below `path` in natural order, or the one image that it is; `origin` is the reference of all.

    Hidden files are left alone. Raises `UserError` when there are none, `BadImage` for an origin that is none.
    """
    base = path if path.is_dir() else path.parent
    files, others = images_and_others(path) if path.is_dir() else ([path], [])
    if not files:
        raise UserError(f"{path} holds no run (run.json) and no images that can be read: check the path")
    others = [file for file in others if ".sqlite" not in file.name]  # our own tables and caches
    shared = None if origin is None else _reference(origin)
    jobs = tuple(ScoreJob(file.relative_to(base).as_posix(), ImageSource(file), shared) for file in files)
    offers: set[EvaluatorInput] = {"candidate", "origin"} if shared else {"candidate"}
    # The origin among them compares with itself: it is scored, and in no mean.
    place = None if origin is None else origin.resolve()
    own = {job.id: _ORIGIN for job, file in zip(jobs, files, strict=True) if file.resolve() == place}
    table = table or base / FILE_NAME
    return Target(str(path), table, jobs, len(jobs), frozenset(offers), own, left_out=tuple(others))


def _reference(path: Path) -> ImageSource:
    try:
        return ImageSource(path, Picture.from_file(path).sha256)
    except BadImage as error:
        raise BadImage(f"--origin: {error}") from None


_WHERE = "manifest"
_Text = Annotated[str, BeforeValidator(lambda cell: cell.strip() if isinstance(cell, str) else cell)]


class _ManifestRow(BaseModel, use_attribute_docstrings=True):
    """One line; paths are relative to the manifest, or absolute."""

    path: _Text
    id: _Text | None = None
    """Names the image in the table of scores; its path when it is not given."""
    origin: _Text | None = Field(default=None, validation_alias=AliasChoices("origin", "reference"))
    first: _Text | None = None
    previous: _Text | None = None
    instruction: str | None = None
    turn: int | None = Field(default=None, ge=0)
    attempt: int | None = Field(default=None, ge=0)
    chain: _Text | None = None
    """Rows of one chain, with their turns, are each other's history; turn 0 is the origin."""
    history: _Text | None = None
    """The images that led to this one, the first first, without the origin; separated by `;`."""


def manifest_target(file: Path, table: Path | None = None) -> Target:
    """The images that a CSV file lists, each with its references; raises `ConfigError` that names the line."""
    jobs: dict[str, ScoreJob] = {}
    places: dict[str, ImagePlace] = {}
    rows = list(manifest_rows(file, _ManifestRow, ("path",), _WHERE))
    chains = _manifest_chains(file, rows)
    for line, row in rows:
        job = _in_chain(_manifest_job(file, line, row), row, chains)
        if job.id in jobs:
            raise ConfigError(f"{_WHERE}: {file}, line {line}: {job.id} was listed before: give each row an id")
        jobs[job.id] = job
        begins = row.chain is not None and row.turn == 0
        places[job.id] = _ORIGIN if begins else ImagePlace(row.turn, row.attempt)
    if not jobs:
        raise ConfigError(f"{_WHERE}: {file} lists no images")
    offers: set[EvaluatorInput] = {"candidate"}
    for role in ("origin", "first", "previous", "instruction"):
        if any(getattr(job, role) is not None for job in jobs.values()):
            offers.add(role)
    if any(row.chain or row.history for _, row in rows):
        offers.add("history")
    found = tuple(jobs.values())
    return Target(str(file), table or file.parent / FILE_NAME, found, len(found), frozenset(offers), places)


def _manifest_job(file: Path, line: int, row: _ManifestRow) -> ScoreJob:
    references: dict[str, Any] = {}
    for role in ("origin", "first", "previous"):
        cell = getattr(row, role)
        if cell is not None:
            path = file.parent / cell
            if not path.is_file():
                raise ConfigError(f"{_WHERE}: {file}, line {line}: {role}: no image at {path}: check the path")
            references[role] = ImageSource(path)
    if row.history is not None:
        earlier = [file.parent / name.strip() for name in row.history.split(";") if name.strip()]
        missing = next((path for path in earlier if not path.is_file()), None)
        if missing is not None:
            raise ConfigError(f"{_WHERE}: {file}, line {line}: history: no image at {missing}: check the path")
        references["history"] = tuple(map(ImageSource, earlier))
    return ScoreJob(row.id or row.path, ImageSource(file.parent / row.path), instruction=row.instruction, **references)


_Rows = list[tuple[int, _ManifestRow]]


def _manifest_chains(file: Path, rows: _Rows) -> dict[str, dict[int, ImageSource]]:
    """Chain -> turn -> image; raises `ConfigError` for a row without a turn, and for two rows of one turn."""
    chains: dict[str, dict[int, ImageSource]] = {}
    for line, row in rows:
        if row.chain is None:
            continue
        where = f"{_WHERE}: {file}, line {line}"
        if row.turn is None:
            raise ConfigError(f"{where}: a row of a chain needs its turn, 0 for the origin")
        if row.turn in chains.setdefault(row.chain, {}):
            raise ConfigError(f"{where}: chain {row.chain} has turn {row.turn} twice")
        chains[row.chain][row.turn] = ImageSource(file.parent / row.path)
    return {name: dict(sorted(images.items())) for name, images in chains.items()}


def _in_chain(job: ScoreJob, row: _ManifestRow, chains: Mapping[str, Mapping[int, ImageSource]]) -> ScoreJob:
    """The job with what its chain says of it, where its own columns say nothing: as in a run that kept every image."""
    if row.chain is None or row.turn is None:
        return job
    chain = chains[row.chain]
    origin = chain.get(0)
    earlier = tuple(image for turn, image in chain.items() if 0 < turn < row.turn)
    if row.turn == 0:
        return replace(job, origin=job.origin or origin, first=job.first or origin, previous=job.previous or origin)
    return replace(
        job,
        origin=job.origin or origin,
        first=job.first or (earlier[0] if earlier else job.candidate),
        previous=job.previous or (earlier[-1] if earlier else origin),
        history=job.history or earlier,
    )


@dataclass(frozen=True)
class FoundTargets:
    """Runs, or one other target."""

    runs: tuple[Path, ...] = ()
    other: Target | None = None

    @property
    def offers(self) -> frozenset[EvaluatorInput]:
        """What images can be compared with; a run knows everything."""
        return self.other.offers if self.other is not None else frozenset(get_args(EvaluatorInput))

    def targets(self, turns: frozenset[int] | None, limit: int | None, with_history: bool) -> Iterator[Target]:
        """Open what was found; of each the given turns only, and at most `limit` images."""
        if self.other is not None:
            yield _first(self.other, limit)
        for run in self.runs:
            yield _first(run_target(run, turns, with_history), limit)


def find(path: Path, origin: Path | None = None, table: Path | None = None) -> FoundTargets:
    """Look at `path`; `origin` and `table` (file of the scores) are for images outside runs only.

    Raises `UserError` when there is nothing to score, `ConfigError` or `BadImage` for what cannot be read.
    """
    if not path.exists():
        raise UserError(f"nothing at {path}: give a run, a study, a folder of images or a CSV manifest")
    runs = _runs(path)
    if runs:
        given = "--origin" if origin else "--out" if table else None
        if given is not None:
            raise ConfigError(f"{given}: a run has its own: it is for folders of images and manifests")
        return FoundTargets(runs)
    if path.is_file() and path.suffix.lower() in (".csv", ".txt"):
        if origin is not None:
            raise ConfigError("--origin: a manifest says so itself, in a column origin")
        return FoundTargets(other=manifest_target(path, table))
    return FoundTargets(other=folder_target(path, origin, table))


def turns_in(text: str) -> frozenset[int]:
    """Turns from `1-10,20`; 0 is the origin. Raises `ConfigError`."""
    turns: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ConfigError(f"--turns {text}: write turns and ranges, for instance 0,1,5-20")
        turns.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(turns)


def _runs(path: Path) -> tuple[Path, ...]:
    if path.name == "run.json":
        return (path.parent,)
    return tuple(find_runs(path)) if path.is_dir() else ()


def _first(target: Target, limit: int | None) -> Target:
    if limit is None or limit >= len(target.jobs):
        return target
    return replace(target, jobs=target.jobs[:limit], selection={**target.selection, "limit": limit})
