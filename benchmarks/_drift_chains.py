"""Chains of edits that wear an image out, made once and kept as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from _drift_inputs import SIDE, jpeg, photograph
from numpy.typing import NDArray
from PIL import Image

from turngate import Edited, EditRequest, Picture
from turngate.agent.editors import EDITORS

__all__ = ["EDITORS_SHOWN", "FAMILIES", "KEPT", "chain"]

KEPT = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30)
"""Turns that are scored."""
EDITORS_SHOWN: dict[str, dict[str, Any] | None] = {
    "span x4": {"type": "span"},
    "span x4 bicubic": {"type": "span", "kernel": "bicubic"},
    "span x2": {"type": "span", "scale": 2},
    "style": {"type": "style"},
    "vae": {"type": "vae"},
    "jpeg jitter": {"type": "codec", "quality": 50, "resize_jitter": 0.02},
    "jpeg moving": None,
    "sim nano-banana-pro": {"type": "simulated", "signature": "nano-banana-pro"},
    "sim nano-banana-2": {"type": "simulated", "signature": "nano-banana-2"},
    "sim flux2-dev": {"type": "simulated", "signature": "flux2-dev"},
    "sim qwen-image-edit": {"type": "simulated", "signature": "qwen-image-edit"},
}
"""Real networks (span, style, vae), real codecs (`jpeg moving`: quality 50, the grid moves every turn) and simulated
editors."""
FAMILIES = ("span", "style", "vae", "jpeg", "sim")
"""Held out together: the first word of an editor's name."""
_REPLICATE = "Produce an exact replica of the provided image, with no alterations."


def chain(editor: str, photo: str, turns: int, weights: Path | None, kept: Path | None) -> dict[int, Picture]:
    """Images after the turns of `KEPT` up to `turns`; read from `kept` where they are there, written there else."""
    wanted = [turn for turn in KEPT if turn <= turns]
    folder = kept and kept / editor / Path(photo).stem
    if folder and all((folder / f"{turn:02d}.png").exists() for turn in wanted):
        return {turn: Picture.from_bytes((folder / f"{turn:02d}.png").read_bytes()) for turn in wanted}
    images = _made(EDITORS_SHOWN[editor], Picture.from_rgb(photograph(photo, SIDE)), turns, weights)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for turn in wanted:
            Image.fromarray(images[turn].rgb).save(folder / f"{turn:02d}.png")
    return {turn: images[turn] for turn in wanted}


def _made(raw: dict[str, Any] | None, origin: Picture, turns: int, weights: Path | None) -> list[Picture]:
    if raw and raw["type"] == "vae":
        if weights is None:
            raise SystemExit("vae needs --weights FOLDER with taef2_encoder.pth and taef2_decoder.pth")
        raw = raw | {half: str(weights / f"taef2_{half}.pth") for half in ("encoder", "decoder")}
    # A new one for every chain: the simulator remembers the damage of images.
    editor = EDITORS.build(EDITORS.configure(raw, "editor")) if raw else None
    rng = np.random.default_rng(7)
    images = [origin]
    for turn in range(1, turns + 1):
        seed = int(rng.integers(2**31))
        if editor is None:
            images.append(Picture.from_rgb(_moving_jpeg(images[-1].rgb, seed)))
            continue
        operation = {"kind": "replicate"}
        edited = editor.edit(EditRequest((images[-1],), _REPLICATE, turn, 1, seed, operation=operation))
        if not isinstance(edited, Edited):
            raise SystemExit(f"{editor.model} gave no image: {edited.why}")
        images.append(Picture.from_bytes(edited.data))
    return images


def _moving_jpeg(rgb: NDArray[np.uint8], seed: int) -> NDArray[np.uint8]:
    down, right = (int(pixels) for pixels in np.random.default_rng(seed).integers(0, 8, 2))
    moved = jpeg(np.roll(rgb, (down, right), (0, 1)), 50)
    return np.roll(moved, (-down, -right), (0, 1)).copy()
