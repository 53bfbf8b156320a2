"""What each simulated model does to an image in one turn. Written by hand after published descriptions, not fitted."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SIGNATURES", "Signature"]


@dataclass(frozen=True)
class Signature:
    """Damage of one turn at severity 1; amplitudes in 8-bit levels."""

    grain: float
    """Standard deviation of a fixed grain pattern: the same each turn, so it grows with the number of turns."""
    noise: float
    """Standard deviation of noise that is new each turn: it grows with the root of the number of turns."""
    lattice: float
    """Amplitude of a sine lattice with a fixed phase."""
    period: tuple[int, int]
    """Its period in pixels along x and y; 0 for constant."""
    tint: tuple[float, float, float]
    """Change of red, green and blue."""
    dots: float
    """Soft dots per megapixel, about 3 pixels wide, 25 levels bright or dark."""
    blur: float
    """Share of a 3 x 3 Gaussian blur that is mixed in: loss of fine detail, 0..1."""
    crop: float
    """Share of width and height that is cropped, the rest being enlarged to the old size."""
    mentions: tuple[float, float]
    """Range of the damage, in turns, at which its reasoning summary first mentions noise."""


SIGNATURES = {
    # Banana100 (arXiv 2604.03400), as reported in summaries: static noise, green tint, scattered dots, loss of fine
    # detail, nearly always a crop; noise first mentioned at about turns 20 to 37. Lattice of period (5, 0), late:
    # Mi-Ripple (arXiv 2609.11317), table 5. The amplitudes are ours, set by eye: visible by turn 10, severe at 20.
    "nano-banana-pro": Signature(
        grain=0.8,
        noise=1.5,
        lattice=0.35,
        period=(5, 0),
        tint=(-0.45, 0.4, -0.4),
        dots=12.0,
        blur=0.06,
        crop=0.0015,
        mentions=(20.0, 37.0),
    ),
}
"""Signatures by the name of the model that they are drawn after."""
