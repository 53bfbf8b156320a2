"""Recorded frames on disk."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin

PATTERN = "root/{origin}/{setting}/rep{repeat}/step_{turn}.png"


def photograph(name: str, size: int = 112) -> Image.Image:
    """A photograph that scikit-image ships."""
    return Image.fromarray(load_origin(OriginConfig(image=f"skimage:{name}", size=size)).rgb)


def worn(image: Image.Image, turn: int, kind: str) -> Image.Image:
    """One more edit: JPEG again, or a blur that grows with the turn."""
    if kind == "jpeg":
        buffer = io.BytesIO()
        image.resize((image.width - 3, image.height - 3)).resize(image.size).save(buffer, "JPEG", quality=30)
        return Image.open(io.BytesIO(buffer.getvalue())).convert("RGB")
    return image.filter(ImageFilter.GaussianBlur(0.3 + turn / 5))


def tree(
    root: Path,
    turns: int = 4,
    origins: Iterable[str] = ("coffee", "chelsea"),
    kinds: Iterable[str] = ("jpeg", "soft blur"),
    repeats: int = 1,
) -> Path:
    """`root/ORIGIN/KIND/repNN/step_NNN.png`, and `human.csv` beside it: damaged from turn 3 on. Returns the latter."""
    rows = []
    for origin in origins:
        start = photograph(origin)
        for kind in kinds:
            for repeat in range(1, repeats + 1):
                folder = root / origin / kind / f"rep{repeat:02}"
                folder.mkdir(parents=True)
                image = start
                for turn in range(turns + 1):
                    image = worn(image, turn + repeat, kind) if turn else image
                    image.save(folder / f"step_{turn:03}.png")
                    if turn:
                        path = (folder / f"step_{turn:03}.png").relative_to(root.parent)
                        rows.append((path.as_posix(), int(turn >= 3)))
    labels = root.parent / "human.csv"
    with labels.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("path", "damaged"), *rows])
    return labels


def flat(path: Path, level: int, size: int = 24) -> Path:
    """A picture of one gray level."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((size, size, 3), level, dtype=np.uint8)).save(path)
    return path


def chain(folder: Path, levels: Iterable[int], name: str = "{}.png", first: int = 0) -> Path:
    """Flat pictures, numbered from `first`."""
    for number, level in enumerate(levels, first):
        flat(folder / name.format(number), level)
    return folder
