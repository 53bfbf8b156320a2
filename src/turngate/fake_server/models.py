"""Lists of models: any name is served, these are shown."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turngate.fake_server.openai.answers import CREATED

__all__ = ["model_routes"]

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
