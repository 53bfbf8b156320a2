"""A third party's editor, named in a configuration by dotted path: writes a line for every call it gets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from turngate import ComponentConfig, Edited, EditRequest, NoImage
from turngate.agent.editors.scripted import ScriptedConfig, ScriptedEditor


class CountingConfig(ComponentConfig):
    """Where to write."""

    log: Path
    """File that gets one line per call, before the answer."""
    seconds: float = 0.0
    """Slept per call."""


class CountingEditor:
    """Paints like the scripted editor and counts its calls."""

    Config: ClassVar[type[ComponentConfig]] = CountingConfig
    requires: ClassVar[Mapping[str, str]] = {}
    model = "counting"
    stochastic = True
    simulated = True
    paid = True

    def __init__(self, config: CountingConfig) -> None:
        self.config = config
        self._painter = ScriptedEditor(ScriptedConfig(type="scripted"))

    def edit(self, request: EditRequest) -> Edited | NoImage:
        with self.config.log.open("a") as file:
            file.write(f"{request.turn}.{request.attempt}\n")
        time.sleep(self.config.seconds)
        return self._painter.edit(request)
