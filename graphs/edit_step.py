"""Step 1 of an attempt: call the editor, or take its stored answer."""

from __future__ import annotations

from typing import Any

from turngate.agent.editor import Edited, EditRequest, NoImage, Usage
from turngate.errors import BadImage, TurngateError
from turngate.graphs.position import Position
from turngate.graphs.seeds import editor_seed
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.traces.once import call_key, once
from turngate.traces.records import AttemptRow

__all__ = ["edit"]


def edit(session: Session, position: Position) -> AttemptRow:
    """The attempt that is owed at `position`; the editor is called at most once for it."""
    config, pictures = session.config, session.pictures
    current = session.origin if config.history == "origin" else pictures.get(position.image)
    images = (current, session.origin) if config.history == "anchor" else (current,)
    step = session.parts.scenario.instruction(position.turn)
    seed = editor_seed(config.seed, config.seed_policy, position.turn, position.attempt)
    request = EditRequest(
        images, step.text, position.turn, position.attempt, seed, config.history, operation=step.operation
    )
    parameters = {"editor": config.editor.model_dump(mode="json"), "instruction": step.text, "seed": seed}
    hashes = [image.sha256 for image in images]
    key = call_key("edit", session.info.run, position.turn, position.attempt, hashes, parameters)
    call = once(session.ledger, key, "edit", position.turn, position.attempt, lambda: _call_editor(session, request))
    return AttemptRow(
        turn=position.turn,
        attempt=position.attempt,
        seed=seed,
        instruction=step.text,
        history=config.history,
        input_image=current.sha256,
        input_turn=0 if config.history == "origin" else position.image_turn,
        simulated=session.parts.editor.simulated,
        started_ns=call.started_ns,
        ended_ns=call.ended_ns,
        **call.answer,
    )


def _call_editor(session: Session, request: EditRequest) -> dict[str, Any]:
    try:
        answer = session.parts.editor.edit(request)
    except TurngateError:
        raise
    except Exception as error:  # a part's bug costs one attempt, not the run
        answer = NoImage("error", f"{type(error).__name__}: {error}"[:500])
    if not isinstance(answer, Edited | NoImage):
        answer = NoImage(
            "error", f"the editor returned {type(answer).__name__}, not Edited or NoImage", retryable=False
        )
    if isinstance(answer, NoImage):
        return _no_image(answer)
    try:
        picture = answer.picture or Picture.from_bytes(answer.data, "the editor's answer")
    except BadImage as error:
        kept = [{"image": session.pictures.put_bytes(answer.data), "role": "undecodable"}] if answer.data else []
        failure = NoImage("undecodable", str(error), reasoning=answer.reasoning, model=answer.model, usage=answer.usage)
        return {**_no_image(failure), "extras": kept}
    session.pictures.put(picture)
    before = request.image
    flags = list(answer.flags)
    if (picture.width, picture.height) != (before.width, before.height):
        flags.append(f"size_changed:{before.width}x{before.height}->{picture.width}x{picture.height}")
    return {
        "outcome": "no_change" if picture.sha256 == before.sha256 else "edited",
        "image": picture.sha256,
        "media_type": picture.media_type,
        "width": picture.width,
        "height": picture.height,
        "size_bytes": len(answer.data),
        "normalised": list(picture.normalised),
        "flags": flags,
        "extras": [{"image": session.pictures.put_bytes(extra.data), "role": extra.role} for extra in answer.extras],
        "damage": answer.damage,
        **_told(answer.reasoning, answer.model, answer.usage),
    }


def _no_image(answer: NoImage) -> dict[str, Any]:
    return {
        "outcome": "no_image",
        "why": answer.why,
        "retryable": answer.retryable,
        "detail": answer.detail,
        **_told(answer.reasoning, answer.model, answer.usage),
    }


def _told(reasoning: str | None, model: str | None, usage: Usage) -> dict[str, Any]:
    return {
        "reasoning": reasoning,
        "model": model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_usd,
        "waited_seconds": usage.waited_seconds,
    }
