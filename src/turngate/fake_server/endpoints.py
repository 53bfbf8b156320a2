"""From a request that was understood to its answer; pure but for the time that an image takes."""

from __future__ import annotations

from turngate.fake_server._words import WORDS, split
from turngate.fake_server.answer import Answer
from turngate.fake_server.asked import Asked, BadRequest, SentImage
from turngate.fake_server.gemini.answers import answer_gemini
from turngate.fake_server.gemini_errors import gemini_error, gemini_refusal
from turngate.fake_server.openai.answers import answer_chat, answer_edit
from turngate.fake_server.openai_errors import openai_error, openai_refusal
from turngate.fake_server.reply import Reply
from turngate.fake_server.script import Script

__all__ = ["answer_call", "refuse"]

_NOT_IMPLEMENTED = 501


def answer_call(asked: Asked, answer: Answer, script: Script, base_url: str) -> tuple[Reply, list[SentImage]]:
    """The reply, and the images that its URLs name."""
    foreign = _foreign(asked, answer)
    if foreign:
        message = f"fake server: {foreign} is no answer of this endpoint, change the script"
        return refuse(asked.provider, BadRequest(message), _NOT_IMPLEMENTED), []
    try:
        if asked.provider == "gemini":
            error = gemini_error(answer, asked.model)
            if error is None and script.require_signatures and asked.unsigned:
                raise BadRequest(asked.unsigned)
            return error or answer_gemini(asked, answer, script), []
        error = openai_error(answer, asked.model)
        if error or asked.kind == "judge":
            return error or answer_chat(asked, answer, script), []
        return answer_edit(asked, answer, script, base_url)
    except BadRequest as problem:
        return refuse(asked.provider, problem), []


def refuse(provider: str, error: BadRequest, status: int = 400) -> Reply:
    """The provider's way to say that a request is wrong."""
    return gemini_refusal(str(error), status) if provider == "gemini" else openai_refusal(error, status)


def _foreign(asked: Asked, answer: Answer) -> str | None:
    place = f"{asked.provider}_{asked.kind}"
    return next((word for word, _ in split(answer.text) if place not in WORDS[word].places), None)
