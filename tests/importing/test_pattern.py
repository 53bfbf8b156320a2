"""Path patterns: what is written is read again, and only what fits."""

from __future__ import annotations

import string
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.errors import ConfigError
from turngate.importing import PathPattern

texts = st.text(st.sampled_from(string.ascii_letters + string.digits + " _-.{}()é%"), min_size=1, max_size=12).filter(
    lambda text: not text.startswith(".") and text.strip() == text
)


@given(origin=texts, setting=texts, repeat=st.integers(0, 99), turn=st.integers(0, 9999))
def test_a_path_that_was_filled_is_read_as_it_was(origin: str, setting: str, repeat: int, turn: int) -> None:
    with TemporaryDirectory() as folder:
        root = folder.replace("{", "{{").replace("}", "}}")
        pattern = PathPattern(f"{root}/a{{{{b}}}}/{{origin}}/{{setting}}/rep{{repeat}}/step_{{turn}}.png")
        fields = {"origin": origin, "setting": setting, "repeat": f"{repeat:02}", "turn": f"{turn:04}"}
        path = pattern.fill(fields)
        assert path.is_relative_to(Path(folder) / "a{b}")
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        (path.parent / "notes.txt").write_bytes(b"")
        (path.parent / "step_x.png").write_bytes(b"")
        assert [(one.file, one.fields) for one in pattern.walk()] == [(path, fields)]


@pytest.mark.parametrize(
    ("pattern", "name", "fields"),
    [
        ("{turn}", "07.PNG", {"turn": "07"}),
        ("{turn}.*", "7.webp", {"turn": "7"}),
        ("{turn}.png", "7.jpg", None),
        ("{turn}.jpg", "7.JPG", {"turn": "7"}),
        ("{turn}", "7.txt", None),
        ("{turn}", "-7.png", None),
        ("{turn}", "1234567890.png", None),
        ("{origin}_{turn}", "a_b_3.png", {"origin": "a_b", "turn": "3"}),
        ("*_{turn}_*", "a_3_final.png", {"turn": "3"}),
        ("{origin}-{origin}-{turn}", "a-a-1.png", {"origin": "a", "turn": "1"}),
        ("{origin}-{origin}-{turn}", "a-b-1.png", None),
        ("t{turn}+{level}", "t1+0.5.png", {"turn": "1", "level": "0.5"}),
    ],
)
def test_what_fits(tmp_path: Path, pattern: str, name: str, fields: dict[str, str] | None) -> None:
    (tmp_path / name).write_bytes(b"")
    found = [one.fields for one in PathPattern(f"{tmp_path}/{pattern}").walk()]
    assert found == ([fields] if fields is not None else [])


def test_a_field_that_comes_twice_is_the_same_in_folder_and_file(tmp_path: Path) -> None:
    for place in ("a/a_1.png", "a/b_1.png"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(b"")
    assert [one.file.name for one in PathPattern(f"{tmp_path}/{{origin}}/{{origin}}_{{turn}}").walk()] == ["a_1.png"]


@pytest.mark.parametrize(
    ("files", "close"),
    [
        (["a/x/rep1/step_1.png", "b/y/rep2/step_2.png"], "{origin}/{setting}/rep{repeat}/step_{turn}.png"),
        (["out/7.jpg", "out/8.png"], "out/{turn}.*"),
        (["v2/a/frame-003-final.png", "v2/b/frame-004-final.png"], "v2/{origin}/frame-{turn}-final.png"),
    ],
)
def test_a_pattern_that_fits_is_proposed(tmp_path: Path, files: list[str], close: str) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(b"")
    said = PathPattern(f"{tmp_path}/{{turn}}/nothing.png").explain()
    assert said.endswith(f"try {f'{tmp_path}/{close}'!r}")
    assert len(list(PathPattern(f"{tmp_path}/{close}").walk())) == len(files)


def test_a_width_pads_numbers_and_nothing_else() -> None:
    pattern = PathPattern("out/{origin:03}/{turn:03}.png")
    assert pattern.fill({"origin": "a/b", "turn": "7"}) == Path("out/a-b/007.png")
    with pytest.raises(ConfigError, match=r"nothing is known of \{turn\}; there are: origin"):
        pattern.fill({"origin": "a"})
