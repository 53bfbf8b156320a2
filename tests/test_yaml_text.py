"""A key that stands twice is an error wherever YAML is read; what `<<` brings in may still be replaced."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.program import Done, environment, program, turngate, write

from turngate.errors import ConfigError
from turngate.yaml_text import parse_yaml

__all__ = ["environment", "program", "turngate", "write"]

Turngate = Callable[..., Done]
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(_PLAIN)
def test_what_has_no_key_twice_is_read_as_yaml_reads_it(value: Any) -> None:
    for text in (yaml.safe_dump(value, allow_unicode=True), json.dumps(value)):
        assert parse_yaml(text, "x") == yaml.safe_load(text)


@given(st.dictionaries(st.integers() | st.sampled_from(["a", "b c", "yes"]), st.integers(), min_size=1), st.data())
def test_any_key_that_is_repeated_is_named_with_both_lines(value: dict[Any, int], data: Any) -> None:
    keys = [*value]
    again = data.draw(st.sampled_from(keys))
    lines = [yaml.safe_dump({key: value[key]}).strip() for key in (*keys, again)]
    with pytest.raises(ConfigError) as caught:
        parse_yaml("\n".join(lines), "x")
    assert str(caught.value).startswith(f"x, line {len(lines)}: the key ")
    assert f"first in line {keys.index(again) + 1}: keep one" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", 2),
        ("a:\n- {x: 1}\n- x: 1\n  y: 2\n  x: 3\n", 5),
        ("yes: 1\ntrue: 2\n", 2),  # two words for one value
        ('{"a": 1,\n "a": 2}', 2),
        ("a: &one {x: 1}\nb: {<<: *one, y: 1, y: 2}\n", 2),
    ],
)
def test_at_any_depth(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=f"x, line {line}: the key .* is there twice"):
        parse_yaml(text, "x")


def test_a_merge_may_be_replaced_and_merged_again_from_further_up() -> None:
    text = "base: &base {a: 1}\nouter:\n  deep: &mid {<<: *base, a: 2, b: 3}\ntop: {<<: *mid, b: 4}\n"
    assert parse_yaml(text, "x") == yaml.safe_load(text)
    assert parse_yaml(text, "x")["outer"] == {"deep": {"a": 2, "b": 3}}


@pytest.mark.parametrize(
    "text", ["a: [", "when: 2026-99-99", b"\xff\xfe\xff", "[" * 5000, "a: !!python/object:os.x {}"]
)
def test_broken_text_is_one_line(text: str | bytes) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "x")
    assert str(caught.value).startswith("x") and "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["run", "study", "doctor"])
def test_in_configurations(turngate: Turngate, tmp_path: Path, command: str) -> None:
    (tmp_path / "f.yaml").write_text("name: a\ngate: always_accept\nturns: 2\ngate: always_reject\n")
    turngate(command, "f.yaml").refused(2, "f.yaml, line 4: the key 'gate' is there twice, first in line 2")


def test_in_options_and_in_scripts_of_the_fake_server(
    turngate: Turngate, write: Callable[..., Path], tmp_path: Path
) -> None:
    write()
    turngate("run", "run.yaml", "--set", "budgets={usd: 1, usd: 2}").refused(2, "--set", "'usd' is there twice")
    turngate("run", "run.yaml", "--reader", "{type: lexicon, type: none}").refused(
        2, "--reader", "'type' is there twice"
    )
    (tmp_path / "m.csv").write_text("path\na.png\n")
    turngate("score", "m.csv", "--with", "{type: psnr, align: none, align: shift}").refused(2, "'align' is there twice")
    (tmp_path / "s.yaml").write_text("answers:\n  1: ok\n  1: no_image\n")
    turngate("fake-server", "--script", "s.yaml").refused(2, "s.yaml, line 3: the key '1' is there twice")


def test_in_tables(turngate: Turngate, write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("path,origin,path\na.png,b.png,c.png\n")
    turngate("score", "m.csv", "--with", "brisque").refused(2, "m.csv, line 1: the column 'path' is there twice")
    for name, text in {"c.csv": "s,s\n1,2\n", "c.json": '[{"s": 1, "s": 2}]'}.items():
        (tmp_path / name).write_text(text)
        gate = {"type": "conformal", "evaluator": "gray", "calibration": name, "column": "s", "alpha": 0.5}
        write(gate=gate)
        turngate("run", "run.yaml").refused(2, name, "there twice")
