"""A run whose images a program brings: `open_run`, and what it opens."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from turngate.agent.editor import Edited, EditUsage, NoImage, NoImageWhy
from turngate.agent.scenarios.external import ExternalScenario
from turngate.component import Box
from turngate.errors import BadImage, ConfigError, UserError
from turngate.graphs.components import build_components
from turngate.graphs.config import OriginConfig, RunConfig
from turngate.graphs.edit_step import edit
from turngate.graphs.embedded.images import image_bytes, picture_of
from turngate.graphs.embedded.offered import NextStep, Offered
from turngate.graphs.load import parse_config, read_mapping, with_absolute_paths
from turngate.graphs.masked_accept import decide
from turngate.graphs.measure_step import measure, measure_truths
from turngate.graphs.origin import load_origin, shrunk
from turngate.graphs.runner import create_run, refuse_changes, run_id_for
from turngate.graphs.session import Observer, Session
from turngate.graphs.work import Review, Work, add_review, working_on
from turngate.picture import Picture
from turngate.registry import nearest
from turngate.traces.lock import RunLock
from turngate.traces.records import AttemptRecord, ScoreRow
from turngate.traces.run_folder import RunFolder

if TYPE_CHECKING:
    from turngate.agent.editors.external import ExternalEditor
    from turngate.graphs.embedded.images import ImageLike

__all__ = ["OpenRun", "open_run"]

_GIVEN = "given by the program"
_EXTERNAL = {"type": "external"}


def open_run(
    folder: str | Path,
    config: str | Path | Mapping[str, Any] | RunConfig | None = None,
    *,
    origin: ImageLike | None = None,
    evaluators: Any = None,
    gate: Any = None,
    truth: Any = None,
    on_reject: Any = None,
    turns: int | None = None,
    size: int | None = None,
    ideal: Literal["origin"] | None = None,
    observers: Sequence[Observer] = (),
    **more: Any,
) -> OpenRun:
    """A run in `folder` whose images your own program makes: use it in a `with` or an `async with` block.

    A run that is there already goes on; what is given again must be what it was made with, or `ConfigChanged` is
    raised. A folder without a run needs `origin`, `evaluators` and `gate`, here or in `config`.

    Args:
        folder: Where the run is recorded; `turngate show`, `report`, `view`, `score`, `replay` and studies read it.
        config: A YAML file, a mapping or a configuration under the other arguments; its editor is left aside.
        origin: The image before turn 1: path, `skimage:NAME`, bytes, image of Pillow, or array (H x W x 3, `uint8` or
            floats from 0 to 1).
        evaluators: Names, configurations or objects: a list, or a mapping of names to them.
        gate: Name, configuration or object of the gate.
        truth: `{"measure": EVALUATOR, "damaged_at": VALUE}`: the damage measure that the gate never sees.
        on_reject: What follows a rejection, for instance `{"attempts": 3, "then": "rollback"}`.
        turns: Turns after which the run is complete, 1 to 100,000; 100 where nothing says otherwise.
        size: Longest side of the origin in pixels; a larger one is shrunk.
        ideal: `"origin"` when a perfect editor would give the origin back at every turn; truth that compares with a
            reference needs it.
        observers: Told of everything that is recorded, after it is recorded.
        more: Other fields of the configuration (`seed`, `budgets`, `on_unscored`, `telemetry`, ...).

    Raises:
        ConfigError: A field is wrong or missing.
        BadImage: The origin is no image that can be read.
    """
    given = {"evaluators": evaluators, "gate": gate, "truth": truth, "on_reject": on_reject, "turns": turns, **more}
    fields = {name: value for name, value in given.items() if value is not None}
    return OpenRun(Path(folder), config, origin, fields, size, ideal, observers)


class OpenRun:
    """One run and the program that makes its images. One at a time may hold it; made by `open_run`."""

    def __init__(
        self,
        folder: Path,
        config: str | Path | Mapping[str, Any] | RunConfig | None,
        origin: ImageLike | None,
        fields: Mapping[str, Any],
        size: int | None,
        ideal: Literal["origin"] | None,
        observers: Sequence[Observer],
    ) -> None:
        self.folder = folder
        """The run folder."""
        self._asked = (config, origin, fields, size, ideal)
        self._observers = tuple(observers)
        self._work: Work | None = None
        self._stack = ExitStack()
        self._turn_lock = threading.Lock()
        self.last: Offered | None = None
        """The answer to the last offer; None before there is one in this process."""

    # A context manager, in both kinds of programs.

    def __enter__(self) -> Self:
        if self._work is not None:
            raise UserError(f"{self.folder} is open already: leave the first `with` block before the second")
        with ExitStack() as stack:
            self._work = self._opened(stack)
            if self._pending():
                self.last = self._decide()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        work = self._work
        self._work = None
        if work is not None and work.session.status == "running":
            work.session.reason = f"closed by its program before turn {work.session.progress.turn}"
        self._stack.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    # Where it stands.

    @property
    def current(self) -> Picture:
        """The standing image, from which the next edit starts: its bytes `data`, its pixels `rgb`, or `to_pil()`."""
        session = self._session
        return session.pictures.get(session.progress.image)

    @property
    def current_path(self) -> Path:
        """Where the bytes of the standing image lie, in the run folder."""
        return RunFolder(self.folder).images.path(self._session.progress.image)

    @property
    def turn(self) -> int:
        """1-based turn that the next image is for."""
        return self._session.progress.turn

    @property
    def attempt(self) -> int:
        """1-based attempt within the turn."""
        return self._session.progress.attempt

    @property
    def instruction(self) -> str:
        """What the run's scenario asks for at this turn; empty where the program gives the instructions."""
        return self._session.components.scenario.instruction(self.turn).text

    @property
    def status(self) -> str:
        """`running`, `waiting` (a person must decide), or how the run ended (`complete`, `stopped`, ...)."""
        return self._session.status

    # Offers.

    def offer(
        self,
        image: ImageLike | None,
        instruction: str | None = None,
        *,
        reasoning: str | None = None,
        usage: EditUsage | Mapping[str, Any] | None = None,
        model: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        edit_boxes: Sequence[Box] | None = None,
        why: NoImageWhy = "no_image",
        detail: str = "",
    ) -> Offered:
        """Score an image, decide about it, record it, and say what to do next.

        Bytes that are no image are recorded as an attempt without one, as they came.

        Args:
            image: What your editor made of `current`: path, bytes, image of Pillow or array; None where it made none.
            instruction: What it was asked for.
            reasoning: The model's own summary of its thoughts.
            usage: Tokens and cost of the call: `EditUsage`, or a mapping of its fields.
            model: Model and version that answered.
            metadata: Anything else worth keeping, plain JSON.
            edit_boxes: Where the instruction meant to change something, as (left, top, right, bottom) in shares 0..1.
            why: Where `image` is None: why there is none.
            detail: One line about a missing image.

        Raises:
            UserError: The run has ended, waits for a person, or is not open.
            BadImage: A path without a file, an array or object that is no image: nothing is recorded.
        """
        with self._turn_lock:
            session = self._session
            if self.status != "running":
                raise UserError(f"nothing can be offered: {self._why_not()}")
            told = self._tell(instruction, edit_boxes)
            spent = _usage(usage)
            answer: Edited | NoImage
            if image is None:
                answer = NoImage(why, detail, reasoning=reasoning, model=model, usage=spent)
            else:
                data, picture = _data(image)
                kept = {**(metadata or {}), **told}
                answer = Edited(data, reasoning, model, spent, metadata=kept, picture=picture)
            cast("ExternalEditor", session.components.editor).bring(answer)
            self.last = self._decide()
            return self.last

    async def aoffer(self, image: ImageLike | None, instruction: str | None = None, **more: Any) -> Offered:
        """`offer` in a thread of its own, so that an event loop goes on meanwhile."""
        return await asyncio.to_thread(self.offer, image, instruction, **more)

    def recorded(self, turn: int, attempt: int) -> Offered | None:
        """The answer to an offer that is recorded; None when that attempt is not, or waits for a person."""
        session = self._session
        if (turn, attempt) >= (session.progress.turn, session.progress.attempt):
            return None
        latest = session.latest
        if latest is not None and (latest.attempt.turn, latest.attempt.attempt) == (turn, attempt):
            return _offered(latest, session.status)
        found = (one for one in session.ledger.records() if (one.attempt.turn, one.attempt.attempt) == (turn, attempt))
        return next((_offered(one, "running") for one in found), None)

    def review(self, accept: bool, comment: str = "") -> Offered:
        """A person's decision about the image that waits; raises `UserError` when none does."""
        with self._turn_lock:
            if self.status != "waiting":
                raise UserError("no image of this run waits for a person")
            add_review(self._session, Review(accept, comment))
            self._session.status = "running"
            self.last = self._decide()
            return self.last

    # Parts.

    @property
    def _opened_work(self) -> Work:
        if self._work is None:
            raise UserError(f"{self.folder} is not open: use `with turngate.open_run(...) as run:`")
        return self._work

    @property
    def _session(self) -> Session:
        return self._opened_work.session

    def _opened(self, stack: ExitStack) -> Work:
        run = RunFolder(self.folder)
        if run.exists():
            info = run.info()
            recorded = parse_config(info.config, str(run.info_file))
            if recorded.editor.type != _EXTERNAL["type"]:
                raise UserError(
                    f"the images of the run in {self.folder} come from the editor {recorded.editor.type!r}: "
                    "go on with `turngate resume`, or choose a new folder"
                )
            config, _ = self._config(recorded)
            refuse_changes(run, info, recorded, config)
            components = build_components(config)
            stack.enter_context(RunLock(run.path))
        else:
            config, origin = self._config(None)
            components, origin = build_components(config), origin or load_origin(config.origin)
            run.prepare()
            stack.enter_context(RunLock(run.path))
            info = create_run(config, run, components, origin, run_id_for(config))
        return stack.enter_context(working_on(run, info, config, components, self._observers))

    def _config(self, recorded: RunConfig | None) -> tuple[RunConfig, Picture | None]:
        """The configuration that is asked for, over the recorded one, and the origin where one was given."""
        asked, origin, fields, size, ideal = self._asked
        raw: dict[str, Any] = {} if recorded is None else dict(recorded)
        where = "open_run"
        if isinstance(asked, RunConfig):
            raw |= dict(asked)
        elif isinstance(asked, Mapping):
            raw |= with_absolute_paths(asked, Path.cwd())
        elif asked is not None:
            where = str(asked)
            raw |= with_absolute_paths(read_mapping(Path(asked)), Path(asked).parent)
        raw |= with_absolute_paths(fields, Path.cwd())
        raw["editor"] = _EXTERNAL
        if ideal is not None:
            raw["scenario"] = {**_EXTERNAL, "ideal": ideal}
        raw.setdefault("scenario", _EXTERNAL)
        picture = None
        if origin is not None:
            picture = self._origin(origin, size)
            image = str(origin) if isinstance(origin, str | Path) else _GIVEN
            raw |= with_absolute_paths({"origin": {"image": image, "size": size}}, Path.cwd())
            raw["origin"] |= {"sha256": picture.sha256}
        if "origin" not in raw:
            raise ConfigError(f"no run at {self.folder} yet: give `origin`, the image before turn 1")
        config = parse_config(raw, where)
        return config, picture

    def _origin(self, origin: ImageLike, size: int | None) -> Picture:
        if isinstance(origin, str | Path):
            return load_origin(OriginConfig(image=str(origin), size=size))
        return shrunk(picture_of(origin, "origin"), size)

    def _pending(self) -> bool:
        """An image was stored and not decided about when the last process ended."""
        session = self._session
        owed = (session.progress.turn, session.progress.attempt)
        return any(call.kind == "edit" and (call.turn, call.attempt) == owed for call in session.ledger.calls())

    def _tell(self, instruction: str | None, edit_boxes: Sequence[Box] | None) -> dict[str, Any]:
        scenario = self._session.components.scenario
        if isinstance(scenario, ExternalScenario):
            return scenario.tell(self.turn, instruction or "", None if edit_boxes is None else tuple(edit_boxes))
        if instruction is not None and instruction != self.instruction:
            raise UserError("the run's scenario gives the instructions: edit `run.current` as `run.instruction` says")
        return {}

    def _decide(self) -> Offered:
        """Measure and decide about the attempt that is due, and record it."""
        session = self._session
        before = session.progress
        attempt = edit(session, before)
        scores = [measure(session, attempt, name) for name in session.components.evaluators]
        after = decide(session, before, attempt, scores, measure_truths(session, attempt))
        if after.status == "waiting" or session.latest is None:
            waits = session.reason or "a person must decide"
            return Offered(
                before.turn, before.attempt, None, waits, "review", "", _values(scores), after.status, tuple(scores)
            )
        return _offered(session.latest, after.status)

    def _why_not(self) -> str:
        session = self._session
        if self.status == "waiting":
            return f"{session.reason}; say run.review(accept=True) or run.review(accept=False)"
        return f"the run has ended ({self.status}{': ' + session.reason if session.reason else ''})"


def _values(scores: Iterable[ScoreRow]) -> dict[str, float | None]:
    return {row.evaluator: row.value if row.status == "scored" else None for row in scores}


def _offered(record: AttemptRecord, status: str) -> Offered:
    """The answer that a recorded attempt had, in a run of this status after it."""
    row, scores = record.decision, record.scores
    then: NextStep = "stop" if status != "running" else "go_on" if row.closes_turn else "retry"
    return Offered(
        row.turn, row.attempt, row.verdict, row.reason, then, row.action, _values(scores), status, scores, row
    )


def _usage(usage: EditUsage | Mapping[str, Any] | None) -> EditUsage:
    if usage is None or isinstance(usage, EditUsage):
        return usage or EditUsage()
    known = [field.name for field in dataclasses.fields(EditUsage)]
    strange = next((name for name in usage if name not in known), None)
    if strange is not None:
        raise ConfigError(f"usage: no such field {strange!r}{nearest(str(strange), known)}")
    return EditUsage(**usage)


def _data(image: ImageLike) -> tuple[bytes, Picture | None]:
    """The bytes of an offered image. Whether they can be decoded is found by the step that takes them."""
    if isinstance(image, Picture):
        return image.data, image
    if isinstance(image, str | Path):
        try:
            return Path(image).read_bytes(), None
        except (OSError, ValueError) as error:
            raise BadImage(f"cannot read {image}: {getattr(error, 'strerror', None) or error}") from None
    return image_bytes(image, "the offered image"), None
