"""Images that a program outside brings: the editor of runs that `turngate.open_run` opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.component import ComponentConfig
from turngate.errors import Paused

__all__ = ["ExternalEditor", "ExternalEditorConfig"]


class ExternalEditorConfig(ComponentConfig):
    """No settings: how the images are made is the program's business."""


class ExternalEditor:
    """Needs nothing; images come from a program, see `turngate.open_run`."""

    Config: ClassVar[type[ComponentConfig]] = ExternalEditorConfig
    requires: ClassVar[Mapping[str, str]] = {}

    model = "external"
    stochastic = True
    simulated = False
    paid = True
    """What the program's call cost is not known, so what came of it is kept as if it was paid."""
    prices = "its own"

    def __init__(self, config: ExternalEditorConfig) -> None:
        self.config = config
        self._brought: Edited | NoImage | None = None

    def bring(self, answer: Edited | NoImage) -> None:
        """The answer to the next request."""
        self._brought = answer

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Give what was brought, once; raises `Paused` when nothing was."""
        answer, self._brought = self._brought, None
        if answer is None:
            raise Paused(
                f"turn {request.turn} waits for an image of the program that makes them: it goes on with "
                "turngate.open_run"
            )
        return answer
