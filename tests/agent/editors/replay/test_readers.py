"""The replay editor on folders of images and on manifests: numbering, links, and every mistake in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate import RunView
from turngate.errors import BadImage, ConfigError, TurngateError, UserError
from turngate.graphs.runner import Ended
from turngate.picture import encode_png

from ._recordings import ask, build, edited, gray, manifest, put

Config = Callable[..., Any]
Run = Callable[..., tuple[Ended, RunView]]


def test_a_folder_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    folder = put(tmp_path / "x", **{f"run7_step{turn}": 10 * turn for turn in range(12)})
    (folder / "notes.txt").write_text("1")
    (folder / ".hidden_3.png").write_bytes(b"")
    editor = build(folder)
    assert (editor.length, editor.simulated, editor.stochastic, editor.paid) == (11, False, False, False)
    assert editor.left_out.startswith(f"{folder}: 1 file is no image") and editor.left_out.endswith(": notes.txt")
    for turn in range(1, 12):
        answer = edited(ask(editor, turn, gray(10 * (turn - 1))))
        assert answer.data == gray(10 * turn).data
        assert (answer.flags, answer.model) == ((), editor.model)
    assert edited(ask(editor, 1, gray(77))).flags == ("beyond_divergence",), "image 0 is the origin"
    assert edited(ask(editor, 5, gray(30))).flags == ("beyond_divergence",)


def test_without_image_0_the_origin_is_not_known(tmp_path: Path) -> None:
    editor = build(put(tmp_path / "x", **{"1": 10, "2": 20}))
    assert not editor.knows_origin and editor.misfit(gray(77)) is None
    assert edited(ask(editor, 1, gray(77))).flags == ("replay_origin_unknown",)
    assert edited(ask(editor, 2, gray(77))).flags == ("beyond_divergence",)


def test_a_pattern_chooses_among_folders(tmp_path: Path) -> None:
    for chain in (1, 2):
        for turn in (1, 2):
            put(tmp_path / f"table/run_{chain}", **{f"s{turn}_try1_512px": 40 * chain + turn})
    put(tmp_path / "table/run_2", s2_try2_512px=99)
    (tmp_path / "table/run_1/s3_try1.txt").write_text("another chain's")
    editor = build(tmp_path, pattern=r"run_2/s(?P<turn>\d+)_try(?P<attempt>\d+)")
    assert editor.length == 2 and editor.stochastic and editor.left_out == ""
    assert edited(ask(editor, 2, gray(81), attempt=2)).data == gray(99).data
    assert edited(ask(editor, 2, gray(81), attempt=2)).flags == ()
    with pytest.raises(ConfigError, match="turn 1, attempt 1 twice"):
        build(tmp_path, pattern=r"/s(?P<turn>\d+)_try(?P<attempt>\d+)")


@pytest.mark.parametrize(
    ("names", "fields", "message"),
    [
        (["1", "3"], {}, "has turn 3, attempt 1 but not turn 2"),
        (["2"], {}, "but not turn 1"),
        (["0"], {}, "no images that are numbered from 1"),
        ([], {}, "no images that are numbered from 1"),
        (["1", "img_01"], {}, r"turn 1, attempt 1 twice: 1\.png and img_01\.png"),
        (["1", "cover"], {}, "cover.png has no number"),
        (["s1_512", "s2_512"], {}, "last number in each name is its turn, or give `pattern`"),
        (["1"], {"pattern": r"step(?P<turn>\d+)"}, r"no path with a turn above 0 fits pattern .* one is 1\.png"),
        (["a"], {"pattern": "(?P<turn>a)"}, "gives turn 'a', which is no number"),
        (["1_2"], {"pattern": r"(?P<turn>\d+)_(?P<attempt>\d+)"}, "but not attempt 1 of turn 1"),
        (["1"], {"pattern": "("}, "editor.pattern: no regular expression"),
        (["1"], {"pattern": r"\d+"}, r"editor.pattern: needs a group \(\?P<turn>"),
        (["1"], {"take": "best"}, "editor.take: "),
        (["1"], {"sha256": "abc"}, "editor.sha256: "),
        (["1"], {"patern": "x"}, "did you mean 'pattern'"),
    ],
)
def test_a_folder_with_a_mistake(tmp_path: Path, names: list[str], fields: dict[str, Any], message: str) -> None:
    folder = put(tmp_path / "x", **dict.fromkeys(names, 50))
    with pytest.raises(ConfigError, match=message) as caught:
        build(folder, **fields)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"no image", "no image that Pillow can read"), (b"\x89PNG\r\n\x1a\n", "no image that Pillow")],
)
def test_files_that_are_no_images(tmp_path: Path, content: bytes, message: str) -> None:
    folder = put(tmp_path / "x", **{"1": 5})
    (folder / "2.png").write_bytes(content)
    with pytest.raises(BadImage, match=message):
        build(folder)


def test_a_torn_image_is_a_missing_one_in_the_loop(config: Config, run: Run, tmp_path: Path) -> None:
    """Only headers are looked at before the run; the loop finds the rest out and keeps the bytes."""
    folder = put(tmp_path / "x", **{"1": 5, "2": 6})
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    (folder / "2.png").write_bytes(encode_png(noise)[:6000])
    _, view = run(config(turns=2, editor={"type": "replay", "source": str(folder)}))
    assert [one.row.outcome for one in view.attempts] == ["edited", "no_image"]
    assert view.attempts[1].row.why == "undecodable"
    assert view.attempts[1].row.extras


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere", "no run, folder of images or manifest at"),
        ("x" * 300, "cannot read"),
        ("runs", "is a folder of runs"),
    ],
)
def test_sources_that_are_none(tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "runs/arm-a").mkdir(parents=True)
    (tmp_path / "runs/arm-a/run.json").write_text("{}")
    with pytest.raises(ConfigError, match=message) as caught:
        build(tmp_path / source)
    assert "\n" not in str(caught.value)


def test_a_manifest_says_everything(tmp_path: Path) -> None:
    """BOM, Windows line ends, spaces, other columns, any order, relative and absolute paths."""
    put(tmp_path / "images", a=10, b=20, c=30)
    elsewhere = put(tmp_path / "elsewhere", d=40)
    lines = [
        "Turn, path ,seed,attempt,reasoning,model,damage",
        "2,images/b.png,5,1,,gem-1,2.5",
        "",
        f'2,{elsewhere / "d.png"},5,2,"Two lines,\nquoted.",gem-2,3',
        " 1 ,images/a.png,5,,I copied it.,gem-1,1",
        "0,images/c.png",
    ]
    editor = build(manifest(tmp_path, "\r\n".join(lines), "utf-8-sig"))
    assert (editor.length, editor.simulated, editor.stochastic) == (2, True, True)
    first, second = edited(ask(editor, 1, gray(30))), edited(ask(editor, 2, gray(10), attempt=2))
    assert (first.data, first.reasoning, first.model, first.damage) == (gray(10).data, "I copied it.", "gem-1", 1.0)
    assert (second.data, second.model, second.damage) == (gray(40).data, "gem-2", 3.0)
    assert second.reasoning == "Two lines,\nquoted."
    assert first.flags == second.flags == ()
    assert edited(ask(editor, 1, gray(1))).flags == ("beyond_divergence",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line names the columns turn and path"),
        ("step,file\n1,a.png\n", "this one says 'step,file'"),
        ("turn;path\n1;a.png\n", "separated by commas"),
        ("turn,path\n", "lists no image"),
        ("turn,path\n0,a.png\n", "lists no image of a turn above 0"),
        ("turn,path\n1,a.png\n2,b.png\n", r"line 3 \(turn 2\): no image at .*b\.png"),
        ("turn,path\n1,.\n", r"line 2 \(turn 1\): cannot read .*directory"),
        ("turn,path\n1,chain.csv\n", r"line 2 \(turn 1\): .* no image that Pillow can read"),
        ("turn,path\nfirst,a.png\n", "line 2.turn: input should be a valid integer"),
        ("turn,path\n-1,a.png\n", "line 2.turn: input should be greater than or equal to 0"),
        ("turn,path\n1,\n", "line 2.path: is missing"),
        ("turn,path\n,a.png\n", "line 2.turn: is missing"),
        ("turn,path,attempt\n1,a.png,0\n", "line 2.attempt: "),
        ("turn,path,damage\n1,a.png,lots\n", "line 2.damage: "),
        ("turn,path,damage\n1,a.png,nan\n", "line 2.damage: "),
        ("turn,path\n1,a.png\n1,a.png\n", "turn 1, attempt 1 twice"),
        ("turn,path\n1,a.png\n3,a.png\n", "turn 3, attempt 1 but not turn 2"),
        ("turn,path,attempt\n1,a.png,2\n", "turn 1, attempt 2 but not attempt 1 of turn 1"),
        ("turn,path,reasoning\n1,a.png,well, fine\n", "line 2: 4 cells under 3 columns"),
        ('turn,path\n1,"a.png\n', "line 2: "),
    ],
)
def test_a_manifest_with_a_mistake(tmp_path: Path, text: str, message: str) -> None:
    put(tmp_path, a=10)
    with pytest.raises(UserError, match=message) as caught:
        build(manifest(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert "chain.csv" in str(caught.value)


def test_a_manifest_in_another_encoding(tmp_path: Path) -> None:
    put(tmp_path, a=10)
    with pytest.raises(ConfigError, match="is no text in UTF-8"):
        build(manifest(tmp_path, "turn,path,reasoning\n1,a.png,schön\n", "latin-1"))
    with pytest.raises(ConfigError, match="is no text in UTF-8"):
        build(tmp_path / "a.png")
    with pytest.raises(ConfigError, match=r"editor\.pattern: is for a folder"):
        build(manifest(tmp_path, "turn,path\n1,a.png\n"), pattern=r"(?P<turn>\d)")


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_no_manifest_gives_a_traceback(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("m")
    put(folder, a=10)
    for head in ("", "turn,path\n", "turn,path\n1,a.png\n2,"):
        try:
            editor = build(manifest(folder, head + text))
        except TurngateError as error:
            assert isinstance(error, UserError)
        else:
            assert editor.length >= 1
    shutil.rmtree(folder)


def test_what_a_record_lacks_is_a_turn_without_an_image(config: Config, run: Run, tmp_path: Path) -> None:
    """A gap, a text, a torn file: each is flagged, and what comes after it was made from the last image before it.

    A gate that refuses frame 1 leaves the record there, gaps or not.
    """
    folder = put(tmp_path / "x", **{"0": 5, "1": 6, "3": 7, "6": 8})
    (folder / "4.png").write_text("no image")
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    (folder / "5.png").write_bytes(encode_png(noise)[:6000])
    with pytest.raises(UserError):
        build(folder)
    editor = {"type": "replay", "source": str(folder), "incomplete": True}
    settings = {"turns": 6, "origin": str(folder / "0.png"), "editor": editor}
    _, view = run(config(**settings))
    assert [one.row.why for one in view.attempts] == [None, "not_recorded", None, "undecodable", "undecodable", None]
    assert [one.row.not_on_record for one in view.attempts] == [False, True, False, True, True, False]
    assert not any(one.row.beyond_divergence for one in view.attempts)
    _, strict = run(config(**settings, gate="always_reject"), "strict")
    assert [one.row.beyond_divergence for one in strict.attempts] == [False, True, True, True, True, True]


def test_a_number_that_is_no_turn(tmp_path: Path) -> None:
    folder = put(tmp_path / "x", **{"0": 5, "20261201": 6})
    with pytest.raises(ConfigError, match="is that number a turn"):
        build(folder, incomplete=True)
