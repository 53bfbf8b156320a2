"""Recorded chains for the tests of the replay editor, and how to ask it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors import EDITORS
from turngate.agent.editors.replay import ReplayEditor
from turngate.picture import Picture

__all__ = ["ask", "build", "edited", "gray", "manifest", "put"]

COPY = "Produce an exact replica of the provided image, with no alterations."


def build(source: Path, **fields: Any) -> ReplayEditor:
    editor = EDITORS.build(EDITORS.configure({"type": "replay", "source": str(source), **fields}, "editor"))
    assert isinstance(editor, ReplayEditor)
    return editor


def ask(editor: ReplayEditor, turn: int, picture: Picture, attempt: int = 1, text: str = COPY) -> Edited | NoImage:
    return editor.edit(EditRequest((picture,), text, turn, attempt, 7))


def edited(answer: Edited | NoImage) -> Edited:
    assert isinstance(answer, Edited), answer
    return answer


def gray(level: int) -> Picture:
    return Picture.from_rgb(np.full((20, 24, 3), level, dtype=np.uint8))


def put(folder: Path, **levels: int) -> Path:
    """Flat PNG images in a folder: name without suffix -> gray level."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, level in levels.items():
        (folder / f"{name}.png").write_bytes(gray(level).data)
    return folder


def manifest(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    file = folder / "chain.csv"
    file.write_bytes(text.encode(encoding))
    return file
