"""Scripts: which answer a call gets, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.errors import ConfigError
from turngate.fake_server.script import (
    MODIFIERS,
    WORDS,
    Script,
    ScriptedReply,
    parse_script,
    read_script,
    split,
    with_answers,
)


def said(script: Script, numbers: range, kind: str = "edit") -> list[str]:
    return [script.answer("judge" if kind == "judge" else "edit", number).text for number in numbers]


def test_exact_call_then_range_then_default() -> None:
    script = parse_script({"answers": {3: "no_image", "2-4": 503, "4-9": "same", "default": "text_only"}}, "test")
    assert said(script, range(1, 7)) == ["text_only", "503", "no_image", "503", "same", "same"]
    assert said(script, range(10, 12)) == ["text_only", "text_only"]
    assert said(script, range(1, 3), "judge") == ["ok", "ok"]


def test_judges_have_keys_of_their_own() -> None:
    script = parse_script({"answers": {"judge.2": "cut", "2": "drop", "judge.default": "no_json"}}, "test")
    assert said(script, range(1, 4), "judge") == ["no_json", "cut", "no_json"]
    assert said(script, range(1, 4)) == ["ok", "drop", "ok"]


def test_queue_comes_first() -> None:
    script = parse_script({"queue": ["503", "ok"], "judge_queue": ["cut"], "answers": {"2-3": "same"}}, "test")
    assert said(script, range(1, 5)) == ["503", "ok", "same", "ok"]
    assert said(script, range(1, 3), "judge") == ["cut", "ok"]


@given(st.integers(1, 50), st.integers(0, 50), st.integers(1, 120))
def test_ranges_have_both_ends(first: int, length: int, number: int) -> None:
    script = parse_script({"answers": {f"{first}-{first + length}": "same"}}, "test")
    assert script.answer("edit", number).ending == ("same" if first <= number <= first + length else "ok")


def test_an_answer_of_several_words() -> None:
    answer = ScriptedReply.parse("slow:0.5+model:m-2+size:640x480+as:jpeg+interim:2+no_image")
    assert (answer.slow, answer.model, answer.size, answer.mode) == (0.5, "m-2", (640, 480), "jpeg")
    assert (answer.interim, answer.ending) == (2, "no_image")


def test_text_takes_all_that_follows() -> None:
    assert split('slow:1+text:{"a": 1}+cut:x') == [("slow", "1"), ("text", '{"a": 1}+cut:x')]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"answers": {3: "no_imge"}}, ["answers.3: no answer is called 'no_imge'", "did you mean 'no_image'"]),
        ({"answers": {"judge.1": "no_jsn"}}, ["answers.judge.1", "did you mean 'no_json'"]),
        ({"answers": {"judge.1": "same"}}, ["a call of kind judge cannot be answered with 'same'", "no_json"]),
        ({"answers": {3: "score:3"}}, ["a call of kind edit cannot be answered with 'score'"]),
        ({"answers": {3: ""}}, ["answers.3"]),
        ({"answers": {3: "finish"}}, ["'finish' needs more: write finish:IMAGE_SAFETY"]),
        ({"answers": {3: "size:big"}}, ["size does not take 'big': write size:640x480"]),
        ({"answers": {3: "slow:fast"}}, ["write slow:2.5"]),
        ({"answers": {3: "as:tiff"}}, ["as does not take 'tiff'", "png|jpeg|webp"]),
        ({"answers": {3: "same:x"}}, ["same does not take 'x': write 'same' alone"]),
        ({"answers": {3: "same+503"}}, ["same and 503 exclude each other"]),
        ({"answers": {3: "same+"}}, ["answers.3"]),
        ({"answers": {"0": "ok"}}, ["counted from 1"]),
        ({"answers": {"5-3": "ok"}}, ["a range goes upwards"]),
        ({"answers": {"edit.3": "ok"}}, ["a key is a call ('3')"]),
        ({"answers": {"3": "html:418"}}, ["html does not take '418': write html:200|502"]),
        ({"answers": {"third": "ok"}}, ["a key is a call ('3')"]),
        ({"answers": "ok"}, ["answers", "valid dictionary"]),
        ({"queue": ["no_imge"]}, ["queue.0", "did you mean 'no_image'"]),
        ({"judge_queue": ["same"]}, ["judge_queue.0", "kind judge"]),
        ({"anwsers": {}}, ["anwsers: no such field; did you mean 'answers'"]),
        ({"noise": -1}, ["noise", "greater than or equal to 0"]),
        ({"noise": ".nan"}, ["noise"]),
        (["ok"], ["a script is a mapping"]),
        (None, ["a script is a mapping"]),
    ],
)
def test_wrong_scripts(raw: object, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_script(raw, "my.yaml")
    message = str(caught.value)
    assert message.startswith("my.yaml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("answers:\n  3: 503\n  4-6: no_image\nnoise: 0.5\n")
    assert said(read_script(path), range(3, 5)) == ["503", "no_image"]
    for content, words in ((b"a: [1", "not valid YAML"), (b"\xff\xfe\x00", "not a text file"), (b"", "a mapping")):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=words):
            read_script(path)
    with pytest.raises(ConfigError, match=r"cannot read .*none.yaml: No such file"):
        read_script(tmp_path / "none.yaml")


def test_options_win_over_the_file() -> None:
    script = with_answers(parse_script({"answers": {3: "503", 4: "503"}}, "test"), ["3=no_image", "judge.1=text:a=b"])
    assert said(script, range(3, 5)) == ["no_image", "503"]
    assert script.answer("judge", 1).argument == "a=b"
    with pytest.raises(ConfigError, match="--answer no_image: write it as CALL=ANSWER"):
        with_answers(script, ["no_image"])
    with pytest.raises(ConfigError, match="did you mean 'no_image'"):
        with_answers(script, ["1=no_imag"])


def test_every_word_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fake-server.md").read_text()
    missing = [word for word in (*WORDS, *MODIFIERS) if f"`{word}`" not in page and f"`{word}:" not in page]
    assert missing == []


def test_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fake-server.md").read_text()
    assert [field for field in Script.model_fields if f"`{field}`" not in page] == []
