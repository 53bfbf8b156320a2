"""Per-tile statistics of one image, from one windowed spectrum per tile: what drift is measured with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BANDS", "Features", "Layout", "features", "layout"]

BANDS = ((0.25, 0.5), (0.125, 0.25), (0.0625, 0.125))
"""Octave bands in cycles per pixel: fine, middle, coarse."""

NOISE_BAND = 0.3
"""Lowest frequency, in cycles per pixel, at which the noise floor is read."""

POWER_FLOOR = 4.0
"""Added to powers before a logarithm, in squared grey levels: what white noise of 2 levels hides is no pattern."""

_SMALL = 192
_MOST = 16
_FEWEST = 4
_QUARTILE_OF_EXPONENTIAL = float(np.log(4 / 3))


@dataclass(frozen=True)
class Layout:
    """Where tiles lie: the same relative places in every image, so that a shift or crop moves them by a few pixels."""

    tile: int
    """Side of a tile, pixels."""
    rows: int
    columns: int


@dataclass(frozen=True, eq=False)
class Features:
    """Statistics of N tiles. Luma and chroma are BT.601, in grey levels of 0..255."""

    mean: NDArray[np.float64]
    """N: mean luma."""
    deviation: NDArray[np.float64]
    """N: standard deviation of luma."""
    chroma: NDArray[np.float64]
    """N x 2: mean Cb and Cr, 0 is grey."""
    floor: NDArray[np.float64]
    """N: variance of the white noise that would have this tile's lower quartile of power above `NOISE_BAND`."""
    bands: NDArray[np.float64]
    """N x 3: variance of luma in each of `BANDS`."""
    spectrum: NDArray[np.float64]
    """T x (T/2 + 1): natural logarithm of power, median over tiles."""


def layout(height: int, width: int) -> Layout:
    """Tiles of 64 pixels (32 in an image below 192), edge to edge or overlapping, 4 to 16 a side."""
    tile = 64 if min(height, width) >= _SMALL else 32
    rows, columns = (min(_MOST, max(_FEWEST, -(-side // tile))) for side in (height, width))
    return Layout(tile, rows, columns)


def features(rgb: NDArray[np.uint8], where: Layout) -> Features:
    """Measure H x W x 3 8-bit pixels; both sides must be at least `where.tile`."""
    tiles = _cut(rgb, where).astype(np.float32)
    luma = tiles @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    mean = luma.mean(axis=(1, 2), dtype=np.float64)
    colour = tiles.mean(axis=(1, 2), dtype=np.float64)
    chroma = np.stack([(colour[:, 2] - mean) * 0.564, (colour[:, 0] - mean) * 0.713], axis=1)
    masks = _masks(where.tile)
    centred = luma - mean.astype(np.float32)[:, None, None]
    spectrum = fft.rfft2(centred * masks.window)
    power = (spectrum.real**2 + spectrum.imag**2) / np.float32(where.tile**2)
    flat = power.reshape(len(power), -1)
    return Features(
        mean=mean,
        deviation=centred.std(axis=(1, 2), dtype=np.float64),
        chroma=chroma,
        floor=_lower_quartile(flat[:, masks.high]) / _QUARTILE_OF_EXPONENTIAL,
        bands=(flat @ masks.bands).astype(np.float64),
        spectrum=np.median(np.log(power + np.float32(POWER_FLOOR)), axis=0).astype(np.float64),
    )


def _cut(rgb: NDArray[np.uint8], where: Layout) -> NDArray[np.uint8]:
    height, width = rgb.shape[:2]
    tops = np.rint(np.linspace(0, height - where.tile, where.rows)).astype(int)
    lefts = np.rint(np.linspace(0, width - where.tile, where.columns)).astype(int)
    return np.stack([rgb[y : y + where.tile, x : x + where.tile] for y in tops for x in lefts])


def _lower_quartile(values: NDArray[np.float32]) -> NDArray[np.float64]:
    rank = values.shape[1] // 4
    return np.partition(values, rank, axis=1)[:, rank].astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Masks:
    window: NDArray[np.float32]
    high: NDArray[np.bool_]
    bands: NDArray[np.float32]


@lru_cache(maxsize=2)
def _masks(tile: int) -> _Masks:
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(tile) / tile)
    window = np.outer(hann, hann)
    window /= np.sqrt((window**2).mean())
    down, across = np.fft.fftfreq(tile)[:, None], np.fft.rfftfreq(tile)[None, :]
    radius = np.hypot(down, across)
    # A half spectrum holds each column but the first and the last for two.
    weight = np.where((across == 0) | (across == 0.5), 1.0, 2.0) / tile**2
    bands = [np.where((radius >= low) & (radius < high), weight, 0.0).ravel() for low, high in BANDS]
    return _Masks(window.astype(np.float32), (radius > NOISE_BAND).ravel(), np.stack(bands, axis=1).astype(np.float32))
