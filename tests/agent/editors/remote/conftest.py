"""A fake server process, a photograph, and editors that call the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import Edited, EditRequest, NoImage, Picture
from turngate.agent.editors import EDITORS
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin

__all__ = ["fake_server", "fake_server_process"]

QUICK = {"first_wait_seconds": 0.01, "deadline_seconds": 20}


@pytest.fixture(scope="session")
def photo() -> Picture:
    """A real photograph, small."""
    return load_origin(OriginConfig(image="skimage:astronaut", size=96))


@pytest.fixture
def ask(fake_server: FakeServer, photo: Picture) -> Callable[..., Edited | NoImage]:
    """One edit by the editor of that type; `settings` are its configuration, `request` fields of the request."""

    def do(kind: str, settings: dict[str, Any] | None = None, **request: Any) -> Edited | NoImage:
        raw: dict[str, Any] = {"type": kind, "base_url": fake_server.base_url, "retry": QUICK}
        if kind == "openai":
            raw |= {"model": "some-model", "base_url": fake_server.openai_url}
        editor = EDITORS.build(EDITORS.configure({**raw, **(settings or {})}, "editor"))
        fields: dict[str, Any] = {
            "images": (photo,), "instruction": "Copy it.", "turn": 1, "attempt": 1, "seed": 7, **request
        }  # fmt: skip
        return editor.edit(EditRequest(**fields))

    return do
