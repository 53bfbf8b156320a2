"""NIQE: distance of an image's local statistics from those of undistorted photographs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from turngate.component import ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.no_reference.statistics import NIQE, fit_aggd, half, is_flat, mscn, neighbour_sums, parameters
from turngate.evaluators.result import Result, Score, Unscored
from turngate.luma import luma, rounded_luma

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Niqe", "NiqeConfig"]

_SHA256 = NIQE[1]
_BLOCK = 96


class NiqeConfig(ComponentConfig):
    """NIQE has no settings."""


class Niqe:
    """No-reference distance to the statistics of pristine photographs, without any training on ratings.

    Source: Mittal, Soundararajan, Bovik, "Making a Completely Blind Image Quality Analyzer", IEEE SPL 20(3), 2013,
    equation 10; parameters of the authors' release. The image is cut to whole 96 x 96 blocks from the top left.
    """

    Config: ClassVar[type[ComponentConfig]] = NiqeConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts = Facts(
        name="niqe",
        version=f"2+{_SHA256[:8]}",
        direction="lower",
        range=(0.0, 100.0),
        range_is_approximate=True,
        min_size=_BLOCK,
        weights=f"LIVE NIQE release by way of basicsr, shipped (sha256 {_SHA256[:12]})",
        weights_licence="Apache-2.0 (basicsr 1.4.2); statistics of the LIVE release",
        source="Mittal, Soundararajan, Bovik 2013, IEEE SPL 20(3), equation 10",
        size_scored="cut to multiples of 96",
    )

    def __init__(self, config: NiqeConfig) -> None:
        self._pristine = parameters(*NIQE)

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each candidate by itself. Flat images are `Unscored("flat")`."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        levels = rounded_luma(luma(sample.candidate))
        rows, columns = (size // _BLOCK for size in levels.shape)
        levels = levels[: rows * _BLOCK, : columns * _BLOCK]
        if is_flat(levels):
            return Unscored("flat", "all pixels have one luma level")
        features = np.hstack([_features(levels, _BLOCK), _features(half(levels), _BLOCK // 2)])
        whole = features[np.isfinite(features).all(axis=1)]
        if not len(whole):
            return Unscored("flat", "no 96 x 96 block has enough structure")
        # A partly flat block lacks some features: the others count in the mean, the block not in the covariance.
        difference = np.nanmean(features, axis=0) - self._pristine["mean"]
        covariance = np.cov(whole, rowvar=False) if len(whole) > 1 else np.zeros((36, 36))
        inverse = np.linalg.pinv((covariance + self._pristine["covariance"]) / 2, hermitian=True)
        flags = () if len(whole) > 1 else ("one_block",)
        return Score(float(np.sqrt(difference @ inverse @ difference)), flags=flags).rounded()


def _features(levels: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """Blocks x 18 features of one scale: equations 5 to 8 of the paper."""
    rows, columns = (size // block for size in levels.shape)
    field = mscn(levels, "edge").reshape(rows, block, columns, block).swapaxes(1, 2).reshape(-1, block, block)
    own, *products = (fit_aggd(sums) for sums in neighbour_sums(field))
    features = [own.shape, (own.left + own.right) * own.unit / 2]
    for fit in products:
        features += [fit.shape, fit.mean, fit.left * fit.unit, fit.right * fit.unit]
    return np.stack(features, axis=1)
