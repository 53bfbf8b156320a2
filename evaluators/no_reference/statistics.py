"""Natural scene statistics: MSCN coefficients, and generalised Gaussian fits to them and to products of neighbours."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln

from turngate.errors import MachineError
from turngate.luma import gaussian, strips

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BRISQUE", "NIQE", "fit_aggd", "fit_ggd", "half", "is_flat", "mscn", "neighbour_sums", "parameters"]


_CANCELS = 1e-6
"""A side with a smaller share of the power is summed by itself: the difference of two sums would be rounding noise."""


@dataclass(frozen=True)
class Sums:
    """What the fits need to know about a set of values x; one entry per block."""

    count: int
    """How many values there are, zeros included."""
    negatives: NDArray[np.float64]
    """How many are below zero."""
    positives: NDArray[np.float64]
    """How many are above zero."""
    magnitude: NDArray[np.float64]
    """Sum of |x|."""
    left: NDArray[np.float64]
    """Sum of x^2 over x < 0."""
    right: NDArray[np.float64]
    """Sum of x^2 over x > 0."""


@dataclass(frozen=True)
class Aggd:
    """Asymmetric generalised Gaussian, one entry per block; NaN where a side holds no value."""

    shape: NDArray[np.float64]
    """alpha, 0.2 to 10 in steps of 0.001."""
    left: NDArray[np.float64]
    """sigma_l: root mean square below zero."""
    right: NDArray[np.float64]
    """sigma_r: root mean square above zero."""

    @property
    def unit(self) -> NDArray[np.float64]:
        """sqrt(Gamma(1/alpha) / Gamma(3/alpha)): turns sigma into the scale parameter beta."""
        unit: NDArray[np.float64] = np.exp((gammaln(1 / self.shape) - gammaln(3 / self.shape)) / 2)
        return unit

    @property
    def mean(self) -> NDArray[np.float64]:
        """(beta_r - beta_l) Gamma(2/alpha) / Gamma(1/alpha): equation 8 of NIQE, eta of BRISQUE (equation 11)."""
        ratio: NDArray[np.float64] = np.exp(gammaln(2 / self.shape) - gammaln(1 / self.shape))
        return (self.right - self.left) * self.unit * ratio


def neighbour_sums(blocks: NDArray[np.float64]) -> list[Sums]:
    """Sums over the values of N x H x W blocks and over four products with neighbours, wrapped within the block.

    The order is: the values, then products with the left, upper, upper-left and upper-right neighbour.
    """
    number, height, width = blocks.shape
    framed = np.empty((number, height + 1, width + 2))
    framed[:, 1:, 1:-1] = blocks
    framed[:, 0, 1:-1] = blocks[:, -1]
    framed[:, :, 0] = framed[:, :, -2]
    framed[:, :, -1] = framed[:, :, 1]
    totals = np.zeros((5, 5, number))
    for block in range(number):
        for top, bottom in strips(height, width):
            strip = framed[block, top : bottom + 1]
            values = np.ascontiguousarray(strip[1:, 1:-1])
            totals[0, :, block] += _sums(values)
            neighbours = (strip[1:, :-2], strip[:-1, 1:-1], strip[:-1, :-2], strip[:-1, 2:])
            for row, neighbour in enumerate(neighbours, start=1):
                totals[row, :, block] += _sums(values * neighbour)
    return [Sums(height * width, *each) for each in totals]


def fit_aggd(sums: Sums) -> Aggd:
    """Moment matching of an asymmetric generalised Gaussian (Lasmar, Stitou, Berthoumieu 2009)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = np.sqrt(sums.left / sums.negatives), np.sqrt(sums.right / sums.positives)
        skew = left / right
        peak = sums.magnitude**2 / (sums.count * (sums.left + sums.right))
        ratio = peak * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    shapes, ratios = _table()
    return Aggd(_nearest(ratio, ratios, shapes), left, right)


def fit_ggd(sums: Sums) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shape alpha and variance sigma^2 of a symmetric generalised Gaussian (Sharifi, Leon-Garcia 1995)."""
    power = sums.left + sums.right
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = sums.count * power / sums.magnitude**2
    shapes, ratios = _table()
    return _nearest(ratio, 1 / ratios[::-1], shapes[::-1]), power / sums.count


def _sums(values: NDArray[np.float64]) -> tuple[float, float, float, float, float]:
    import cv2

    flat = values.ravel()
    negatives, positives = float(np.count_nonzero(flat < 0)), float(np.count_nonzero(flat > 0))
    # Not `flat @ flat`: BLAS shares that among threads, so the last bits depend on the machine, and on a busy one its
    # threads spin while they wait (measured: 1.2 s instead of 12 ms).
    magnitude, power = cv2.norm(flat, cv2.NORM_L1), cv2.norm(flat, cv2.NORM_L2SQR)
    one_side = np.maximum(flat, 0.0)
    right = cv2.norm(one_side, cv2.NORM_L2SQR)
    left = power - right
    if left < power * _CANCELS:
        left = cv2.norm(np.minimum(flat, 0.0, out=one_side), cv2.NORM_L2SQR)
    return negatives, positives, magnitude, left, right


@cache
def _table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shapes 0.2 to 10 in steps of 0.001 and Gamma(2/a)^2 / (Gamma(1/a) Gamma(3/a)) of each, rising."""
    shapes = np.arange(200, 10_001) / 1000
    return shapes, np.exp(2 * gammaln(2 / shapes) - gammaln(1 / shapes) - gammaln(3 / shapes))


def _nearest(
    wanted: NDArray[np.float64], rising: NDArray[np.float64], answers: NDArray[np.float64]
) -> NDArray[np.float64]:
    after = np.clip(np.searchsorted(rising, wanted), 1, len(rising) - 1)
    before_is_nearer = wanted - rising[after - 1] <= rising[after] - wanted
    return np.where(np.isfinite(wanted), answers[after - before_is_nearer], np.nan)


# Local mean and contrast taken out of a luma image: the field that BRISQUE, NIQE and PIQE look at.

_SUM = 1 + 1.135e-8
"""Of the window: what it is in single precision, in which published implementations hold it. It matters in flat areas:
the residue I - mu is then a tiny value of one sign, far above rounding noise, so that a flat area counts on one side of
the fits, as it does there, instead of on none or on both by chance."""


def mscn(luma: NDArray[np.float64], border: Literal["zero", "edge"]) -> NDArray[np.float64]:
    """Mean-subtracted contrast-normalised coefficients (I - mu) / (sigma + 1) of an H x W luma image, 0..255.

    mu and sigma come from a 7 x 7 Gaussian window with standard deviation 7/6; outside the image there are zeros or
    copies of the `edge`. Source: Mittal, Moorthy, Bovik 2012, equations 1 to 3.
    """
    import cv2

    taps = gaussian(7, 7 / 6) * _SUM**0.5
    outside = cv2.BORDER_CONSTANT if border == "zero" else cv2.BORDER_REPLICATE
    means = np.asarray(cv2.sepFilter2D(luma, cv2.CV_64F, taps, taps, borderType=outside), np.float64)
    powers = np.asarray(cv2.sepFilter2D(luma * luma, cv2.CV_64F, taps, taps, borderType=outside), np.float64)
    for top, bottom in strips(*luma.shape):
        mean, spread = means[top:bottom], powers[top:bottom]
        spread -= mean * mean
        np.maximum(spread, 0.0, out=spread)
        np.sqrt(spread, out=spread)
        spread += 1.0
        np.subtract(luma[top:bottom], mean, out=mean)
        mean /= spread
    return means


def is_flat(levels: NDArray[np.float64]) -> bool:
    """True when all pixels have one level: there is no structure to judge."""
    return bool(levels.min() == levels.max())


# Shrinking an image to half its size: the second scale of BRISQUE and NIQE.


def half(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shrink H x W to ceil(H/2) x ceil(W/2) by an antialiased bicubic kernel (a = -0.5), edges mirrored.

    This is what MATLAB's `imresize(image, 0.5)` and pyiqa do; other kernels move BRISQUE by several points.
    Source of the kernel: Keys 1981, equation 15, stretched by 2. Both sides must be at least 4 pixels.
    """
    import cv2

    taps = _taps()
    # OpenCV centres eight taps on the fourth: the target's middle lies half a pixel to the right, as it should.
    full = cv2.sepFilter2D(image, cv2.CV_64F, taps, taps, anchor=(3, 3), borderType=cv2.BORDER_REFLECT)
    return np.asarray(full, np.float64)[::2, ::2].copy()


@cache
def _taps() -> NDArray[np.float64]:
    """Eight symmetric weights; the source pixels lie 3.5, 2.5, 1.5 and 0.5 from the target on both sides."""
    far, near = np.array([1.75, 1.25]), np.array([0.75, 0.25])
    weights = np.concatenate([-0.5 * far**3 + 2.5 * far**2 - 4 * far + 2, 1.5 * near**3 - 2.5 * near**2 + 1])
    both: NDArray[np.float64] = np.concatenate([weights, weights[::-1]]) / (2 * weights.sum())
    both.setflags(write=False)
    return both


BRISQUE = ("brisque_live.npz", "c5797c7714236b293704c8309f3373d098e684234ad4bb2ef263fc57f65ca808")
NIQE = ("niqe_pristine.npz", "14b52d86fdfd9d9fde7234fbf29b18d8fac52d2a4d67e53e03e07c424ccd4ad2")
"""Name and checksum of each file."""


@cache
def parameters(name: str, sha256: str) -> Mapping[str, NDArray[np.float64]]:
    """Arrays of `data/NAME` in double precision; raises `MachineError` when the file is missing or damaged."""
    path = Path(__file__).with_name("data") / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MachineError(f"cannot read {path}: {error.strerror or error}; install turngate again") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise MachineError(f"{path} is damaged (its checksum differs): install turngate again")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {key: arrays[key].astype(np.float64) for key in arrays.files}
