"""C52: without any network the quick start works, and nothing even tries to reach another machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.program import OFFLINE, PLUGIN, Done, python_path

from turngate import RunView

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


@pytest.mark.slow
def test_the_block_works(program: Turngate, tmp_path: Path) -> None:
    """The test below can fail: an exporter that is told to reach a server is seen."""
    log = tmp_path / "offline.log"
    (tmp_path / "c.yaml").write_text(
        "{origin: 'skimage:astronaut', scenario: replicate, turns: 1, editor: scripted, evaluators: [], "
        "gate: always_accept, telemetry: {exporter: otlp}}"
    )
    program("run", "c.yaml", "--quiet", PYTHONPATH=python_path(OFFLINE), OFFLINE_LOG=str(log))
    assert "4318" in log.read_text() or "look up" in log.read_text()


@pytest.mark.slow
def test_the_quick_start(offline: Callable[..., Done], turngate: Turngate, tmp_path: Path) -> None:
    """Its arms side by side and one after the other write the same ledgers, and a finished study is left alone."""
    common = ["study", QUICKSTART, "--set", "turns=2", "--set", "origin={image: 'skimage:astronaut', size: 256}"]
    done = offline(*common, "--out", "one", "--json")
    assert done.code == 0, done.err
    runs = done.json()["runs"]
    assert {run["summary"]["status"] for run in runs} == {"complete"}
    assert len(done.err.splitlines()) + len(done.out.splitlines()) == 1, "JSON and nothing else"
    assert (tmp_path / "one" / "index.html").exists()
    assert (tmp_path / "one" / "drift-skip" / "report.html").exists()
    assert offline(*common, "--out", "two", "--jobs", 2, "--quiet").code == 0
    for arm in ("brisque-first", "drift-skip"):
        views = [RunView.load(tmp_path / study / arm) for study in ("one", "two")]
        rows = [
            [
                (a.row.comparable(), a.decision.comparable(), {name: s.value for name, s in a.scores.items()})
                for a in view.attempts
            ]
            for view in views
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) >= 2
    assert turngate(*common, "--out", "two", "--jobs", 2, "--json").json()["worked"] is False


@pytest.mark.slow
def test_the_other_commands(offline: Callable[..., Done]) -> None:
    for arguments in (["doctor"], ["evaluators"], ["graph", "--out", "g.png"], ["new"], ["schema"]):
        assert offline(*arguments).code == 0
