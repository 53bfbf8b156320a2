"""Per-tile statistics of one image: what drift is measured with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators._drift_planes import Planes
from turngate.evaluators._drift_tiles import Places, basis, cut, spectra

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCKS", "POWER_FLOOR", "Features", "features"]

POWER_FLOOR = 4.0
"""Added to powers before a logarithm, in squared grey levels: what white noise of 2 levels hides is no pattern."""

BLOCKS = 8
"""Blocks a side of a tile whose mean colour is kept."""

_QUARTILE_OF_EXPONENTIAL = float(np.log(4 / 3))


@dataclass(frozen=True, eq=False)
class Features:
    """Statistics of N tiles. Luma and chroma are BT.601, in grey levels of 0..255."""

    mean: NDArray[np.float64]
    """N: mean luma."""
    chroma: NDArray[np.float64]
    """N x 2: mean Cb and Cr, 0 is grey."""
    blocks: NDArray[np.float64]
    """N x 64 x 3: mean RGB of 8 x 8 blocks."""
    floor: NDArray[np.float64]
    """N: variance of the white noise that would have this tile's lower quartile of power above 0.3 cycles a pixel."""
    bands: NDArray[np.float64]
    """N x 3: variance of luma in each of `BANDS`."""
    levels: NDArray[np.float32]
    """N x T x (T/2 + 1): natural logarithm of power."""
    spectrum: NDArray[np.complex64]
    """N x T x (T/2 + 1)."""
    band: NDArray[np.float32]
    """N x T x T: `Planes.band`."""


def features(image: Planes, where: Places) -> Features:
    """Measure tiles of an image."""
    luma = cut(image.luma, where)
    side = where.tile // BLOCKS
    colours = cut(image.rgb, where).reshape(len(luma), BLOCKS, side, BLOCKS, side, 3)
    blocks = colours.mean(axis=(2, 4), dtype=np.float32).astype(np.float64).reshape(len(luma), -1, 3)
    mean, colour = luma.mean(axis=(1, 2), dtype=np.float64), blocks.mean(axis=1)
    spectrum = spectra(luma)
    power = spectrum.real**2 + spectrum.imag**2
    flat, weights = power.reshape(len(power), -1), basis(where.tile)
    return Features(
        mean=mean,
        chroma=np.stack([(colour[:, 2] - mean) * 0.564, (colour[:, 0] - mean) * 0.713], axis=1),
        blocks=blocks,
        floor=_lower_quartile(flat[:, weights.high]) / _QUARTILE_OF_EXPONENTIAL,
        bands=(flat @ weights.bands).astype(np.float64),
        levels=np.log(power + np.float32(POWER_FLOOR)),
        spectrum=spectrum,
        band=cut(image.band, where),
    )


def _lower_quartile(values: NDArray[np.float32]) -> NDArray[np.float64]:
    rank = values.shape[1] // 4
    return np.partition(values, rank, axis=1)[:, rank].astype(np.float64)
