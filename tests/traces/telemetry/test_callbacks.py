"""C47: what LangGraph hands to any callback tracer has no pixels in it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

_handler: ContextVar[BaseCallbackHandler | None] = ContextVar("turngate_test_handler", default=None)
register_configure_hook(_handler, inheritable=True)  # as tracers hook in that watch every graph of a process


class Watching(BaseCallbackHandler):
    """Keeps everything that LangGraph hands to it."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self.nodes: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        self.nodes.append(str(more.get("name")))
        self.received += [serialized, inputs, {name: value for name, value in more.items() if name != "run_id"}]

    def on_chain_end(self, outputs: Any, **more: Any) -> None:
        self.received.append(outputs)

    def on_chain_error(self, error: BaseException, **more: Any) -> None:
        self.received.append(str(error))


@pytest.fixture
def watching() -> Iterator[Watching]:
    handler = Watching()
    token = _handler.set(handler)
    yield handler
    _handler.reset(token)


def test_state_for_tracers_is_small_plain_and_without_images(watching: Watching, config: Any, run: Any) -> None:
    editor = {"type": "scripted", "size": 256, "default": "noise:9", "reasoning": "step {turn}"}
    ended, view = run(config(turns=3, driver="graph", editor=editor))
    assert ended.status == "complete"
    assert {"turngate", "editor", "evaluate", "gate"} <= set(watching.nodes)
    text = json.dumps(watching.received, default=_not_plain)
    for attempt in view.attempts:
        data = view.folder.images.get(attempt.row.image)
        assert len(data) > 50_000
        assert attempt.row.image in text
        for start in range(0, 6000, 300):
            assert base64.b64encode(data[start : start + 300])[:200].decode() not in text
    assert "base64" not in text
    assert len(text) / len(view.attempts) < 64 * 1024


def _not_plain(value: Any) -> str:
    """Everything but JSON's own types becomes its name, unless it carries data."""
    assert not isinstance(value, bytes | bytearray | memoryview | np.ndarray)
    return repr(value)
