"""Scores photographs and damaged copies with all of our own metrics and prints the results as JSON.

Run as a program, with environment variables that make the libraries work as on another processor.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage import data

from turngate.evaluators import EVALUATORS, EvalInput
from turngate.evaluators.result import result_to_json
from turngate.evaluators.scoring import score
from turngate.picture import Picture

Rgb = NDArray[np.uint8]

METRICS: dict[str, Any] = {
    **{name: name for name in ("brisque", "niqe", "piqe", "psnr", "ssim", "ms_ssim", "ciede2000", "geometry")},
    **{f"{name} full": {"type": name, "align": "full"} for name in ("psnr", "ssim", "ms_ssim", "ciede2000")},
    "psnr shift": {"type": "psnr", "align": "shift"},
    "drift": "drift",
    "drift_chain": "drift_chain",
}


def damaged(rgb: Rgb) -> Iterator[tuple[str, Rgb]]:
    """Compressed, cut out and mirrored, and shifted between pixels under noise."""
    height, width = rgb.shape[:2]
    image = Image.fromarray(rgb)
    yield "jpeg", _jpeg(rgb, 30)
    box = (7.3, 4.1, width - 5.2, height - 3.7)
    cut = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS, box=box))
    yield "cut", _jpeg(np.ascontiguousarray(cut[:, ::-1]), 60)
    box = (3.4, 2.3, width, height)
    moved = np.asarray(image.resize((width - 3, height - 2), Image.Resampling.LANCZOS, box=box)).astype(float)
    noise = np.random.default_rng(4).normal(0, 12, moved.shape)
    yield "noise", np.clip(np.rint(moved + noise), 0, 255).astype(np.uint8)


def _jpeg(rgb: Rgb, quality: int) -> Rgb:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"))


def main() -> None:
    """Print one object: results by photograph, damage and metric."""
    cv2.setNumThreads(int(os.environ["TEST_THREADS"]))
    evaluators = {name: EVALUATORS.build(EVALUATORS.configure(raw, "x")) for name, raw in METRICS.items()}
    results = {}
    for photograph in ("astronaut", "coffee", "chelsea"):
        rgb = np.ascontiguousarray(getattr(data, photograph)()[40:248, 100:324])
        origin, first = Picture.from_rgb(rgb), Picture.from_rgb(_jpeg(rgb, 80))
        for damage, worn in damaged(rgb):
            sample = EvalInput(
                Picture.from_rgb(worn), origin=origin, previous=first, first=first, history=(origin, first)
            )
            for name, evaluator in evaluators.items():
                results[f"{photograph} {damage}: {name}"] = result_to_json(score(evaluator, [sample])[0])
    print(json.dumps(results))


if __name__ == "__main__":
    main()
