"""Photographs, what is done to them, and their drift."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage import data

from turngate.evaluators import EvalInput, Result, Score
from turngate.evaluators.drift import Drift, DriftConfig
from turngate.evaluators.scoring import score
from turngate.picture import Picture

__all__ = ["PHOTOGRAPHS", "Rgb", "drift_of", "jpeg", "noisy", "object_added", "resized", "rounded", "scored"]

Rgb = NDArray[np.uint8]
PHOTOGRAPHS: dict[str, Callable[[], Rgb]] = {
    "astronaut": data.astronaut, "coffee": data.coffee, "chelsea": data.chelsea,
}  # fmt: skip


def rounded(values: NDArray[np.floating[Any]]) -> Rgb:
    eight_bit: Rgb = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return eight_bit


def drift_of(reference: Rgb, candidate: Rgb) -> Result:
    sample = EvalInput(Picture.from_rgb(candidate), origin=Picture.from_rgb(reference))
    return score(Drift(DriftConfig(type="drift")), [sample])[0]


def scored(reference: Rgb, candidate: Rgb) -> Score:
    result = drift_of(reference, candidate)
    assert isinstance(result, Score), result
    return result


def jpeg(rgb: Rgb, quality: int) -> Rgb:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"))


def object_added(rgb: Rgb) -> Rgb:
    """A noisy green ball over 8 % of the image."""
    height, width = rgb.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    inside = np.hypot(rows - 0.6 * height, columns - 0.3 * width) < np.sqrt(0.08 * height * width / np.pi)
    ball = np.array([40.0, 200.0, 60.0]) + np.random.default_rng(0).normal(0, 25, rgb.shape)
    return rounded(np.where(inside[:, :, None], ball, rgb))


def resized(rgb: Rgb, width: int, height: int) -> Rgb:
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.LANCZOS))


def noisy(rgb: Rgb, deviation: float) -> Rgb:
    return rounded(rgb + np.random.default_rng(1).normal(0, deviation, rgb.shape))
