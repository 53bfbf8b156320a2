"""Asks the simulated editor and looks at what it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from turngate.agent.editor import Edited, EditRequest
from turngate.agent.editors import EDITORS
from turngate.agent.editors.simulated import SIGNATURES, SimulatedEditor
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin
from turngate.picture import Picture

ALL = list(SIGNATURES)


def build(signature: str = "nano-banana-pro", **fields: Any) -> SimulatedEditor:
    editor = EDITORS.build(EDITORS.configure({"type": "simulated", "signature": signature, **fields}, "editor"))
    assert isinstance(editor, SimulatedEditor)
    return editor


def ask(
    editor: SimulatedEditor, picture: Picture, seed: int = 1, turn: int = 1, *, kind: str = "", thing: str = "apple"
) -> Edited:
    """One answer to an operation of that kind; `thing` is what to add."""
    answer = editor.edit(EditRequest((picture,), "", turn, 1, seed, operation={"kind": kind, "object": thing}))
    assert isinstance(answer, Edited)
    return answer


def chain(editor: SimulatedEditor, origin: Picture, turns: int, first_seed: int = 0, kind: str = "") -> list[Edited]:
    """The answers of that many turns, each asked about the one before."""
    answers: list[Edited] = []
    for turn in range(1, turns + 1):
        answers.append(ask(editor, shown(answers[-1]) if answers else origin, first_seed + turn, turn, kind=kind))
    return answers


def shown(answer: Edited) -> Picture:
    assert answer.picture is not None
    return answer.picture


def damage(answer: Edited) -> float:
    assert answer.damage is not None
    return answer.damage


def change(answer: Edited, before: Picture) -> NDArray[np.float64]:
    return shown(answer).rgb.astype(float) - before.rgb


def flat(height: int = 64, width: int = 64, level: int = 128) -> Picture:
    return Picture.from_rgb(np.full((height, width, 3), level, dtype=np.uint8))


def photo(name: str = "astronaut", size: int = 96) -> Picture:
    return load_origin(OriginConfig(image=f"skimage:{name}", size=size))


def near(expected: float, tries: int) -> float:
    """Four standard deviations of the number of successes in that many tries."""
    rate = expected / tries
    return float(4 * (tries * rate * (1 - rate)) ** 0.5)
