"""The web application: routes of the two APIs, of the lists of models, and of the script."""

from __future__ import annotations

import json
import math
import secrets
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turngate.component import FAKE_SERVER_HEADER
from turngate.errors import ConfigError
from turngate.fake_server.asked import Asked, BadRequest, Provider, ReceivedImage
from turngate.fake_server.gemini.answers import answer_gemini, gemini_error, gemini_refusal, wrong_gemini_key
from turngate.fake_server.gemini.request import read_gemini
from turngate.fake_server.log import Log, understood
from turngate.fake_server.openai.answers import (
    CREATED,
    answer_chat,
    answer_edit,
    openai_error,
    openai_refusal,
    wrong_openai_key,
)
from turngate.fake_server.openai.request import read_chat, read_edit
from turngate.fake_server.reply import HttpReply, deliver, wait
from turngate.fake_server.script import WORDS, Script, ScriptedReply, parse_script, split
from turngate.yaml_text import parse_yaml

__all__ = ["check_key", "make_app", "refuse"]


# Lists of models: any name is served, these are shown.

_MODELS = ("fake-image", "fake-judge")


def model_routes() -> list[Route]:
    """`GET /v1/models` serves both APIs, so the key's header tells them apart."""
    return [
        Route("/{version:str}/models", _list_models, methods=["GET"]),
        Route("/{version:str}/models/{model:path}", _get_model, methods=["GET"]),
    ]


async def _list_models(request: Request) -> Response:
    if _is_gemini(request):
        return JSONResponse({"models": [_gemini(name) for name in _MODELS]})
    return JSONResponse({"object": "list", "data": [_openai(name) for name in _MODELS]})


async def _get_model(request: Request) -> Response:
    name = request.path_params["model"]
    return JSONResponse(_gemini(name) if _is_gemini(request) else _openai(name))


def _is_gemini(request: Request) -> bool:
    has_key = "x-goog-api-key" in request.headers or "key" in request.query_params
    return has_key or request.path_params["version"] != "v1"


def _gemini(name: str) -> dict[str, Any]:
    return {
        "name": f"models/{name}",
        "version": "1",
        "displayName": f"{name} (fake)",
        "inputTokenLimit": 65536,
        "outputTokenLimit": 32768,
        "supportedGenerationMethods": ["generateContent"],
    }


def _openai(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "turngate"}


# From a request that was understood to its answer; pure but for the time that an image takes.

_NOT_IMPLEMENTED = 501


def answer_call(
    asked: Asked, answer: ScriptedReply, script: Script, base_url: str
) -> tuple[HttpReply, list[ReceivedImage]]:
    """The reply, and the images that its URLs name."""
    misplaced = _misplaced(asked, answer)
    if misplaced:
        message = f"fake server: {misplaced} is no answer of this endpoint, change the script"
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


def refuse(provider: str, error: BadRequest, status: int = 400) -> HttpReply:
    """The provider's way to say that a request is wrong."""
    return gemini_refusal(str(error), status) if provider == "gemini" else openai_refusal(error, status)


def _misplaced(asked: Asked, answer: ScriptedReply) -> str | None:
    """The first word that this endpoint cannot answer with."""
    place = f"{asked.provider}_{asked.kind}"
    return next((word for word, _ in split(answer.text) if place not in WORDS[word].places), None)


# API keys, where the script requires one.


def check_key(provider: Provider, request: Request, required: str | None) -> HttpReply | None:
    """The refusal of a wrong key, none where the key is right or none is required."""
    if required is None:
        return None
    if provider == "gemini":
        given = request.headers.get("x-goog-api-key") or request.query_params.get("key", "")
    else:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if secrets.compare_digest(given.encode(), required.encode()):
        return None
    return wrong_gemini_key(given) if provider == "gemini" else wrong_openai_key()


OnAnswered = Callable[[dict[str, Any]], None]
"""Called with the log's entry of every call that was answered."""


def make_app(script: Script, on_answered: OnAnswered = lambda entry: None) -> Starlette:
    """The ASGI application; its state lives in the process and is lost with it."""
    api = _Api(Log(script), on_answered)
    return Starlette(
        middleware=[Middleware(_SayWho)],
        routes=[
            Route("/", _who, methods=["GET"]),
            Route("/v1/images/edits", api.edit, methods=["POST"]),
            Route("/v1/chat/completions", api.chat, methods=["POST"]),
            Route("/{version:str}/models/{call:path}", api.generate, methods=["POST"]),
            *model_routes(),
            Route("/__script", api.get_script, methods=["GET"]),
            Route("/__script", api.set_script, methods=["POST"]),
            Route("/__requests", api.get_requests, methods=["GET"]),
            Route("/__reset", api.reset, methods=["POST"]),
            Route("/__images/{sha256:str}", api.get_image, methods=["GET"]),
        ],
        exception_handlers={Exception: _say_bug},
    )


class _SayWho:
    """Adds to every answer, whole or cut off, the header that says that no model gave it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = (FAKE_SERVER_HEADER.encode(), version("turngate").encode())
                message = {**message, "headers": [*message["headers"], named]}
            await send(message)

        await self.app(scope, receive, say)


async def _who(request: Request) -> Response:
    """`GET /`: who answers here, for people and for clients that want to know before they ask."""
    return JSONResponse({"server": "turngate fake-server", "version": version("turngate")})


class _Api:
    def __init__(self, log: Log, on_answered: OnAnswered) -> None:
        self.log = log
        self.on_answered = on_answered

    async def generate(self, request: Request) -> Response:
        """`POST /v1/models/{model}:generateContent` and `:streamGenerateContent`, also below `/v1beta`."""
        model, _, method = request.path_params["call"].rpartition(":")
        stream = method == "streamGenerateContent"
        if not model or method not in ("generateContent", "streamGenerateContent"):
            return _send(refuse("gemini", BadRequest("The fake server has generateContent only."), 404))
        return await self._call(request, "gemini", lambda body: read_gemini(model, _json(body), stream))

    async def edit(self, request: Request) -> Response:
        """`POST /v1/images/edits`."""
        content_type = request.headers.get("content-type", "")
        return await self._call(request, "openai", lambda body: read_edit(content_type, body))

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        return await self._call(request, "openai", lambda body: read_chat(_json(body)))

    async def _call(self, request: Request, provider: Provider, read: Callable[[bytes], Asked]) -> Response:
        entry = self.log.arrived(request.method, request.url.path, request.headers)
        refused = check_key(provider, request, self.log.script.require_key)
        if refused:
            return self._answered(entry, _send(refused))
        body = await request.body()
        try:
            asked = await run_in_threadpool(read, body)
            entry.update(await run_in_threadpool(understood, asked))
        except BadRequest as problem:
            return self._answered(entry, _send(refuse(provider, problem)))
        script = self.log.script
        entry["call"], answer = self.log.take(asked.kind)
        entry["answer"] = answer.text
        await wait(request, answer.slow)
        if answer.ending == "hang":
            await wait(request, float(answer.argument or math.inf))
        base_url = str(request.base_url).rstrip("/")
        reply, images = await run_in_threadpool(answer_call, asked, answer, script, base_url)
        for image in images:
            self.log.keep_image(image)
        return self._answered(entry, deliver(reply, answer))

    def _answered(self, entry: dict[str, Any], response: Response) -> Response:
        entry["status"] = response.status_code
        self.on_answered(entry)
        return response

    async def get_script(self, request: Request) -> Response:
        """The script in force, but for its key."""
        return JSONResponse(self.log.script.model_dump(exclude={"require_key"}))

    async def set_script(self, request: Request) -> Response:
        """Another script, as YAML or JSON."""
        try:
            self.log.use(parse_script(parse_yaml(await request.body(), "script"), "script"))
        except ConfigError as error:
            return JSONResponse({"error": str(error)}, 400)
        return await self.get_script(request)

    async def get_requests(self, request: Request) -> Response:
        """What arrived, oldest first."""
        return JSONResponse({"requests": list(self.log.requests)})

    async def reset(self, request: Request) -> Response:
        """Back to the start."""
        self.log.reset()
        return JSONResponse({})

    async def get_image(self, request: Request) -> Response:
        """An image that a URL was given for."""
        image = self.log.images.get(request.path_params["sha256"])
        return Response(image.data, media_type=image.media_type) if image else Response(status_code=404)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise BadRequest("Invalid JSON payload received.") from None


def _send(reply: HttpReply) -> Response:
    return deliver(reply, ScriptedReply())


async def _say_bug(request: Request, error: Exception) -> Response:
    message = f"fake server: {type(error).__name__}: {error}; this is a bug of turngate, please report it"
    print(message, file=sys.stderr, flush=True)
    return JSONResponse({"error": {"code": 500, "status": "INTERNAL", "message": message}}, 500)
