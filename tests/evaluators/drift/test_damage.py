"""`drift` counts the damage of recursive editing, and says of what kind it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates

from turngate import Edited, EditRequest
from turngate.agent.editors import EDITORS
from turngate.evaluators import EvalInput, Score
from turngate.evaluators.drift import ALARM, Drift, DriftConfig
from turngate.evaluators.scoring import score
from turngate.picture import LUMA_WEIGHTS, Picture

from ._images import PHOTOGRAPHS, Rgb, noisy, rounded, scored


def _wobble(rgb: Rgb, pixels: float) -> Rgb:
    """Everything moves a little, each place its own way: nothing is lost, nothing fits."""
    rng = np.random.default_rng(2)
    moves = [gaussian_filter(rng.normal(size=rgb.shape[:2]), 6) for _ in range(2)]
    grid = np.mgrid[: rgb.shape[0], : rgb.shape[1]]
    at = [axis + pixels * move / move.std() for axis, move in zip(grid, moves, strict=True)]
    planes = [map_coordinates(rgb[:, :, colour].astype(float), at, order=3, mode="mirror") for colour in range(3)]
    return rounded(np.stack(planes, axis=2))


def _smeared(rgb: Rgb, amount: float) -> Rgb:
    """Nothing finer than 7 pixels is left, and everything coarser stays."""
    radius = np.hypot(np.fft.fftfreq(rgb.shape[0])[:, None], np.fft.fftfreq(rgb.shape[1])[None, :])
    kept = np.where(radius > 0.14, 1 - 0.95 * amount, 1.0)[:, :, None]
    return rounded(np.fft.ifft2(np.fft.fft2(rgb.astype(float), axes=(0, 1)) * kept, axes=(0, 1)).real)


def _harsh(rgb: Rgb, amount: float) -> Rgb:
    """Contrast between 1.5 and 8 pixels grows, noise does not."""
    soft = [gaussian_filter(rgb.astype(float), (size, size, 0)) for size in (1.5, 8)]
    return rounded(rgb + amount * (soft[0] - soft[1]))


def _ringing(rgb: Rgb, levels: float) -> Rgb:
    """Wrinkles 5 pixels apart along every strong contour."""
    soft = gaussian_filter(rgb @ np.array(LUMA_WEIGHTS), 1)
    away = distance_transform_edt(np.hypot(*np.gradient(soft)) <= 15)
    rings = levels * np.cos(2 * np.pi * away / 5) * ((away > 0) & (away < 9))
    return rounded(rgb + rings[:, :, None])


def _stripes(rgb: Rgb, amplitude: float) -> Rgb:
    return rounded(rgb + amplitude * np.cos(2 * np.pi * np.arange(rgb.shape[1]) / 5)[None, :, None])


def _blotches(rgb: Rgb, amplitude: float) -> Rgb:
    wild = gaussian_filter(np.random.default_rng(2).normal(size=rgb.shape[:2]), 40)
    return rounded(rgb + (amplitude * wild / wild.std())[:, :, None])


DAMAGE: dict[str, tuple[Callable[[Rgb, float], Rgb], set[str]]] = {
    "noise": (lambda rgb, amount: noisy(rgb, 6 * amount), set()),
    "residual": (lambda rgb, amount: _wobble(rgb, 1.5 * amount), set()),
    "texture": (_smeared, set()),
    "blur": (
        lambda rgb, amount: rounded(gaussian_filter(rgb.astype(float), (2 * amount, 2 * amount, 0))),
        {"texture"},
    ),
    "contrast": (lambda rgb, amount: _harsh(rgb, 1.2 * amount), {"halo"}),
    "halo": (lambda rgb, amount: _ringing(rgb, 30 * amount), {"residual", "contrast"}),
    "lattice": (lambda rgb, amount: _stripes(rgb, 4 * amount), set()),
    "chroma": (lambda rgb, amount: rounded(rgb + amount * np.array([-12.0, 14.0, -12.0])), set()),
    "tone": (lambda rgb, amount: _blotches(rgb, 30 * amount), set()),
}
"""Each component's own damage, from none (0) to heavy (1), and components that it cannot but raise as well."""


@pytest.mark.slow
@pytest.mark.parametrize("component", DAMAGE)
def test_each_damage_grows_and_is_named(photograph: Rgb, component: str) -> None:
    damage, companions = DAMAGE[component]
    results = [scored(photograph, damage(photograph, amount)) for amount in (0, 0.25, 0.5, 1)]
    values, own = [result.value for result in results], [result.components[component] for result in results]
    assert values == sorted(set(values)), "more damage, more drift"
    assert own == sorted(own)
    heaviest = results[-1]
    assert heaviest.label == "drifted"
    weights = {name: heaviest.components[name] / level for name, level in ALARM.items()}
    assert weights[component] > 1
    assert {name for name, weight in weights.items() if weight >= 1} <= {component} | companions
    if not companions:
        assert str(heaviest.explanation).startswith(component)


@pytest.mark.slow
@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@settings(deadline=None, max_examples=4)
@given(low=st.floats(0, 1), step=st.floats(0.05, 0.5))
def test_blending_towards_noise_never_lowers_drift(photo: str, low: float, step: float) -> None:
    rgb = PHOTOGRAPHS[photo]()
    noise = rgb + np.random.default_rng(3).normal(0, 30, rgb.shape)
    values = [scored(rgb, rounded((1 - share) * rgb + share * noise)).value for share in (low, low + step)]
    assert values[1] > values[0]


@pytest.mark.slow
@pytest.mark.parametrize("editor", [{"type": "span"}, {"type": "style"}], ids=lambda raw: str(raw["type"]))
def test_drift_grows_along_a_chain_of_a_real_network(editor: dict[str, str]) -> None:
    network = EDITORS.build(EDITORS.configure(editor, "editor"))
    images = [Picture.from_rgb(PHOTOGRAPHS["astronaut"]()[:256, 100:356])]
    for turn in range(1, 9):
        edited = network.edit(EditRequest((images[-1],), "Produce an exact replica.", turn, 1, seed=turn))
        assert isinstance(edited, Edited)
        images.append(Picture.from_bytes(edited.data))
    evaluator = Drift(DriftConfig(type="drift"))
    scores = score(evaluator, [EvalInput(images[turn], origin=images[0]) for turn in (0, 1, 2, 4, 8)])
    values = [result.value for result in scores if isinstance(result, Score)]
    assert len(values) == len(scores)
    assert values == sorted(set(values))
    assert values[-1] > 2
