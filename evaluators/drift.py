"""Drift: how far recursive editing has worn an image, measured against the origin or the first accepted image."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from PIL import Image

from turngate.evaluators._drift_compare import components
from turngate.evaluators._drift_features import Features, Layout, features, layout
from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.result import Result, Score, Unscored
from turngate.part import PartConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["ALARM", "EXPONENT", "UNITS", "Drift", "DriftConfig", "combine"]

ALARM: Mapping[str, float] = {
    "noise": 2.5, "texture": 1.0, "lattice": 5.0, "chroma": 6.0, "contrast": 0.5, "structure": 0.5,
    "tone": 5.0,
}  # fmt: skip
"""Level of each component, in its unit, that alone gives a drift of 1.0 (set on clean edits, see `docs/drift.md`)."""

UNITS: Mapping[str, str] = {
    "noise": "grey levels", "texture": "octaves", "lattice": "dB", "chroma": "grey levels", "contrast": "octaves",
    "structure": "octaves", "tone": "grey levels",
}  # fmt: skip
"""Unit of each component."""

EXPONENT = 3
"""Order of the norm that joins the components: near the largest one, a little more when several have grown."""

_SAME_SIZE = 0.05
_FLAT = 1.0
_KEPT = 16


class DriftConfig(PartConfig):
    """Drift is measured against a fixed image of the chain, never the previous one (slow drift would pass)."""

    reference: Literal["origin", "first"] = "origin"
    """`origin`: the image before turn 1. `first`: the first accepted image, which forgives what one edit costs."""


class Drift:
    """Chain-aware drift since a reference image: seven kinds of wear, 1.0 is the alarm.

    Value: (sum over components of (component / alarm level)^3)^(1/3), 0 for no drift, no upper limit. Statistics of
    64-pixel tiles (32 below 192 pixels) at the same relative places are compared, not pixels, and a quarter of the
    tiles may change without effect: shifts, small crops and a local edit are not drift. Sources: the lattice test
    follows the idea of Mi-Ripple (arXiv 2609.11317, spectral peaks that recursion plants); the rest is our own.
    """

    Config: ClassVar[type[PartConfig]] = DriftConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: DriftConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="drift",
            version="1",
            direction="lower",
            range=(0.0, float("inf")),
            needs=frozenset({"candidate", config.reference}),
            min_size=64,
            preferred_size=512,
            source="turngate, docs/drift.md",
            size_scored="native; of two sizes that differ by more than 5 % the larger is shrunk to the smaller's area",
        )
        self._known: OrderedDict[tuple[str, int, int, Layout], Features] = OrderedDict()
        self._lock = Lock()

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each sample by itself.

        `Unscored`: `no_reference`, `too_small` (either image below 64 pixels, or below a tile once both have one
        scale), `flat` (the reference has no tile with a luma deviation of a grey level: nothing to compare with).
        """
        return [self._evaluate(sample) for sample in batch]

    def _evaluate(self, sample: Sample) -> Result:
        reference = sample.origin if self.config.reference == "origin" else sample.first
        candidate = sample.candidate
        if reference is None:
            return Unscored("no_reference", f"drift needs the {self.config.reference} image")
        sizes = [_size(reference), _size(candidate)]
        if min(map(min, sizes)) < self.facts.min_size:
            return Unscored("too_small", f"drift needs at least {self.facts.min_size} pixels a side in both images")
        flags = []
        scale = float(np.sqrt(np.prod(sizes[0]) / np.prod(sizes[1])))
        if abs(np.log(scale)) > np.log1p(_SAME_SIZE):
            larger = 0 if scale > 1 else 1
            ratio = min(scale, 1 / scale)
            sizes[larger] = (round(sizes[larger][0] * ratio), round(sizes[larger][1] * ratio))
            flags.append(f"{('reference', 'candidate')[larger]}_resized:{ratio:.3f}")
        height, width = (min(sides) for sides in zip(*sizes, strict=True))
        where = layout(height, width)
        if min(height, width) < where.tile:
            return Unscored("too_small", f"shrunk to one scale, an image has a side below {where.tile} pixels")
        before = self._remembered(reference, sizes[0], where)
        if before.deviation.max() < _FLAT:
            return Unscored("flat", f"the {self.config.reference} image has no structure to compare with")
        found = components(before, features(_resized(candidate, sizes[1]), where))
        value = combine(found)
        return Score(value, "drifted" if value >= 1 else "steady", _explain(found), found, tuple(flags))

    def _remembered(self, picture: Picture, size: tuple[int, int], where: Layout) -> Features:
        key = (picture.sha256, *size, where)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        made = features(_resized(picture, size), where)
        with self._lock:
            self._known[key] = made
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return made


def combine(found: Mapping[str, float]) -> float:
    """Drift of seven components: the norm of order `EXPONENT` of component / `ALARM`."""
    return float(sum((found[name] / level) ** EXPONENT for name, level in ALARM.items()) ** (1 / EXPONENT))


def _size(picture: Picture) -> tuple[int, int]:
    return picture.height, picture.width


def _resized(picture: Picture, size: tuple[int, int]) -> NDArray[np.uint8]:
    if size == _size(picture):
        return picture.rgb
    return np.asarray(Image.fromarray(picture.rgb).resize(size[::-1], Image.Resampling.LANCZOS))


def _explain(found: Mapping[str, float]) -> str:
    """Components from the heaviest to the lightest, each with its share of its alarm level."""
    order = sorted(ALARM, key=lambda name: -found[name] / ALARM[name])
    return ", ".join(
        f"{name} {found[name]:.2f} {UNITS[name]} ({found[name] / ALARM[name]:.0%} of alarm)" for name in order
    )
