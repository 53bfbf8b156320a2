"""Conformance of editors."""

from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from turngate.agent.editor import Edited, Editor, EditRequest, NoImage
from turngate.errors import BadImage
from turngate.picture import Picture

__all__ = ["check_editor", "odd_pictures"]


def check_editor(editor: Editor, instruction: str = "Produce an exact replica of the provided image.") -> None:
    """Raise `AssertionError` when an editor breaks its contract.

    The same request must give the same bytes; another seed another image exactly when `stochastic` is declared; the
    answer must decode; images of any mode and of odd sizes must not make it raise; the input must be left alone. For
    local editors: a remote model is not repeatable and has no use for this.
    """
    for name in ("stochastic", "simulated", "paid"):
        assert isinstance(getattr(editor, name), bool), f"`{name}` must be True or False"
    assert isinstance(editor.model, str) and editor.model, "`model` must name the model or method"
    pictures = odd_pictures()
    for what, picture in pictures.items():
        before = picture.rgb.copy()
        answer = _edit(editor, picture, instruction, 1)
        assert np.array_equal(before, picture.rgb), f"the input ({what}) was changed in place"
        assert editor.paid or not answer.usage.cost_usd, "a call cost money, but the editor is not declared paid"
        if isinstance(answer, NoImage):
            continue
        decoded = _decoded(answer, what)
        if answer.picture is not None:
            assert answer.picture.sha256 == decoded.sha256, "`picture` is not the picture of `data`"
            assert np.array_equal(answer.picture.rgb, decoded.rgb), "`picture` has other pixels than `data`"
        assert answer.damage is None or editor.simulated, "only a simulator may record its own damage"
        json.dumps(dict(answer.metadata), allow_nan=False)
    _check_seeds(editor, pictures["rgb"], instruction)


def odd_pictures() -> dict[str, Picture]:
    """Small pictures of the kinds that editors meet: odd size, alpha, palette, gray, 16 bits, JPEG."""
    rng = np.random.default_rng(3)
    smooth = np.kron(rng.integers(0, 256, (13, 17, 3)), np.ones((8, 8, 1)))[:97, :131].astype(np.uint8)
    rgb = Image.fromarray(smooth)
    alpha = rgb.copy()
    alpha.putalpha(128)
    deep = Image.fromarray(smooth[:, :, 0].astype(np.uint16) * 257)
    kinds = {"rgb": rgb, "rgba": alpha, "palette": rgb.convert("P"), "gray": rgb.convert("L"), "16 bits": deep}
    made = {what: Picture.from_bytes(_saved(image, "PNG"), what) for what, image in kinds.items()}
    return {**made, "jpeg": Picture.from_bytes(_saved(rgb, "JPEG"), "jpeg")}


def _decoded(answer: Edited, what: str) -> Picture:
    try:
        return Picture.from_bytes(answer.data, f"the answer to {what}")
    except BadImage as error:
        raise AssertionError(f"`data` does not decode: {error}") from None


def _check_seeds(editor: Editor, picture: Picture, instruction: str) -> None:
    first, again = (_edit(editor, picture, instruction, 1) for _ in range(2))
    others = [_edit(editor, picture, instruction, seed) for seed in (2, 3, 4)]
    assert _bytes(first) == _bytes(again), "the same request gave other bytes the second time"
    differs = any(_bytes(other) != _bytes(first) for other in others)
    if editor.stochastic:
        assert differs, "declared stochastic, but three other seeds gave the same bytes"
    else:
        assert not differs, "declared deterministic, but another seed gave other bytes"


def _edit(editor: Editor, picture: Picture, instruction: str, seed: int) -> Edited | NoImage:
    answer = editor.edit(EditRequest((picture,), instruction, 1, 1, seed))
    assert isinstance(answer, Edited | NoImage), f"`edit` must return Edited or NoImage, not {type(answer).__name__}"
    return answer


def _bytes(answer: Edited | NoImage) -> bytes | str:
    return answer.data if isinstance(answer, Edited) else answer.why


def _saved(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()
