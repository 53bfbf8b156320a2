"""What the simulated signatures do to an image: each what the published description of its model says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from turngate.agent.editors.simulated import SIGNATURES
from turngate.evaluators import EVALUATORS, EvalInput, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

from ._simulated import ALL, ask, build, chain, change, flat, near, photo, shown


@pytest.mark.slow
@pytest.mark.parametrize("signature", ALL)
def test_the_reported_lattice_can_be_found(signature: str) -> None:
    """The spectrum of a flat image has its peak at the lattice's period."""
    x, y = SIGNATURES[signature].period
    last = chain(build(signature), flat(240, 240), 30)[-1]
    spectrum = np.abs(np.fft.rfft2(shown(last).gray - shown(last).gray.mean()))
    spectrum[:10, :10] = spectrum[-10:, :10] = 0  # slow changes are no lattice
    row, column = np.unravel_index(spectrum.argmax(), spectrum.shape)
    assert [int(row), int(column)] == [240 // y if y else 0, 240 // x if x else 0]


def test_the_lattice_of_nano_banana_pro_comes_late() -> None:
    answers = chain(build(spread=0), flat(240, 240), 30)
    peaks = [abs(np.fft.rfft(shown(answers[turn - 1]).gray.mean(axis=0))[48]) for turn in (5, 30)]
    assert peaks[1] > 20 * peaks[0]


def test_nano_banana_pro_turns_green_and_noisy_and_soft() -> None:
    last = shown(chain(build(), flat(128, 128), 20)[-1]).rgb.astype(float)
    red, green, blue = last.mean(axis=(0, 1))
    assert green - max(red, blue) > 10
    assert last.std(axis=(0, 1)).min() > 8
    stripes = np.zeros((64, 64, 3), dtype=np.uint8)
    stripes[:, ::2] = 255
    first = shown(ask(build(), Picture.from_rgb(stripes))).gray
    assert first[:, ::2].mean() - first[:, 1::2].mean() < 180, "fine detail is lost from the first turn on"


def test_wrinkles_lie_along_contours() -> None:
    y, x = np.mgrid[:160, :160]
    disc = np.where(np.hypot(y - 80, x - 80) < 40, 180, 70).astype(np.uint8)
    origin = Picture.from_rgb(np.repeat(disc[:, :, None], 3, axis=2))
    moved = np.abs(change(chain(build("nano-banana-2"), origin, 10)[-1], origin)).mean(axis=2)
    from_contour = np.abs(np.hypot(y - 80, x - 80) - 40)
    assert moved[(from_contour > 4) & (from_contour < 14)].mean() > 2 * moved[from_contour > 30].mean()


def test_flux_scatters_dots() -> None:
    answers = chain(build("flux2-dev"), flat(200, 200), 20)
    spots = [int((np.abs(shown(answers[turn - 1]).gray - 128) > 30).sum()) for turn in (1, 5, 20)]
    assert spots[0] < spots[1] / 2 < spots[2] / 4
    assert spots[2] < 0.2 * 200 * 200, "dots, not noise all over"


def test_qwen_flattens_texture_and_keeps_edges() -> None:
    texture = np.random.default_rng(1).integers(-8, 9, (120, 120))
    levels = np.where(np.arange(120) < 60, 60, 190) + texture
    origin = Picture.from_rgb(np.repeat(levels.astype(np.uint8)[:, :, None], 3, axis=2))
    last = shown(chain(build("qwen-image-edit", recursion=1), origin, 10)[-1]).gray
    assert last[20:100, 75:110].std() < 0.6 * origin.gray[20:100, 75:110].std()
    assert last[:, 66:74].mean() - last[:, 46:54].mean() > 110


@pytest.mark.slow
def test_qwen_repeats_the_right_side_at_the_left() -> None:
    dark_left = np.full((100, 200, 3), 30, dtype=np.uint8)
    dark_left[:, 130:] = 220
    origin, editor = Picture.from_rgb(dark_left), build("qwen-image-edit")
    answers = [ask(editor, origin, seed) for seed in range(400)]
    repeated = [answer for answer in answers if "repeated" in answer.metadata]
    assert len(repeated) == pytest.approx(40, abs=near(40, 400))
    for answer in repeated:
        left, top, right, bottom = answer.metadata["repeated"]
        assert 0.5 < left < right == 1 and 0 <= top < bottom <= 1
        middle = int(100 * (top + bottom) / 2)
        assert shown(answer).gray[middle, 2] > 150


@pytest.mark.parametrize("signature", ALL)
def test_every_turn_crops_a_little(signature: str) -> None:
    """After 40 turns what was near the border has moved outwards."""
    line = np.full((64, 400, 3), 200, dtype=np.uint8)
    line[:, 40:44] = 0
    last = shown(chain(build(signature), Picture.from_rgb(line), 40)[-1])
    assert last.rgb.shape == line.shape
    darkness = np.maximum(150 - last.gray[:, :60].mean(axis=0), 0)
    assert np.average(np.arange(60), weights=darkness) < 41


@pytest.mark.slow
@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea"])
def test_brisque_prefers_the_damage_of_nano_banana_pro(name: str) -> None:
    """As the paper reports: it falls below its value at turn 1 while the image is being ruined."""
    origin = photo(name, 512)
    answers = chain(build(), origin, 20, 1000)
    brisque, psnr = (EVALUATORS.build(EVALUATORS.configure(metric, "x")) for metric in ("brisque", "psnr"))
    values = {}
    for turn in (1, 5, 10, 20):
        results = [score(e, [EvalInput(shown(answers[turn - 1]), origin=origin)])[0] for e in (brisque, psnr)]
        values[turn] = [result.value for result in results if isinstance(result, Score)]
    assert all(values[turn][0] < values[1][0] for turn in (5, 10, 20))
    assert values[20][0] < 3
    assert values[20][1] < 24 < 30 < values[1][1]


def test_the_documented_numbers_are_those_of_the_code() -> None:
    page = (Path(__file__).parents[4] / "docs" / "editors" / "simulated.md").read_text()
    table = page[page.index("| per unit of damage |") :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    told = {row[0]: dict(zip((name.strip("`") for name in cells[0][1:]), row[1:], strict=True)) for row in cells[2:]}

    def written(*numbers: float) -> str:
        return ", ".join(f"{number:g}" for number in numbers) if any(numbers) else ""

    for name, s in SIGNATURES.items():
        assert told["a"][name] == written(s.recursion)
        assert told["noise, levels"][name] == written(s.noise)
        assert told["tint of red, green, blue, levels"][name] == written(*s.tint)
        assert told["lattice period, pixels"][name] == written(*s.period)
        assert told["lattice amplitude, levels"][name] == written(s.lattice)
        assert told["dots per megapixel, and their level"][name] == written(s.dots, s.dot_level)
        assert told["blur, square pixels"][name].split(",")[0] == written(s.blur)
        assert told["creases along contours, levels"][name] == written(s.wrinkles)
        assert told["share of a bilateral filter"][name] == written(s.simplify)
        assert told["repeats a piece of the right side, probability"][name] == written(s.duplicates)
        assert told["crop of width and height, %"][name] == written(*(100 * share for share in s.crop))
