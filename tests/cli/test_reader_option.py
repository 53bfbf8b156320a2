"""Which reader reads the summaries: `reader:` in a run or a study, `--reader` of the commands, plug-ins included."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate.cli import cli
from turngate.cli.components import describe
from turngate.errors import ConfigError, UnknownComponent

PLUGIN = '''
from turngate import ComponentConfig
from turngate.agent.reasoning import Finding, SummaryReading, Unread

class WordConfig(ComponentConfig):
    """One word."""
    word: str = "image"

class Word:
    """Takes every text with a word in it for a mention of damage."""
    Config = WordConfig
    requires = {}

    def __init__(self, config):
        self.config = config

    def read(self, texts):
        return [self._read(text) if text else Unread("empty") for text in texts]

    def _read(self, text):
        word = self.config.word
        return SummaryReading.of([Finding("mentions_damage", word, text)] if word in text else [])
'''
RUN: dict[str, Any] = {
    "origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 2, "driver": "loop",
    "editor": "simulated", "evaluators": [], "gate": "always_accept", "telemetry": {"exporter": "none"},
    "truth": {"measure": "simulator", "damaged_at": 2},
}  # fmt: skip
Turngate = Callable[..., int]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of a third party, installed as pip would: a module and its metadata."""
    (tmp_path / "word_reader.py").write_text(PLUGIN)
    metadata = tmp_path / "word_reader-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: word-reader\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[turngate.summary_readers]\nword = word_reader:Word\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "word_reader", raising=False)


@pytest.fixture
def turngate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: None) -> Turngate:
    """A command in this process, with `run.yaml` and `study.yaml` in the working folder."""
    monkeypatch.chdir(tmp_path)

    def write(file: str, /, **fields: Any) -> None:
        (tmp_path / file).write_text(json.dumps(fields))

    write("run.yaml", **RUN)
    write("read.yaml", **RUN, reader={"type": "word", "word": "the"})
    reader = {"type": "word_reader:Word", "word": "e"}
    write("study.yaml", name="s", question="?", run=RUN, arms={"one": {}}, controls=[], reader=reader)
    return lambda *words: int(cli.main(args=list(words), standalone_mode=False))


def mentions(page: Path) -> int:
    """Words that the page of a run marks as a mention of damage."""
    return page.read_text(encoding="utf-8").count('<mark class="mentions_damage')


@pytest.mark.parametrize("name", ["word", "word_reader:Word", "{type: word_reader.Word, word: the}"])
def test_a_plug_in_reads_the_summaries_of_a_run(turngate: Turngate, tmp_path: Path, name: str) -> None:
    turngate("run", "run.yaml", "--out", "one", "--quiet", "--reader", name)
    marked = mentions(tmp_path / "one" / "report.html")
    assert marked > 0
    turngate("report", "one")
    assert mentions(tmp_path / "one" / "report.html") != marked, "the option is of one command, the lexicon is back"
    turngate("report", "one", "--reader", name)
    assert mentions(tmp_path / "one" / "report.html") == marked


def test_a_configured_reader_is_recorded(turngate: Turngate, tmp_path: Path) -> None:
    turngate("run", "read.yaml", "--out", "one", "--quiet")
    recorded = json.loads((tmp_path / "one" / "run.json").read_text())["config"]["reader"]
    assert recorded == {"type": "word", "word": "the"}
    marked = mentions(tmp_path / "one" / "report.html")
    turngate("report", "one")
    assert mentions(tmp_path / "one" / "report.html") == marked > 0
    assert turngate("run", "run.yaml", "--out", "one", "--quiet") == 0, "another reader is no other experiment"


def test_a_study_has_one_for_its_page_and_its_runs(
    turngate: Turngate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def mentioned(*words: str) -> float:
        capsys.readouterr()
        turngate("study", "study.yaml", "--out", "s", "--json", *words)
        (arm,) = json.loads(capsys.readouterr().out)["answer"]["reasoning"]
        return float(arm["mentions_damage"]["value"])

    assert mentioned() == 1.0
    assert mentions(tmp_path / "s" / "one" / "report.html") > 0
    assert mentioned("--reader", "{type: word, word: no such words}") == 0.0


def test_readers_are_listed(plugin: None) -> None:
    listed = {one["name"]: one for one in describe("readers")}
    assert set(listed) == {"lexicon", "word", "zero_shot"}
    assert listed["lexicon"]["runs_here"] and listed["word"]["runs_here"]
    assert listed["zero_shot"]["setup"] == "A model in a folder, or on the hub."


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("lexikon", UnknownComponent, "--reader.type: no summary reader is called 'lexikon'; did you mean 'lexicon'"),
        ("{type: lexicon, lang: en}", ConfigError, "--reader.lang: no such field"),
        ("{type: [", ConfigError, "not valid YAML"),
    ],
)
def test_a_wrong_reader_is_told_before_anything_runs(
    turngate: Turngate, tmp_path: Path, name: str, error: type[Exception], message: str
) -> None:
    for command in (["run", "run.yaml", "--out", "new"], ["study", "study.yaml", "--out", "new"]):
        with pytest.raises(error, match=message):
            turngate(*command, "--reader", name)
    assert not (tmp_path / "new").exists()
