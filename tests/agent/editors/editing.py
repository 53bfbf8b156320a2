"""Ask an editor for one edit of a photograph, and read its errors as a user does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from skimage import data

from turngate.agent.editor import Edited, Editor, EditRequest
from turngate.agent.editors import EDITORS
from turngate.errors import TurngateError
from turngate.picture import Picture


def build(type_: str, **settings: Any) -> Editor:
    return EDITORS.build(EDITORS.configure({"type": type_, **settings}, "editor"))


def photo(width: int = 64, height: int = 64, left: int = 200, top: int = 60) -> Picture:
    """A piece of the astronaut, which is 512 x 512 pixels."""
    pixels: Any = data.astronaut()  # type: ignore[no-untyped-call]  # scikit-image ships no types
    return Picture.from_rgb(np.ascontiguousarray(pixels[top : top + height, left : left + width]))


def ask(editor: Editor, *pictures: Picture, instruction: str = "make the sky red", seed: int = 7) -> Any:
    history: Any = "anchor" if len(pictures) > 1 else "previous"
    return editor.edit(EditRequest(pictures or (photo(),), instruction, 1, 1, seed, history))


def edited(editor: Editor, *pictures: Picture, **how: Any) -> Edited:
    answer = ask(editor, *pictures, **how)
    assert isinstance(answer, Edited), answer
    return answer


def size_of(answer: Edited) -> tuple[int, int]:
    picture = Picture.from_bytes(answer.data)
    return picture.width, picture.height


def refused(error: type[TurngateError], act: Callable[[], Any]) -> str:
    """The one line that a user reads."""
    with pytest.raises(error) as caught:
        act()
    assert type(caught.value) is error
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    return str(caught.value)
