"""C52: without any network the quick start works, and nothing even tries to reach another machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.program import OFFLINE, PLUGIN, Done, python_path

Turngate = Callable[..., Done]
QUICKSTART = Path(__file__).parents[2] / "studies" / "quickstart.yaml"


@pytest.fixture
def offline(program: Turngate, tmp_path: Path) -> Callable[..., Done]:
    """Run `turngate` where every connection and every name look-up fails and is written down."""
    log = tmp_path / "offline.log"

    def do(*arguments: object) -> Done:
        done = program(*arguments, PYTHONPATH=python_path(OFFLINE, PLUGIN), OFFLINE_LOG=str(log))
        assert not log.exists(), log.read_text()
        return done

    return do


def test_the_block_works(program: Turngate, tmp_path: Path) -> None:
    """The test below can fail: an exporter that is told to reach a server is seen."""
    log = tmp_path / "offline.log"
    (tmp_path / "c.yaml").write_text(
        "{origin: 'skimage:astronaut', scenario: replicate, turns: 1, editor: scripted, evaluators: [], "
        "gate: always_accept, telemetry: {exporter: otlp}}"
    )
    program("run", "c.yaml", "--quiet", PYTHONPATH=python_path(OFFLINE), OFFLINE_LOG=str(log))
    assert "4318" in log.read_text() or "look up" in log.read_text()


def test_the_quick_start(offline: Callable[..., Done], tmp_path: Path) -> None:
    done = offline("study", QUICKSTART, "--set", "turns=3", "--out", "study", "--json")
    assert done.code == 0, done.err
    arms = done.json()["arms"]
    assert {arm["status"] for arm in arms.values()} == {"complete"}
    assert (tmp_path / "study" / "index.html").exists()
    assert (tmp_path / "study" / "drift-gate" / "report.html").exists()


def test_the_other_commands(offline: Callable[..., Done]) -> None:
    for arguments in (["doctor"], ["evaluators"], ["graph", "--out", "g.png"], ["new"], ["schema"]):
        assert offline(*arguments).code == 0


def test_two_arms_at_a_time_give_the_same_rows(offline: Callable[..., Done], tmp_path: Path) -> None:
    """Arms side by side and one after the other write the same ledgers, and a finished study is left alone."""
    common = ["study", QUICKSTART, "--set", "turns=2"]
    assert offline(*common, "--out", "one", "--quiet").code == 0
    assert offline(*common, "--out", "two", "--jobs", 2, "--quiet").code == 0
    for arm in ("brisque-gate", "drift-gate"):
        rows = [offline("export", f"{study}/{arm}", "--format", "csv").out.splitlines() for study in ("one", "two")]
        stripped = [[_without_times(line) for line in table] for table in rows]
        assert stripped[0] == stripped[1]
    again = offline(*common, "--out", "two", "--jobs", 2, "--json")
    assert again.json()["worked"] is False


def _without_times(line: str) -> list[str]:
    """A CSV line without run id and Unix nanoseconds."""
    return [cell for cell in line.split(",")[1:] if not (cell.isdigit() and len(cell) == 19)]
