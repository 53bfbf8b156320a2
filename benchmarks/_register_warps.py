"""Known warps of photographs and the wear of recursive editing, for `registration.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from _drift_inputs import jpeg, photograph, rounded
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from turngate.agent.editor import Edited, EditRequest
from turngate.agent.editors import EDITORS
from turngate.picture import Picture

__all__ = ["HELD_OUT", "PHOTOGRAPHS", "WARPS", "WEAR", "Case", "Warp", "case"]

Rgb = NDArray[np.uint8]

PHOTOGRAPHS = (
    "astronaut.png", "coffee.png", "chelsea.png", "rocket.jpg", "motorcycle_left.png", "ihc.png", "camera.png",
    "gravel.png", "hubble_deep_field.jpg", "retina.jpg", "brick.png", "grass.png", "moon.png", "coins.png",
)  # fmt: skip
HELD_OUT = ("cell.png", "clock_motion.png", "motorcycle_right.png", "text.png", "color.png")
"""Never looked at while anything was set; the second is blurred by motion, the last a drawn wheel without texture."""
_WHOLE = 800
"""Longest side of a scene, pixels: none is cut."""
_MARGIN = 24
"""Pixels of the scene around the reference: a shift shows what is there."""


@dataclass(frozen=True)
class Warp:
    """A crop or shift drawn at random, and how the result is laid down."""

    crop: tuple[float, float] = (0.0, 0.0)
    """Least and most that is cut from each side's length, as a share."""
    uniform: bool = True
    """Both axes lose the same share."""
    shift: float = 0.0
    """Most pixels along each axis."""
    mirrored: bool = False
    quarters: int = 0
    """Quarter turns clockwise."""
    size: float = 1.0
    """Pixels of the result per pixel of the reference."""


WARPS = {
    "none": Warp(),
    "shift to 20 px": Warp(shift=20),
    "crop 0.2-2 %": Warp(crop=(0.002, 0.02), uniform=False),
    "crop 2-8 %, one scale": Warp(crop=(0.02, 0.08)),
    "crop 0.2-8 %, two scales": Warp(crop=(0.002, 0.08), uniform=False),
    "half the size, crop to 3 %": Warp(crop=(0.0, 0.03), uniform=False, size=0.5),
    "mirrored, crop to 3 %": Warp(crop=(0.0, 0.03), mirrored=True),
    "turned by 90, crop to 3 %": Warp(crop=(0.0, 0.03), quarters=1),
    "turned by 180, crop to 3 %": Warp(crop=(0.0, 0.03), quarters=2),
    "turned by 270, crop to 3 %": Warp(crop=(0.0, 0.03), quarters=3),
}

WEAR: dict[str, Callable[[Rgb], Rgb]] = {
    "none": lambda rgb: rgb,
    "noise 40": lambda rgb: rounded(rgb + np.random.default_rng(1).normal(0, 40, rgb.shape)),
    "blur 5 px": lambda rgb: rounded(gaussian_filter(rgb.astype(float), (5, 5, 0))),
    "cast": lambda rgb: rounded(rgb * np.array([0.6, 1.2, 0.7]) + 25),
    "JPEG q 10": lambda rgb: jpeg(rgb, 10),
    "object on 8 %": lambda rgb: _object(rgb),
    "blur 2, cast, noise 20": lambda rgb: rounded(
        gaussian_filter(rgb * np.array([1.2, 0.8, 0.7]), (2, 2, 0)) + np.random.default_rng(1).normal(0, 20, rgb.shape)
    ),
    "span, turn 20": lambda rgb: rgb,
}
"""After the warp; the chain of turns runs on the scene before it."""


@dataclass(frozen=True)
class Case:
    """A reference, a candidate, and where the reference's corners really are."""

    reference: Rgb
    candidate: Rgb
    unmoved: Rgb
    """The same wear on the reference itself."""
    corners: NDArray[np.float64]
    """4 x 2 positions in the candidate as it came, pixels from its left top edge."""


def case(name: str, warp: Warp, wear: str, seed: int) -> Case:
    """One case, always the same for one seed."""
    rng = np.random.default_rng(seed)
    scene = photograph(name, _WHOLE)
    worn = _worn(name) if wear == "span, turn 20" else scene
    inner = slice(_MARGIN, -_MARGIN)
    height, width = scene[inner, inner].shape[:2]
    lost = rng.uniform(*warp.crop, 2)
    lost = np.array([width, height]) * (lost[:1] if warp.uniform else lost)
    left, top = lost * rng.uniform(0, 1, 2) + rng.uniform(-warp.shift, warp.shift, 2)
    box = (left, top, left + width - lost[0], top + height - lost[1])
    size = (round(width * warp.size), round(height * warp.size))
    inside = [float(edge) + _MARGIN for edge in box]
    upright = Image.fromarray(worn).resize(
        size, Image.Resampling.LANCZOS, box=(inside[0], inside[1], inside[2], inside[3])
    )
    across, down = (
        (np.array([0, length]) - start) / (end - start)
        for length, start, end in zip((width, height), box, box[2:], strict=False)
    )
    corners = np.array([(u * size[0], v * size[1]) for u in across for v in down])
    pixels = WEAR[wear](np.asarray(upright))
    if warp.mirrored:
        pixels, corners[:, 0] = pixels[:, ::-1], pixels.shape[1] - corners[:, 0]
    for _ in range(warp.quarters):
        corners = np.stack([pixels.shape[0] - corners[:, 1], corners[:, 0]], axis=1)
        pixels = np.rot90(pixels, -1)
    return Case(scene[inner, inner], np.ascontiguousarray(pixels), WEAR[wear](worn[inner, inner]), corners)


@cache
def _worn(name: str) -> Rgb:
    editor = EDITORS.build(EDITORS.configure({"type": "span", "scale": 4}, "editor"))
    current = Picture.from_rgb(photograph(name, _WHOLE))
    for turn in range(1, 21):
        edited = editor.edit(EditRequest((current,), "replicate", turn, 1, 2000 + turn))
        if not isinstance(edited, Edited):
            raise SystemExit(f"span gave no image: {edited.why}")
        current = Picture.from_bytes(edited.data)
    return current.rgb


def _object(rgb: Rgb) -> Rgb:
    height, width = rgb.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    inside = np.hypot(rows - 0.6 * height, columns - 0.3 * width) < np.sqrt(0.08 * height * width / np.pi)
    ball = np.array([40.0, 200.0, 60.0]) + np.random.default_rng(0).normal(0, 25, rgb.shape)
    return rounded(np.where(inside[:, :, None], ball, rgb))
