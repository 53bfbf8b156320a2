"""What a simulated editor says about its work: confident, whatever it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["mention_probability", "summary"]

_CONFIDENT = (
    "The output reproduces the input faithfully; composition, colours and fine detail are preserved.",
    "I compared both images region by region and found them identical.",
    "The replica matches the original exactly. No changes were introduced.",
)
_NOTICES = (
    "The picture shows some grain and a slight colour cast; I kept both to stay faithful to the input.",
    "There is visible noise in the smooth areas. The replica preserves the image as provided.",
)
_DENOISED = (
    "The noise has been removed; the result is clean and every detail is preserved.",
    "I cleaned the image of noise and colour casts and left everything else as it was.",
)
_DONE = {
    "mirror": ("The image is mirrored: what was on the left is now on the right. Nothing else changed.",),
    "rotate": ("The image is rotated by 90 degrees clockwise, with all content intact.",),
    "grayscale": ("The image is now grayscale; tones and detail are preserved.",),
    "recolorise": ("The original colours are back, as they were.",),
    "add": ("I added one {name} and left everything else exactly as it was.", "One {name} more, all others kept."),
}


def summary(operation: str, name: str, notices: bool, rng: np.random.Generator) -> str:
    """A sentence or two about `operation`, the same whether it worked or not; `notices` speaks of noise.

    A request to remove noise is always said to have been carried out.
    """
    lines = _DENOISED if operation == "denoise" else _DONE.get(operation, _CONFIDENT)
    text = lines[int(rng.integers(len(lines)))].format(name=name)
    if notices and operation != "denoise":
        noticed = _NOTICES[int(rng.integers(len(_NOTICES)))]
        return f"{text} {noticed}" if operation in _DONE else noticed
    return text


def mention_probability(age: float, first: int, last: int) -> float:
    """Probability that a summary at that age, in turns, speaks of noise.

    1 / (last + 1 - age): with an independent draw at each turn, the first mention is equally likely at every turn from
    `first` to `last`.
    """
    turn = first - 1 if age < first - 0.5 else last if age > last else round(age)
    return 0.0 if turn < first else 1 / (last + 1 - turn)
