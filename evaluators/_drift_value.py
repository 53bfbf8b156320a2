"""One number from the components of drift, and their words."""

from __future__ import annotations

from collections.abc import Mapping

from turngate.evaluators.drift.growth import Growth, components
from turngate.evaluators.result import Score

__all__ = ["ALARM", "EXPONENT", "UNITS", "combine", "scored"]

ALARM: Mapping[str, float] = {
    "noise": 2.0, "residual": 2.2, "texture": 1.25, "blur": 0.15, "contrast": 0.6, "halo": 6.0, "lattice": 9.0,
    "chroma": 7.5, "tone": 5.0,
}  # fmt: skip
"""Level of each component, in its unit, that alone gives a drift of 1.0 (set on clean edits, see `docs/drift.md`)."""

UNITS: Mapping[str, str] = {
    "noise": "grey levels", "residual": "grey levels", "texture": "octaves", "blur": "octaves", "contrast": "octaves",
    "halo": "grey levels", "lattice": "dB", "chroma": "grey levels", "tone": "grey levels",
}  # fmt: skip
"""Unit of each component."""

EXPONENT = 3
"""Order of the norm that joins the components: near the largest one, a little more when several have grown."""


def combine(found: Mapping[str, float]) -> float:
    """Drift of nine components: the norm of order `EXPONENT` of component / `ALARM`."""
    return float(sum((found[name] / level) ** EXPONENT for name, level in ALARM.items()) ** (1 / EXPONENT))


def scored(grown: Growth, flags: tuple[str, ...]) -> Score:
    """The score of a growth, with its components in their units and a sentence from the heaviest to the lightest."""
    found = components(grown)
    value = combine(found)
    order = sorted(ALARM, key=lambda name: -found[name] / ALARM[name])
    told = ", ".join(
        f"{name} {found[name]:.2f} {UNITS[name]} ({found[name] / ALARM[name]:.0%} of alarm)" for name in order
    )
    return Score(value, "drifted" if value >= 1 else "steady", told, found, flags)
