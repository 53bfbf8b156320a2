"""Step 1 of an attempt: call the editor, or take its stored answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from turngate.agent.editor import Edited, EditRequest, Exchange, NoImage
from turngate.errors import BadImage, TurngateError
from turngate.graphs.config import editor_seed
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.traces.ledger import call_key, once
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow
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
    """The attempt that is owed at `progress`; the editor is called at most once for it."""
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
    call = once(session.ledger, key, "edit", progress.turn, progress.attempt, lambda: _call_editor(session, request))
    answer = {"seed": request.seed, **call.answer}
    changed = session.model is not None and answer["model"] is not None and answer["model"] != session.model
    if changed:
        answer["flags"] = [*answer.get("flags", []), f"model_changed:{session.model}->{answer['model']}"]
    return AttemptRow(
        turn=progress.turn,
        attempt=progress.attempt,
        instruction=step.text,
        history=config.history,
        input_image=current.sha256,
        input_turn=0 if config.history == "origin" else progress.image_turn,
        simulated=session.components.editor.simulated,
        started_ns=call.started_ns,
        ended_ns=call.ended_ns,
        **answer,
    )


def _call_editor(session: Session, request: EditRequest) -> dict[str, Any]:
    try:
        answer = session.components.editor.edit(request)
    except TurngateError:
        raise
    except Exception as error:  # a part's bug costs one attempt, not the run
        answer = NoImage("error", f"{type(error).__name__}: {error}"[:500])
    if not isinstance(answer, Edited | NoImage):
        answer = NoImage(
            "error", f"the editor returned {type(answer).__name__}, not Edited or NoImage", retryable=False
        )
    told = _told(answer, request)
    if isinstance(answer, NoImage):
        return {**told, **_no_image(answer)}
    extras = [{"image": session.pictures.put_bytes(extra.data), "role": extra.role} for extra in answer.extras]
    try:
        picture = answer.picture or Picture.from_bytes(answer.data, "the editor's answer")
    except BadImage as error:
        if answer.data:
            extras.append({"image": session.pictures.put_bytes(answer.data), "role": "undecodable"})
        return {**told, **_no_image(NoImage("undecodable", str(error))), "extras": extras}
    session.pictures.put(picture)
    before = request.image
    flags = list(answer.flags)
    if (picture.width, picture.height) != (before.width, before.height):
        flags.append(f"size_changed:{before.width}x{before.height}->{picture.width}x{picture.height}")
    chat = request.history == "chat" and answer.content is not None
    return {
        **told,
        "outcome": "no_change" if picture.sha256 == before.sha256 else "edited",
        "image": picture.sha256,
        "media_type": picture.media_type,
        "width": picture.width,
        "height": picture.height,
        "size_bytes": len(answer.data),
        "normalised": list(picture.normalised),
        "flags": flags,
        "extras": extras,
        "damage": answer.damage,
        "told": _plain(answer.detail),
        "content": session.pictures.put_bytes(json.dumps(answer.content).encode()) if chat else None,
    }


def _no_image(answer: NoImage) -> dict[str, Any]:
    return {"outcome": "no_image", "why": answer.why, "retryable": answer.retryable, "detail": answer.detail}


def _told(answer: Edited | NoImage, request: EditRequest) -> dict[str, Any]:
    """What image and no-image answers have in common."""
    usage, served = answer.usage, answer.served
    told: dict[str, Any] = {
        "reasoning": answer.reasoning,
        "model": answer.model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_usd,
        "waited_seconds": usage.waited_seconds,
    }
    if not request.send_seed:
        told["seed"] = None if served else request.seed
    if served is not None:
        told |= {
            "provider": served.provider,
            "response_id": served.response_id,
            "finish_reason": served.finish_reason,
            "tries": [asdict(one) for one in served.tries],
        }
    return told


def _plain(detail: Mapping[str, Any]) -> dict[str, Any]:
    """`detail` if it is plain JSON, otherwise what it looks like: a remark may not cost an image."""
    try:
        json.dumps(plain := dict(detail), allow_nan=False)
    except (TypeError, ValueError):
        return {"not_json": repr(detail)[:500]}
    return plain
