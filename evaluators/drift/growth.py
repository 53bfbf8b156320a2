"""What has grown or gone between two images, in quantities that add up along a chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import median_filter, uniform_filter

from turngate.evaluators.drift.pair import OFFSET, TilePair
from turngate.evaluators.drift.tiles import POWER_FLOOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Growth", "add", "components", "growth"]

_NOISE_SLACK = 0.5
_HALO_SLACK = 0.25
"""Growth that is no damage, as a share of what was there: codecs and resizing change this much."""
_VARIANCE_FLOOR = 0.3
"""Added to band variances, in squared grey levels (0.55 levels): 8-bit rounding alone makes 0.08."""
_MASKING = 8.0
"""Contrast of the reference, grey levels, that halves the energy of what it hides."""
_ROUNDING = 1e-4
"""Share of the energy that 32-bit arithmetic may leave of nothing."""
_LOWEST_LATTICE = 1 / 16
_DECIBELS = float(10 / np.log(10))


@dataclass(frozen=True, eq=False)
class Growth:
    """From one image to another, over the tiles that were not edited. Signed: a loss later cancels a gain."""

    noise: float
    """Variance of the noise floor, squared grey levels, signed."""
    floor: float
    """The reference's own."""
    octaves: NDArray[np.float64]
    """3: contrast of each band, signed."""
    power: NDArray[np.float64]
    """T x (T/2 + 1): median natural logarithm of power, signed."""
    halo: float
    """Mean square beside contours, squared grey levels, signed."""
    contour: float
    """The reference's own."""
    cast: NDArray[np.float64]
    """2: mean Cb and Cr, grey levels, signed."""
    luma: float
    """Mean luma, grey levels, signed."""
    residual: float
    """Mean square of middle and coarse detail that does not come from the reference, squared grey levels."""
    patches: float
    """Mean square of chroma about the cast, squared grey levels."""
    tone: float
    """Mean square of luma of tiles about the change of brightness, squared grey levels."""
    edited: float
    """Share of the tiles that were edited."""


def growth(two: TilePair) -> Growth:
    """What has changed between the two images of a pair."""
    before, after, gain = two.before, two.after, two.gain
    kept = np.flatnonzero(~two.edited)
    half = (len(kept) + 1) // 2
    smooth = kept[np.argsort(before.floor[kept], kind="stable")[:half]]
    textured = kept[np.argsort(before.bands[kept, :2].sum(axis=1), kind="stable")[-half:]]
    octaves = 0.5 * np.log2(
        (after.bands[textured] + _VARIANCE_FLOOR) / (gain**2 * before.bands[textured] + _VARIANCE_FLOOR)
    )
    chroma = (after.chroma - gain * before.chroma)[kept]
    near = np.argsort(np.hypot(*chroma.T), kind="stable")[: _three_quarters(len(kept))]
    cast = chroma[near].mean(axis=0)
    contours = ~two.edited[two.halo_tiles]
    halo = two.halo[contours]
    few = len(halo) < 4
    return Growth(
        noise=float(np.median(after.floor[smooth] - gain**2 * before.floor[smooth])),
        floor=float(np.median(before.floor[smooth])),
        octaves=np.median(octaves, axis=0),
        power=_typical(after.power[kept]) - _typical(before.power[kept]),
        halo=0.0 if few else float(np.median(halo[:, 1] - gain**2 * halo[:, 0])),
        contour=0.0 if few else float(np.median(halo[:, 0])),
        cast=cast,
        luma=float(np.median(after.mean[kept] - before.mean[kept])),
        residual=_trimmed(_residual(two)[kept]),
        patches=float(np.square(chroma[near] - cast).sum(axis=1).mean()),
        tone=_trimmed(np.square(after.mean - gain * before.mean - two.offset)[kept]),
        edited=float(two.edited.mean()),
    )


def add(steps: Sequence[Growth]) -> Growth:
    """Growth along a chain of steps, at least one: signed quantities add up, squares of what is unsigned too.

    Each step forgives a change of brightness; what all of them together change beyond 25.5 levels counts as tone.
    """
    first = steps[0]
    if len(steps) == 1:
        return first
    luma = float(sum(step.luma for step in steps))
    same = [step.power for step in steps if step.power.shape == steps[-1].power.shape]
    return Growth(
        noise=sum(step.noise for step in steps),
        floor=first.floor,
        octaves=np.sum([step.octaves for step in steps], axis=0),
        power=np.sum(same, axis=0),
        halo=sum(step.halo for step in steps),
        contour=first.contour,
        cast=np.sum([step.cast for step in steps], axis=0),
        luma=luma,
        residual=sum(step.residual for step in steps),
        patches=sum(step.patches for step in steps),
        tone=sum(step.tone for step in steps) + max(0.0, abs(luma) - OFFSET) ** 2,
        edited=steps[-1].edited,
    )


def components(grown: Growth) -> dict[str, float]:
    """Nine non-negative numbers, each 0 when nothing has drifted; `docs/drift.md` has formulas and units."""
    fine, middle, coarse = (float(octave) for octave in grown.octaves)
    return {
        "noise": max(0.0, grown.noise - _NOISE_SLACK * grown.floor) ** 0.5,
        "residual": max(0.0, grown.residual) ** 0.5,
        "texture": max(0.0, -(fine + middle) / 2),
        "blur": max(0.0, -coarse),
        "contrast": max(0.0, middle, coarse),
        "halo": max(0.0, grown.halo - _HALO_SLACK * grown.contour) ** 0.5,
        "lattice": _lattice(grown.power),
        "chroma": float(np.sqrt(np.square(grown.cast).sum() + grown.patches)),
        "tone": grown.tone**0.5,
    }


def _residual(two: TilePair) -> NDArray[np.float64]:
    """N: energy in the middle and coarse band that no scaling of the reference explains, less where it is hidden."""
    reference, shared = two.matched[:, 1:, 0], two.matched[:, 1:, 1]
    explained = np.square(shared) / (reference + 1e-6)
    left = np.maximum((1 - _ROUNDING) * two.after.bands[:, 1:] - explained, 0).sum(axis=1)
    visible: NDArray[np.float64] = left / (1 + reference.sum(axis=1) / _MASKING**2)
    return visible


def _typical(power: NDArray[np.float32]) -> NDArray[np.float64]:
    """T x (T/2 + 1): median over N tiles of the natural logarithm of power."""
    middle = [(len(power) - 1) // 2, len(power) // 2]
    typical: NDArray[np.float64] = np.log(
        np.partition(power, middle, axis=0)[middle].astype(np.float64) + POWER_FLOOR
    ).mean(axis=0)
    return typical


def _three_quarters(number: int) -> int:
    return -(-3 * number // 4)


def _trimmed(values: NDArray[np.float64]) -> float:
    """Mean without the highest quarter: what the change map missed."""
    return float(np.sort(values)[: _three_quarters(len(values))].mean())


def _lattice(growth: NDArray[np.float64]) -> float:
    """Highest peak, in decibels above its surroundings, of a T x (T/2 + 1) difference of log spectra."""
    tile = len(growth)
    mirrored = np.roll(growth[::-1], 1, axis=0)[:, -2:0:-1]
    # A sinusoid spreads over about 3 x 3 bins of a Hann-windowed tile; chance peaks do not.
    whole = uniform_filter(np.concatenate([growth, mirrored], axis=1), 3, mode="wrap")
    peaks = (whole - median_filter(whole, 9, mode="wrap"))[:, : tile // 2 + 1]
    radius = np.hypot(np.fft.fftfreq(tile)[:, None], np.fft.rfftfreq(tile)[None, :])
    return max(0.0, float(peaks[radius >= _LOWEST_LATTICE].max() * _DECIBELS))
