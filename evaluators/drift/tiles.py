"""Per-tile statistics of one image: what drift is measured with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import fft

from turngate.luma import gaussian, luma_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BLOCKS",
    "Features",
    "Places",
    "Planes",
    "basis",
    "beside_contours",
    "cut",
    "features",
    "places",
    "planes",
    "spectra",
    "tile_for",
]


# Tiles of an image and their windowed spectra: what drift is measured on.

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
    bands: NDArray[np.float64]
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
        np.stack(bands, axis=1),
    )


# One image as the planes that drift reads: luma, its contours' band, and where contours are.

_CONTOUR = 15.0
"""Slope of a contour, grey levels per pixel after smoothing by one pixel."""
_NEAR, _FAR = 2, 7
"""Pixels from a contour between which halos and wrinkles are looked for."""


@dataclass(frozen=True, eq=False)
class Planes:
    """H x W each, grey levels of 0..255, BT.601."""

    rgb: NDArray[np.uint8]
    luma: NDArray[np.float32]
    band: NDArray[np.float32]
    """Luma between Gaussians of 1 and 3 pixels: where halos and wrinkles live, and noise and slopes do not."""
    soft: NDArray[np.float32]
    """Luma under a Gaussian of 1 pixel, in whole thousandths of a grey level."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.luma.shape
        return height, width


def planes(rgb: NDArray[np.uint8]) -> Planes:
    """The planes of H x W x 3 8-bit pixels."""
    thousandths = luma_of(rgb)
    soft, softer = (_blurred(thousandths, size, sigma) for size, sigma in ((9, 1.0), (25, 3.0)))
    return Planes(
        rgb,
        thousandths / np.float32(1000),
        ((soft - softer) / 1000).astype(np.float32),
        np.rint(soft).astype(np.float32),
    )


def beside_contours(image: Planes) -> NDArray[np.bool_]:
    """H x W: 3 to 7 pixels from a strong contour."""
    import cv2

    # Sobel's weights add up to 8 per grey level and pixel. Of whole thousandths its sums are exact.
    right, down = (cv2.Sobel(image.soft, cv2.CV_32F, *step) for step in ((1, 0), (0, 1)))
    contour = (right * right + down * down > np.float32((8000 * _CONTOUR) ** 2)).astype(np.uint8)
    near, far = (cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * r + 1, 2 * r + 1)) for r in (_NEAR, _FAR))
    return np.asarray(cv2.dilate(contour, far) > cv2.dilate(contour, near))


def _blurred(thousandths: NDArray[np.float32], size: int, sigma: float) -> NDArray[np.float64]:
    """Under a Gaussian window whose taps are multiples of 2^-17: 18 bits and twice 17 are 52, so sums are exact."""
    import cv2

    taps = np.rint(gaussian(size, sigma) * 2**17) / 2**17
    taps[size // 2] += 1 - taps.sum()
    return np.asarray(cv2.sepFilter2D(thousandths.astype(np.float64), cv2.CV_64F, taps, taps))


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
    power: NDArray[np.float32]
    """N x T x (T/2 + 1): of luma."""
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
        bands=flat.astype(np.float64) @ weights.bands,
        power=power,
        spectrum=spectrum,
        band=cut(image.band, where),
    )


def _lower_quartile(values: NDArray[np.float32]) -> NDArray[np.float64]:
    rank = values.shape[1] // 4
    return np.partition(values, rank, axis=1)[:, rank].astype(np.float64)
