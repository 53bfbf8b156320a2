"""What each simulated model does to an image. Written by hand after published descriptions, not fitted to any model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SIGNATURES", "Signature"]


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
