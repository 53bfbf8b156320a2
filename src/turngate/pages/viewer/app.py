"""The viewer's addresses. Every one of them begins with the token; see `guard`."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from turngate.errors import BadImage, NoSuchRun, TurngateError, UserError
from turngate.pages.report import HERE as REPORT
from turngate.pages.report import scripts
from turngate.pages.viewer import pages
from turngate.pages.viewer.comparing import MOST_COMPARED
from turngate.pages.viewer.guard import Guard
from turngate.pages.viewer.index import Index
from turngate.pages.viewer.labelling import LabelInput, ReviewVerdict, ViewerOptions, about_image
from turngate.pages.viewer.listing import ListedFolder, stamp
from turngate.pages.viewer.notes import NoteInput
from turngate.pages.viewer.pages import check_pending, version_of
from turngate.pages.viewer.pictures import EDGES, read_image, small_image
from turngate.pages.viewer.query import Query
from turngate.traces.analysis.run import RunView
from turngate.traces.images import ImageStore

__all__ = ["make_app"]

_STATIC = {
    **{name: (REPORT / name, "text/javascript") for name in scripts(True)},
    "report.css": (REPORT / "report.css", "text/css"),
    "beside.js": (pages.HERE / "beside.js", "text/javascript"),
    "label.js": (pages.HERE / "label.js", "text/javascript"),
    "list.js": (pages.HERE / "list.js", "text/javascript"),
    "viewer.js": (pages.HERE / "viewer.js", "text/javascript"),
    "viewer.css": (pages.HERE / "viewer.css", "text/css"),
}
_KEEP = {"cache-control": "private, max-age=86400, immutable"}
_NO_STORE = {"cache-control": "no-store"}
_LARGEST_BODY = 100_000


class _Viewer:
    def __init__(self, root: Path, token: str, options: ViewerOptions) -> None:
        self.index = Index(root.resolve(), notes=options.notes)
        self.base = f"/{token}"
        self.options = options
        self.studies: dict[str, tuple[object, str]] = {}
        self.deciding: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def list(self, request: Request) -> Response:
        query = Query.read(request.query_params)
        return _html(pages.list_page(self.index, self.index.find(query), query, self.base))

    def run(self, request: Request) -> Response:
        one = self._listed(request, "run")
        version = self._version(one)
        return _html(pages.run_page(self.index, one, self.base, version, self.options))

    def study(self, request: Request) -> Response:
        one = self._listed(request, "study")
        now = (pages.study_stamp(one), self.options.notes and self.options.notes.all().get(one.place))
        known = self.studies.get(one.key)
        if known is None or known[0] != now:  # hundreds of runs take seconds to read
            known = self.studies[one.key] = (now, pages.study_page(self.index, one, self.base, self.options))
        return _html(known[1])

    def state(self, request: Request) -> Response:
        one = self._listed(request, "run")
        return JSONResponse({"version": self._version(one)}, headers=_NO_STORE)

    def image(self, request: Request) -> Response:
        one = self._listed(request, "run")
        data, kind = read_image(self.index.root, ImageStore(one.path / "images"), request.path_params["sha"])
        return Response(data, media_type=kind, headers=_KEEP)

    def thumb(self, request: Request) -> Response:
        one, edge = self._listed(request, "run"), int(request.path_params["edge"])
        if edge not in EDGES:
            raise NoSuchRun("no thumbnails of this size")
        data = small_image(self.index.root, one.path / "images", request.path_params["sha"], edge)
        return Response(data, media_type="image/jpeg", headers=_KEEP)

    def static(self, request: Request) -> Response:
        known = _STATIC.get(request.path_params["name"])
        if known is None:
            raise NoSuchRun("no such file")
        return Response(known[0].read_bytes(), media_type=known[1], headers=_KEEP)

    def compare(self, request: Request) -> Response:
        keys = dict.fromkeys(request.query_params.getlist("run"))
        chosen = [self._listed_as(key, "run") for key in list(keys)[: MOST_COMPARED + 1]]
        return _html(pages.compare_page(self.index, chosen, self.base))

    async def note(self, request: Request) -> Response:
        one, given = self._listed(request), NoteInput.model_validate_json(await _body(request))
        if self.options.notes is None:
            raise UserError("notes cannot be kept here")
        await asyncio.to_thread(self.options.notes.put, one.place, given)
        return JSONResponse({"saved": True})

    def labelling(self, request: Request) -> Response:
        one = self._listed(request)
        return _html(pages.labelling_page(self.index, one, self.base, self.options))

    async def label(self, request: Request) -> Response:
        one, given = self._listed(request, "run"), LabelInput.model_validate_json(await _body(request))
        book = self.options.book
        if book is None:
            raise UserError("labels cannot be kept here")
        await asyncio.to_thread(lambda: book.put(RunView.load(one.path), given))
        return JSONResponse({"saved": True})

    def about(self, request: Request) -> Response:
        one = self._listed(request, "run")
        found = about_image(RunView.load(one.path), request.path_params["sha"])
        return JSONResponse({"places": found}, headers=_NO_STORE)

    async def decide(self, request: Request) -> Response:
        one, verdict = self._listed(request, "run"), ReviewVerdict.model_validate_json(await _body(request))
        if self.options.review is None:
            raise UserError("runs cannot be reviewed here")
        async with self.deciding[one.key]:  # two tabs decide one after the other, so that the second one is refused
            await asyncio.to_thread(lambda: check_pending(RunView.load(one.path), verdict.turn, verdict.attempt))
            await asyncio.to_thread(self.options.review, one.path, verdict)
        return JSONResponse({"started": True})

    def failed(self, request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, NoSuchRun) else 400 if isinstance(error, UserError | BadImage) else 500
        if request.method == "POST" or request.url.path.startswith(("/state/", "/about/")):
            return JSONResponse({"error": str(error)}, status)
        return HTMLResponse(pages.message_page(self.base, "This cannot be shown", str(error)), status)

    def invalid(self, request: Request, error: Exception) -> Response:
        return JSONResponse({"error": "the viewer does not understand this request: load the page again"}, 400)

    def missing(self, request: Request, error: Exception) -> Response:
        return HTMLResponse(pages.message_page(self.base, "Nothing here", "This address leads nowhere."), 404)

    def _listed(self, request: Request, kind: str = "") -> ListedFolder:
        """The run or study that the address names; `kind` empty for either."""
        return self._listed_as(request.path_params["key"], kind)

    def _listed_as(self, key: str, kind: str) -> ListedFolder:
        one = self.index.get(key)
        if one is None or kind not in ("", one.kind):
            raise NoSuchRun(f"no such {kind or 'run or study'} in this folder: it was moved or deleted")
        return one

    def _version(self, one: ListedFolder) -> str:
        return version_of(stamp(one.path), self.index.quick_summary(one).status)


def make_app(root: Path, token: str, options: ViewerOptions) -> Starlette:
    """The viewer of the runs and studies below `root`, as an ASGI application that answers to `token` only."""
    viewer = _Viewer(root, token, options)
    routes = [
        Route("/", viewer.list),
        Route("/run/{key}", viewer.run),
        Route("/study/{key}", viewer.study),
        Route("/state/{key}", viewer.state),
        Route("/image/{key}/{sha}", viewer.image),
        Route("/thumb/{key}/{edge:int}/{sha}", viewer.thumb),
        Route("/static/{name:path}", viewer.static),
        Route("/compare", viewer.compare),
        Route("/note/{key}", viewer.note, methods=["POST"]),
        Route("/labelling/{key}", viewer.labelling),
        Route("/about/{key}/{sha}", viewer.about),
        Route("/label/{key}", viewer.label, methods=["POST"]),
        Route("/review/{key}", viewer.decide, methods=["POST"]),
    ]
    handlers: Any = {TurngateError: viewer.failed, ValidationError: viewer.invalid, 404: viewer.missing}
    guard = Middleware(Guard, token=token)
    return Starlette(routes=routes, exception_handlers=handlers, middleware=[guard])


def _html(text: str) -> Response:
    return HTMLResponse(text, headers=_NO_STORE)


async def _body(request: Request) -> bytes:
    found = b""
    async for part in request.stream():
        found += part
        if len(found) > _LARGEST_BODY:
            raise UserError("the request is too large")
    return found
