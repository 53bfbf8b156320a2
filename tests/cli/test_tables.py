"""Tables for the terminal: what they show of hostile, missing and wide content, and the time that is left."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.traces.runs import HOSTILE, Writer, degraded

from turngate.cli.columns import TimeLeft, duration, print_rows, print_words
from turngate.cli.live import LiveTable
from turngate.picture import encode_png


def test_a_table_shows_what_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"arm": "[red]strict[/red]", "caught": "1\x1b[2J"}, {"arm": "x" * 200, "caught": "[0, 1]"}])
    print_words("a \x1b]0;owned\x07 b " * 20)
    head, first, second, words = capsys.readouterr().out.splitlines()
    assert (head.split(), first.split()) == (["arm", "caught"], ["[red]strict[/red]", "1", "[2J"])
    assert second.split() == ["x" * 200, "[0,", "1]"], "nobody cuts what is not for a terminal"
    assert words == " ".join(["a ]0;owned b"] * 20)


def table_of(path: Path, width: int, **settings: Any) -> list[str]:
    """The table of two attempts that cost something, as it is drawn."""
    writer = Writer(path, size=16, turns=9, evaluators={f"judge {HOSTILE}": "higher", "truth": "lower"}, **settings)
    picture = encode_png(degraded(writer.origin, 0.2, 1))
    judged = {"status": "failed", "why": HOSTILE, "fault": "us", "usage": {"cost_usd": 0.002}}
    writer.attempt(1, 1, image=None, scores={}, verdict="reject", action="retry", reason="[/x] [red]", cost_usd=0.039)
    writer.attempt(
        1, 2, image=picture, damage=None, action="force_accept", verdict="reject", reason=HOSTILE, cost_usd=0.039,
        scores={f"judge {HOSTILE}": judged, "truth": 31.25},
    )  # fmt: skip
    table, beneath = LiveTable(writer.folder.info()).render(writer.ledger.records(), width)
    writer.close()
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(table, *beneath)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [30, 80, 200])
def test_costs_and_what_is_missing_are_told(tmp_path: Path, width: int) -> None:
    lines = table_of(tmp_path / "run", width)
    assert max(map(cell_len, lines)) <= width
    assert not re.search("[\x00-\x1f\u202e\u200b]", "".join(lines))
    if width >= 80:
        first, second = lines[1], lines[2]
        assert "no image" in first and "0.0390" in first
        assert "forced in" in second and "not known" in second and "0.0410" in second, "judges cost too"
        assert "31.25" in second and "failed" in second
    if width >= 200:
        assert lines[1].rstrip().endswith("[/x] [red]"), "a reason is no markup"


def test_no_truth_is_never_called_one(tmp_path: Path) -> None:
    lines = table_of(tmp_path / "run", 120, truth=False)
    assert lines[0].split().count("truth") == 1, "an evaluator is called that here"
    assert "not known" not in "".join(lines) and "sound" not in "".join(lines)


def test_the_time_that_is_left_goes_by_the_last_steps() -> None:
    now = [0.0]
    left = TimeLeft(100, lambda: now[0])
    left.begin_at(40)
    assert (left.seconds, left.text) == (None, "")
    now[0] = 100.0  # the first step loads a model
    left.reached(41)
    assert left.seconds == 5900
    for done in range(42, 72):
        now[0] += 1
        left.reached(done)
    assert left.seconds == 29
    now[0] += 10
    assert left.seconds == 19, "time goes on during a step"
    now[0] += 60
    assert left.seconds == 0
    left.reached(100)
    assert left.text == ""
    assert [duration(seconds) for seconds in (0.4, 119, 121, 7100, 7300)] == [
        "0 s",
        "119 s",
        "2 min",
        "118 min",
        "2.0 h",
    ]
