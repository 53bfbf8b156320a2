"""PIQE: share of active blocks with visible artefacts or noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from turngate.component import ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.no_reference.statistics import mscn
from turngate.evaluators.result import Result, Score, Unscored
from turngate.luma import luma

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Piqe", "PiqeConfig", "blocks_of"]

_BLOCK = 16
_BAND = 8 * _BLOCK
_SEGMENT = 6
_LIMIT = 0.1
"""Variance above which a block is active, and deviation below which a segment of its edge is an artefact."""


class PiqeConfig(ComponentConfig):
    """PIQE has no settings."""


class Piqe:
    """No-reference share of distorted blocks among the active ones; needs no parameters.

    Source: Venkatanath, Praneeth, Chandrasekhar, Channappayya, Medasani, "Blind Image Quality Evaluation Using
    Perception Based Features", NCC 2015. Luma is scaled so that its brightest pixel is 255.
    Thresholds are compared in double precision; pyiqa's single precision puts blocks near one on either side, by
    processor.
    """

    Config: ClassVar[type[ComponentConfig]] = PiqeConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts = Facts(
        name="piqe",
        version="2",
        direction="lower",
        range=(0.0, 100.0),
        range_is_approximate=True,
        min_size=_BLOCK,
        source="Venkatanath et al. 2015, NCC",
        size_scored="mirrored at the right and bottom by the size modulo 16, then cut to multiples of 16",
    )

    def __init__(self, config: PiqeConfig) -> None:
        pass

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each candidate by itself. Flat images are `Unscored("flat")`."""
        return [_piqe(luma(sample.candidate)) for sample in batch]


@dataclass(frozen=True)
class _Blocks:
    """What the three criteria look at; one entry per block."""

    variance: NDArray[np.float64]
    weakest_segment: NDArray[np.float64]
    """Smallest standard deviation of six neighbouring coefficients on one of the four edges."""
    excess: NDArray[np.float64]
    """Standard deviation minus twice beta, the unlikeness of centre and surround: above 0 is noise."""

    @classmethod
    def of(cls, field: NDArray[np.float64]) -> _Blocks:
        """Look at N x 16 x 16 coefficients."""
        columns, squares = field.sum(axis=1), np.square(field).sum(axis=1)

        def variance(chosen: Sequence[int]) -> NDArray[np.float64]:
            number = _BLOCK * len(chosen)
            total = columns[:, chosen].sum(axis=1)
            spread: NDArray[np.float64] = np.maximum(squares[:, chosen].sum(axis=1) - total * total / number, 0)
            return spread / (number - 1)

        whole = variance(range(_BLOCK))
        deviation = np.sqrt(whole)
        with np.errstate(invalid="ignore", divide="ignore"):
            # The published code leaves columns 7 and 9 out of the surround, not 7 and 8; all implementations follow it.
            contrast = np.nan_to_num(np.sqrt(variance((7, 8)) / variance([*range(7), 8, *range(10, _BLOCK)])))
            beta = np.nan_to_num(np.abs(deviation - contrast) / np.maximum(deviation, contrast))
        return cls(whole, _weakest_segment(field), deviation - 2 * beta)

    @classmethod
    def of_all(cls, field: NDArray[np.float64]) -> _Blocks:
        """Look at all blocks of a field, some rows of them at a time, so that what is worked on stays in the cache."""
        bands = [cls.of(_cut(field[top : top + _BAND])) for top in range(0, len(field) - _BLOCK + 1, _BAND)]
        names = ("variance", "weakest_segment", "excess")
        return cls(*(np.concatenate([getattr(band, name) for band in bands]) for name in names))


def _weakest_segment(field: NDArray[np.float64]) -> NDArray[np.float64]:
    edges = np.stack([field[:, 0], field[:, -1], field[:, :, 0], field[:, :, -1]], axis=1)
    starts = _BLOCK - _SEGMENT + 1
    windows = [edges[:, :, step : step + starts] for step in range(_SEGMENT)]
    total = sum(windows[1:], start=windows[0])
    squares = sum((window * window for window in windows[1:]), start=windows[0] * windows[0])
    smallest = (squares - total * total / _SEGMENT).min(axis=(1, 2)) / (_SEGMENT - 1)
    deviation: NDArray[np.float64] = np.sqrt(np.maximum(smallest, 0))
    return deviation


def blocks_of(thousandths: NDArray[np.float32]) -> _Blocks:
    """What is looked at in an H x W luma image of 0..255,000 that is not all black."""
    # Whole numbers, so the quotient of a level half-way between two is exact: it goes to the even one everywhere.
    levels = np.rint(255 * thousandths.astype(np.float64) / float(thousandths.max()))
    height, width = levels.shape
    levels = np.pad(levels, ((0, height % _BLOCK), (0, width % _BLOCK)), mode="symmetric")
    return _Blocks.of_all(mscn(levels, "edge"))


def _piqe(thousandths: NDArray[np.float32]) -> Result:
    if thousandths.min() == thousandths.max():
        return Unscored("flat", "all pixels have one luma level")
    blocks = blocks_of(thousandths)
    active = blocks.variance > _LIMIT
    artefact = active & (blocks.weakest_segment < _LIMIT)
    noise = active & (blocks.excess > 0)
    distortion = (artefact * (1 - blocks.variance) + noise * blocks.variance).sum(dtype=np.float64)
    number = int(active.sum())
    flags = () if number else ("no_active_block",)
    return Score(float((distortion + 1) / (number + 1) * 100), flags=flags).rounded()


def _cut(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """N x 16 x 16 blocks, row by row."""
    return sliding_window_view(image, (_BLOCK, _BLOCK))[::_BLOCK, ::_BLOCK].reshape(-1, _BLOCK, _BLOCK)
