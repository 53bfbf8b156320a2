"""Tiles of an image and their windowed spectra: what drift is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import fft

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BANDS", "Basis", "Places", "basis", "cut", "places", "spectra", "tile_for"]

BANDS = ((0.25, 0.5), (0.125, 0.25), (0.0625, 0.125))
"""Octave bands in cycles per pixel: fine, middle, coarse."""

NOISE_BAND = 0.3
"""Lowest frequency, in cycles per pixel, at which the noise floor is read."""

_LARGE, _SMALL = 64, 32
_SMALL_IMAGE = 192
_MOST, _FEWEST = 16, 4


@dataclass(frozen=True, eq=False)
class Places:
    """Where N tiles lie in an image, row by row."""

    tile: int
    """Side of a tile, pixels."""
    grid: tuple[int, int]
    """Rows and columns; N is their product."""
    tops: NDArray[np.intp]
    """N: first row of each tile."""
    lefts: NDArray[np.intp]
    """N: first column."""

    @property
    def centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """N and N: row and column of the middle of each tile."""
        tops, lefts = self.tops.astype(np.float64), self.lefts.astype(np.float64)
        return tops + self.tile / 2, lefts + self.tile / 2


@dataclass(frozen=True, eq=False)
class Basis:
    """What a spectrum of a tile is weighted with."""

    window: NDArray[np.float32]
    """T x T: Hann, mean square 1, so that mean power is the variance of the tile."""
    radius: NDArray[np.float32]
    """T x (T/2 + 1): cycles per pixel."""
    high: NDArray[np.bool_]
    """Flat: above `NOISE_BAND`."""
    bands: NDArray[np.float32]
    """Flat x 3: turns power into the variance in each of `BANDS`."""


def tile_for(height: int, width: int) -> int:
    """Side of a tile: 64 pixels, 32 in an image with a side below 192."""
    return _LARGE if min(height, width) >= _SMALL_IMAGE else _SMALL


def places(top: int, left: int, height: int, width: int) -> Places:
    """Tiles edge to edge or overlapping, 4 to 16 a side, evenly over a rectangle of at least one tile."""
    tile = tile_for(height, width)
    rows, columns = (min(_MOST, max(_FEWEST, -(-side // tile))) for side in (height, width))
    tops = top + np.rint(np.linspace(0, height - tile, rows)).astype(np.intp)
    lefts = left + np.rint(np.linspace(0, width - tile, columns)).astype(np.intp)
    return Places(tile, (rows, columns), np.repeat(tops, columns), np.tile(lefts, rows))


def cut(plane: NDArray[Any], where: Places) -> NDArray[Any]:
    """N x T x T, or N x T x T x 3 of a colour image."""
    tile = where.tile
    return np.stack([plane[y : y + tile, x : x + tile] for y, x in zip(where.tops, where.lefts, strict=True)])


def spectra(tiles: NDArray[np.float32]) -> NDArray[np.complex64]:
    """N x T x (T/2 + 1): Fourier transform of each tile less its mean, under the window, divided by T."""
    tile = tiles.shape[-1]
    centred = tiles - tiles.mean(axis=(1, 2), keepdims=True)
    transformed: NDArray[np.complex64] = fft.rfft2(centred * basis(tile).window) / np.float32(tile)
    return transformed


@lru_cache(maxsize=2)
def basis(tile: int) -> Basis:
    """Weights for tiles of that side."""
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(tile) / tile)
    window = np.outer(hann, hann)
    window /= np.sqrt((window**2).mean())
    across = np.fft.rfftfreq(tile)
    radius = np.hypot(np.fft.fftfreq(tile)[:, None], across[None, :])
    # A half spectrum holds each column but the first and the last for two.
    weight = np.where((across == 0) | (across == 0.5), 1.0, 2.0)[None, :] / tile**2
    bands = [np.where((radius >= low) & (radius < high), weight, 0.0).ravel() for low, high in BANDS]
    return Basis(
        window.astype(np.float32),
        radius.astype(np.float32),
        (radius > NOISE_BAND).ravel(),
        np.stack(bands, axis=1).astype(np.float32),
    )
