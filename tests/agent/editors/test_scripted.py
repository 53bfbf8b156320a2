"""The scripted editor answers from the request alone: every word of its script, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.agent.editor import Edited, Editor, EditRequest, NoImage
from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError, MachineError, ProviderError
from turngate.fakes import MODES
from turngate.picture import Picture
from turngate.testing import check_editor

GRAY = Picture.from_rgb(np.full((24, 40, 3), 128, dtype=np.uint8))


def build(**fields: Any) -> Editor:
    return EDITORS.build(EDITORS.configure({"type": "scripted", **fields}, "editor"))


def ask(editor: Editor, turn: int = 1, attempt: int = 1, seed: int = 0, picture: Picture = GRAY) -> Edited | NoImage:
    return editor.edit(EditRequest((picture,), "copy", turn, attempt, seed))


def edited(answer: Edited | NoImage) -> Edited:
    assert isinstance(answer, Edited)
    return answer


def test_the_more_exact_key_wins() -> None:
    editor = build(script={7: 0.2, "7.2": "no_image:safety", "8": "blocked:prohibited"})
    assert Picture.from_bytes(edited(ask(editor, 7, 1)).data).rgb[1:].mean() == 51
    refused, blocked = ask(editor, 7, 2), ask(editor, 8, 5)
    assert isinstance(refused, NoImage) and isinstance(blocked, NoImage)
    assert (refused.why, refused.retryable, blocked.why, blocked.retryable) == ("safety", True, "prohibited", False)
    assert Picture.from_bytes(edited(ask(editor, 9)).data).rgb[1:].mean() == 128


request = st.tuples(st.integers(1, 100), st.integers(1, 5), st.integers(0, 2**31 - 1))


@given(first=request, second=request)
def test_every_request_has_an_image_of_its_own(first: tuple[int, int, int], second: tuple[int, int, int]) -> None:
    """The order of calls does not matter, and another turn, attempt or seed gives another image."""
    editor = build()
    ahead = [edited(ask(editor, *first)).data, edited(ask(editor, *second)).data]
    behind = [edited(ask(editor, *second)).data, edited(ask(editor, *first)).data]
    assert ahead == behind[::-1]
    assert (ahead[0] == ahead[1]) == (first == second)


def test_the_image_depends_on_the_input() -> None:
    editor, other = build(), Picture.from_rgb(np.zeros((9, 9, 3), dtype=np.uint8))
    assert edited(ask(editor)).data != edited(ask(editor, picture=other)).data


def test_a_fixed_seed_makes_noise_add_up() -> None:
    """C8: the same noise four times is twice as strong as four noises."""
    editor = build(default="noise:4")
    drift = {}
    for policy in ("fixed", "per_turn"):
        current = Picture.from_rgb(np.full((64, 64, 3), 128, dtype=np.uint8))
        for turn in range(1, 5):
            current = Picture.from_bytes(
                edited(ask(editor, turn, 1, turn if policy == "per_turn" else 3, current)).data
            )
        drift[policy] = float(current.rgb.std())
    assert drift["fixed"] == pytest.approx(16, rel=0.05)
    assert drift["per_turn"] == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize(
    ("mode", "media_type", "step"),
    [
        ("jpeg", "image/jpeg", None),
        ("webp", "image/webp", None),
        ("rgba", "image/png", "alpha"),
        ("palette", "image/png", "mode:P"),
        ("cmyk", "image/jpeg", "mode:CMYK"),
        ("gray16", "image/png", "depth:16->8"),
        ("exif", "image/jpeg", "exif_orientation"),
    ],
)
def test_answers_in_other_formats(mode: str, media_type: str, step: str | None) -> None:
    """C26: the format is what it says, and normalising it is a recorded step."""
    picture = Picture.from_bytes(edited(ask(build(default=f"as:{mode}"))).data)
    assert (picture.media_type, picture.width, picture.height) == (media_type, 16, 16)
    assert [taken.split(" ")[0] for taken in picture.normalised if step and taken.startswith(step)] or step is None
    assert picture.rgb[4:].mean() == pytest.approx(128, abs=4)


def test_a_rotated_file_is_turned_back() -> None:
    """C26: dark on the left and bright on the right, whatever way the file stores it."""
    ramp = np.repeat(np.linspace(0, 255, 40).astype(np.uint8)[None, :, None], 24, axis=0).repeat(3, axis=2)
    rgb = Picture.from_bytes(MODES["exif"](ramp)).rgb
    assert rgb.shape == (24, 40, 3)
    assert np.abs(rgb.astype(int) - ramp).max() < 12


def test_another_size() -> None:
    picture = Picture.from_bytes(edited(ask(build(default="size:30x20"))).data)
    assert (picture.width, picture.height) == (30, 20)


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("raise", RuntimeError),
        ("raise:bug", RuntimeError),
        ("raise:provider", ProviderError),
        ("raise:machine", MachineError),
        ("raise:user", ConfigError),
    ],
)
def test_raises_as_told(word: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="the script says"):
        ask(build(default=word))


def test_raises_only_while_a_file_exists(tmp_path: Path) -> None:
    down = tmp_path / "down"
    down.touch()
    editor = build(default="raise:provider", raise_while=str(down))
    with pytest.raises(ProviderError):
        ask(editor)
    down.unlink()
    assert edited(ask(editor)).data == edited(ask(build())).data


def test_what_comes_with_the_image() -> None:
    editor = build(
        reasoning={"2": "turn {turn}, attempt {attempt}: a faithful copy"},
        damage={"2": 3.5, "2.2": 4.0},
        models={1: "fake-1", 7: "fake-2"},
        cost_usd=0.134,
    )
    assert editor.paid
    told = edited(ask(editor, 2, 3))
    assert (told.reasoning, told.damage, told.usage.cost_usd) == ("turn 2, attempt 3: a faithful copy", 3.5, 0.134)
    assert edited(ask(editor, 2, 2)).damage == 4.0
    silent = edited(ask(editor, 3))
    assert (silent.reasoning, silent.damage) == (None, None)
    assert [edited(ask(editor, turn)).model for turn in (1, 6, 7, 99)] == ["fake-1", "fake-1", "fake-2", "fake-2"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"script": {"7.x": "same"}}, "7.x"),
        ({"script": {"0": "same"}}, "no turn"),
        ({"script": {"7": "no_image:safty"}}, "did you mean 'safety'"),
        ({"default": "pint"}, "there are: a gray level"),
        ({"default": "noise:much"}, "no answer 'noise:much'"),
        ({"default": "size:0x5"}, "no answer 'size:0x5'"),
        ({"default": 1.5}, "0..1"),
    ],
)
def test_a_script_with_a_mistake(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(**fields)


@pytest.mark.parametrize("default", ["noise:3", "same", "no_image:safety", "size:30x20", "as:gray16"])
def test_every_answer_keeps_the_contract(default: str) -> None:
    seeded = default not in ("same", "no_image:safety")
    check_editor(build(default=default, stochastic=seeded))
