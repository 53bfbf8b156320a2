"""The machine for LangGraph Studio and `langgraph dev`; `langgraph.json` names `make_machine`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turngate.graphs.load import read_config
from turngate.graphs.machine import build_machine
from turngate.graphs.runner import open_session
from turngate.graphs.session import LoopContext

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["make_machine"]


@asynccontextmanager
async def make_machine(config: dict[str, Any] | None = None) -> AsyncIterator[CompiledStateGraph[Any, Any, Any, Any]]:
    """The machine of one run, open while the server works on it.

    `config["configurable"]` may name the run: `turngate_config` (a YAML file; else the variable TURNGATE_CONFIG) and
    `turngate_folder` (else TURNGATE_FOLDER, else `runs/studio`). Without a file the machine can only be looked at. Its
    input is `{"turn": 1}`: the run goes on where its ledger stands. A person is asked by an interrupt.
    """
    settings = (config or {}).get("configurable") or {}
    file = settings.get("turngate_config") or os.environ.get("TURNGATE_CONFIG")
    if not file:
        yield build_machine()
        return
    folder = settings.get("turngate_folder") or os.environ.get("TURNGATE_FOLDER") or "runs/studio"
    stack = ExitStack()  # opened and closed in threads: the server's event loop must not wait for files
    session = await asyncio.to_thread(lambda: stack.enter_context(open_session(Path(folder), read_config(file))))
    try:
        yield build_machine(bound=LoopContext(session, ask=True))
    except BaseException as error:
        stack.__exit__(type(error), error, error.__traceback__)
        raise
    else:
        await asyncio.to_thread(stack.close)
