"""Random fields: new noise with a given grain, and smooth patterns that are the same at every turn."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["correlated", "pattern"]


def correlated(rng: np.random.Generator, shape: tuple[int, int, int], size: float) -> NDArray[np.float32]:
    """Gaussian noise of unit variance, correlated along height and width by a Gaussian of `size` pixels."""
    from scipy.ndimage import correlate1d

    weights = np.exp(-(np.arange(-2, 3) ** 2) / (2 * size**2))
    weights /= np.sqrt(np.square(weights).sum())
    field = rng.standard_normal(shape, dtype=np.float32)
    for axis in (0, 1):
        field = correlate1d(field, weights, axis=axis, mode="wrap")
    return field


@lru_cache(maxsize=10)  # five of a signature, in landscape and in portrait
def pattern(height: int, width: int, size: float, number: int) -> NDArray[np.float32]:
    """Smooth noise with structures of `size` pixels, mean 0 and standard deviation 1; `number` chooses which."""
    from scipy.ndimage import gaussian_filter

    field = np.random.default_rng(number).standard_normal((height, width), dtype=np.float32)
    field = gaussian_filter(field, size, mode="wrap")
    field -= field.mean()
    field /= max(float(field.std()), 1e-6)
    field.setflags(write=False)
    return np.asarray(field, dtype=np.float32)
