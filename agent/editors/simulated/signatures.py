"""What each simulated model does to an image and says about it. Written by hand after published descriptions, not
fitted to any model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["SIGNATURES", "Signature", "mention_probability", "summary"]


@dataclass(frozen=True)
class Signature:
    """How the residual looks. Amplitudes are in 8-bit levels per unit of damage, unless said otherwise."""

    recursion: float
    """a in R_n = I + a R_(n-1), 0..1: share of the residual that a turn keeps."""
    noise: float = 0.0
    """Standard deviation of the static noise, which is new at every turn."""
    grain_size: float = 0.6
    """Standard deviation of the Gaussian that correlates the noise, pixels."""
    chroma: float = 0.3
    """Strength of the colour part of the noise, relative to the part that all channels share."""
    patches: float = 0.0
    """How much the noise varies over the image: standard deviation of the logarithm of its strength."""
    lattice: float = 0.0
    """Amplitude of a sine lattice with a fixed phase."""
    period: tuple[int, int] = (0, 0)
    """Its period in pixels along x and y; 0 for constant."""
    lattice_from: float = 0.0
    """Damage at which the lattice sets in."""
    tint: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Change of red, green and blue."""
    dots: float = 0.0
    """Dots per megapixel, 2 to 4 pixels wide."""
    dot_level: float = 0.0
    """How much brighter or darker a dot is at its centre, levels."""
    soften: float = 0.0
    """Variance in square pixels of the Gaussian blur that the first turns add up to: fine detail is lost at once."""
    blur: float = 0.0
    """Variance in square pixels of the Gaussian blur that every further unit of damage adds."""
    simplify: float = 0.0
    """Share of edge-preserving smoothing that is mixed in, 0..1: texture turns into plain areas, edges stay."""
    wrinkles: float = 0.0
    """Amplitude of ridges that run along the contours of objects."""
    crop: tuple[float, float] = (0.0, 0.0)
    """Share of width and of height that is cut off, the rest being enlarged to the old size."""
    duplicates: float = 0.0
    """Probability that a piece of the right side is repeated at the left."""
    mentions: tuple[int, int] | None = None
    """First and last turn, at severity 1, at which its reasoning summary first mentions noise; None: no summaries."""


# What Banana100 (arXiv 2604.03400) reports of each model, and lattice periods after Mi-Ripple (arXiv 2609.11317,
# table 5). All amplitudes, probabilities and values of `recursion` are ours, set by eye: visible after 5 to 10 turns,
# severe at 20; noise and blur of nano-banana-pro also so that BRISQUE falls, as reported. `benchmarks/calibration.py`
# shows what they do.
SIGNATURES = {
    # Static noise, green tint, scattered dots, loss of fine detail. Period (5, 0), late.
    "nano-banana-pro": Signature(
        recursion=0.98,
        noise=0.75,
        grain_size=0.61,
        patches=0.6,
        lattice=0.5,
        period=(5, 0),
        lattice_from=7,
        tint=(-0.6, 0.55, -0.65),
        dots=40,
        dot_level=90,
        soften=0.9,
        blur=0.02,
        crop=(0.0006, 0.0004),
        mentions=(20, 37),
    ),
    # Wrinkles along object contours; "Fast", without a reasoning mode. Period (8, 0), early.
    "nano-banana-2": Signature(
        recursion=0.97,
        lattice=0.25,
        period=(8, 0),
        tint=(0.2, 0.1, -0.25),
        blur=0.01,
        wrinkles=6.0,
        crop=(0.0006, 0.0006),
    ),
    # Scattered dots. Period (3, 3), weak.
    "flux2-dev": Signature(
        recursion=0.98,
        lattice=0.12,
        period=(3, 3),
        tint=(-0.1, -0.15, -0.1),
        dots=260,
        dot_level=75,
        blur=0.01,
        crop=(0.0004, 0.0004),
    ),
    # Texture simplification; the right side repeated at the left. Period (6, 0) from the start.
    "qwen-image-edit": Signature(
        recursion=0.96,
        lattice=0.3,
        period=(6, 0),
        tint=(0.3, 0.1, -0.2),
        simplify=0.35,
        crop=(0.0005, 0.0003),
        duplicates=0.1,
    ),
}
"""Signatures by the name of the model that they are drawn after."""


# What a simulated editor says about its work: confident, whatever it did.

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
