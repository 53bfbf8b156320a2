"""BRISQUE: how far the local contrast statistics are from those of images that people rated as good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from turngate.component import ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.no_reference.statistics import (
    BRISQUE,
    fit_aggd,
    fit_ggd,
    half,
    is_flat,
    mscn,
    neighbour_sums,
    parameters,
)
from turngate.evaluators.result import Result, Score, Unscored
from turngate.luma import luma, rounded_luma

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Brisque", "BrisqueConfig"]

_SHA256 = BRISQUE[1]


class BrisqueConfig(ComponentConfig):
    """BRISQUE has no settings."""


class Brisque:
    """No-reference quality from natural scene statistics and a support vector regression; can be negative.

    Source: Mittal, Moorthy, Bovik, "No-Reference Image Quality Assessment in the Spatial Domain", IEEE TIP 21(12),
    2012; parameters of the authors' release. Computed in double precision, where it equals pyiqa's formula to
    0.0002. pyiqa works in single precision: it differs by up to 0.01 on clean photographs, and by 0.2 to 4 on JPEGs and
    on saturated images, whose flat areas it fills with rounding noise.
    """

    Config: ClassVar[type[ComponentConfig]] = BrisqueConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts = Facts(
        name="brisque",
        version=f"2+{_SHA256[:8]}",
        direction="lower",
        range=(0.0, 150.0),
        range_is_approximate=True,
        min_size=14,  # the second scale still holds a whole 7 x 7 window
        weights=f"LIVE BRISQUE release, shipped (sha256 {_SHA256[:12]})",
        weights_licence="LIVE notice: any use, with the notice and an acknowledgement",
        source="Mittal, Moorthy, Bovik 2012, IEEE TIP 21(12)",
    )

    def __init__(self, config: BrisqueConfig) -> None:
        self._model = parameters(*BRISQUE)

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each candidate by itself. Flat images are `Unscored("flat")`."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        levels = rounded_luma(luma(sample.candidate))
        if is_flat(levels):
            return Unscored("flat", "all pixels have one luma level")
        features = np.concatenate([_features(levels), _features(half(levels))])
        if not np.isfinite(features).all():
            return Unscored("flat", "too little structure: a distribution of neighbour products has only one side")
        return Score(self._regress(features)).rounded()

    def _regress(self, features: NDArray[np.float64]) -> float:
        model = self._model
        scaled = 2 * (features - model["lower"]) / (model["upper"] - model["lower"]) - 1
        distances = ((model["support_vectors"] - scaled) ** 2).sum(axis=1)
        return float((model["coefficients"] * np.exp(-model["gamma"] * distances)).sum() - model["rho"])


def _features(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """The 18 features of one scale: table I of the paper."""
    field, *products = neighbour_sums(mscn(levels, "zero")[None])
    features = [*fit_ggd(field)]
    for product in products:
        fit = fit_aggd(product)
        features += [fit.shape, fit.mean, fit.left**2, fit.right**2]
    return np.concatenate(features)
