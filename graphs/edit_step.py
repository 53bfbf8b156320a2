"""Step 1 of an attempt: call the editor, or take its stored answer."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypedDict

from pydantic import ValidationError

from turngate.agent.editor import Edited, EditRequest, Exchange, NoImage
from turngate.component import FAKE_SERVER
from turngate.errors import BadImage, MachineError, TurngateError
from turngate.graphs.config import editor_seed
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.traces.ledger import call_key, once
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, EditAnswer, EditTask
from turngate.traces.telemetry import request_headers

__all__ = ["conversation", "edit"]


# The accepted turns that led to the current image, for editors that hold a conversation.


def conversation(session: Session) -> tuple[Exchange, ...]:
    """Exchanges along the present lineage, oldest first; rejected and rolled-back turns are not among them.

    An accepted image whose model content was not kept (a person's edit, a run forked from another history protocol)
    ends the conversation: what came before it is left out.
    """
    taken = {row.turn: row.taken_attempt for row in session.ledger.decisions() if row.closes_turn and row.taken_attempt}
    rows = {(row.turn, row.attempt): row for row in session.ledger.attempts()}
    found: list[Exchange] = []
    for turn, image in reversed(session.progress.lineage):
        row = rows[turn, taken[turn]]
        if row.content is None or row.image != image:
            break
        content = json.loads(session.pictures.load(row.content))
        found.append(Exchange(row.instruction, row.input_image, image, content))
    return tuple(reversed(found))


def edit(session: Session, progress: Progress) -> AttemptRow:
    """The attempt that comes next at `progress`; the editor is called at most once for it."""
    config, pictures = session.config, session.pictures
    current = session.origin if config.history == "origin" else pictures.get(progress.image)
    images = (current, session.origin) if config.history == "anchor" else (current,)
    step = session.components.scenario.instruction(progress.turn)
    unseeded = config.seed_policy == "none"
    request = EditRequest(
        images,
        step.text,
        progress.turn,
        progress.attempt,
        editor_seed(config.seed, config.seed_policy, progress.turn, progress.attempt),
        config.history,
        send_seed=not unseeded,
        conversation=conversation(session) if config.history == "chat" else (),
        load=session.pictures.load,
        # The origin is what it is, whatever happened in the turns before.
        diverged=session.divergence.beyond and config.history != "origin",
        operation=step.operation,
        headers=request_headers(progress.turn, progress.attempt),
    )
    parameters = {
        "editor": config.editor.model_dump(mode="json"),
        "instruction": step.text,
        "seed": None if unseeded else request.seed,
    }
    hashes = [image.sha256 for image in images]
    key = call_key("edit", session.info.run, progress.turn, progress.attempt, hashes, parameters)
    call = once(
        session.ledger, key, "edit", progress.turn, progress.attempt,
        lambda: _call_editor(session, request).model_dump(mode="json"),
        session.reserve if session.components.editor.paid else None,
    )  # fmt: skip
    answer = EditAnswer.stored(call.answer)
    if session.model is not None and answer.model is not None and answer.model != session.model:
        flags = [*answer.flags, f"model_changed:{session.model}->{answer.model}"]
        answer = answer.model_copy(update={"flags": flags})
    task = EditTask(
        turn=progress.turn,
        attempt=progress.attempt,
        seed=None if unseeded and answer.provider is not None else request.seed,
        instruction=step.text,
        history=config.history,
        input_image=current.sha256,
        input_turn=0 if config.history == "origin" else progress.image_turn,
        simulated=session.components.editor.simulated or FAKE_SERVER in answer.flags,
    )
    return AttemptRow(**dict(task), **dict(answer), started_ns=call.started_ns, ended_ns=call.ended_ns)


def _call_editor(session: Session, request: EditRequest) -> EditAnswer:
    try:
        answer = session.components.editor.edit(request)
    except TurngateError:
        raise
    except Exception as error:  # a component's bug costs one attempt, not the run
        answer = NoImage("error", f"{type(error).__name__}: {error}"[:500])
    if not isinstance(answer, Edited | NoImage):
        answer = NoImage(
            "error", f"the editor returned {type(answer).__name__}, not Edited or NoImage", retryable=False
        )
    try:
        return _stored(session, request, answer)
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(map(str, wrong["loc"]))
        detail = f"the editor's answer has a wrong {field}: {wrong['msg']}"
        return EditAnswer(outcome="no_image", why="error", retryable=False, detail=detail)


def _stored(session: Session, request: EditRequest, answer: Edited | NoImage) -> EditAnswer:
    """The answer with its images stored, in the room that was kept for it where there is no other.

    An answer that was paid for and cannot be stored is kept outside the run folder, and the error says where.
    """
    try:
        return _answer(session, request, answer)
    except MachineError:
        if not session.components.editor.paid:
            raise
    session.reserve.release()
    try:
        return _answer(session, request, answer)
    except MachineError as error:
        raise MachineError(f"{error}; {_kept_elsewhere(request, answer)}") from error


def _kept_elsewhere(request: EditRequest, answer: Edited | NoImage) -> str:
    what = f"the answer to turn {request.turn}, attempt {request.attempt}"
    if not isinstance(answer, Edited):
        return f"{what} was none, and is asked for again"
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"turngate-turn-{request.turn}-", suffix=".bin")
        with os.fdopen(descriptor, "wb") as file:
            file.write(answer.data)
    except OSError:
        return f"{what}, which was paid for, is lost"
    return f"{what}, which was paid for, is kept in {name}; it is asked for again when the run goes on"


def _answer(session: Session, request: EditRequest, answer: Edited | NoImage) -> EditAnswer:
    """The answer as it is recorded, its images stored; raises `ValidationError` for a field of another type."""
    reported = _reported(answer)
    if isinstance(answer, NoImage):
        return _no_image(answer, reported)
    extras = [{"image": session.pictures.put_bytes(extra.data), "role": extra.role} for extra in answer.extras]
    try:
        picture = answer.picture or Picture.from_bytes(answer.data, "the editor's answer")
    except BadImage as error:
        if answer.data:
            extras.append({"image": session.pictures.put_bytes(answer.data), "role": "undecodable"})
        return _no_image(
            NoImage("undecodable", str(error), flags=answer.flags, metadata=answer.metadata), reported
        ).model_copy(update={"extras": extras})
    session.pictures.put(picture)
    before = request.image
    flags = [*answer.flags, *picture.remarks]
    if (picture.width, picture.height) != (before.width, before.height):
        flags.append(f"size_changed:{before.width}x{before.height}->{picture.width}x{picture.height}")
    chat = request.history == "chat" and answer.content is not None
    return EditAnswer(
        outcome="no_change" if picture.sha256 == before.sha256 else "edited",
        image=picture.sha256,
        media_type=picture.media_type,
        width=picture.width,
        height=picture.height,
        size_bytes=len(answer.data),
        normalised=list(picture.normalised),
        flags=flags,
        extras=extras,
        damage=answer.damage,
        operation_failed=answer.operation_failed,
        object_failure=answer.object_failure,
        metadata=_plain(answer.metadata),
        content=session.pictures.put_bytes(json.dumps(answer.content).encode()) if chat else None,
        **reported,
    )


def _no_image(answer: NoImage, reported: _Reported) -> EditAnswer:
    return EditAnswer(
        outcome="no_image",
        why=answer.why,
        retryable=answer.retryable,
        detail=answer.detail,
        flags=list(answer.flags),
        metadata=_plain(answer.metadata),
        **reported,
    )


class _Reported(TypedDict):
    """Fields of an `EditAnswer` that image and no-image answers have in common."""

    reasoning: str | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None
    waited_seconds: float
    provider: str | None
    response_id: str | None
    finish_reason: str | None
    tries: list[dict[str, Any]]


def _reported(answer: Edited | NoImage) -> _Reported:
    usage, served = answer.usage, answer.served
    return _Reported(
        reasoning=answer.reasoning,
        model=answer.model,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost_usd,
        waited_seconds=usage.waited_seconds,
        provider=served.provider if served else None,
        response_id=served.response_id if served else None,
        finish_reason=served.finish_reason if served else None,
        tries=[asdict(one) for one in served.tries] if served else [],
    )


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """`metadata` if it is plain JSON, otherwise what it looks like: a remark may not cost an image."""
    try:
        json.dumps(plain := dict(metadata), allow_nan=False)
    except (TypeError, ValueError):
        return {"not_json": repr(metadata)[:500]}
    return plain
