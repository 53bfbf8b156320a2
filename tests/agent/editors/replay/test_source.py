"""The source of the replay editor: known by its content, pinned, found from the configuration's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, continue_run
from turngate.agent.editors import EDITORS
from turngate.agent.editors.replay import ReplayConfig
from turngate.errors import ConfigChanged, ConfigError
from turngate.graphs.load import read_config
from turngate.graphs.runner import Ended
from turngate.testing import check_editor

from ._recordings import build, manifest, put

Config = Callable[..., Any]
Run = Callable[..., tuple[Ended, RunView]]


def test_the_hash_is_the_content_not_the_place(tmp_path: Path) -> None:
    one, two = put(tmp_path / "one", **{"1": 10, "2": 20}), put(tmp_path / "two", s_001=10, s_002=20)
    listed = manifest(tmp_path, "turn,path\n2,two/s_002.png\n1,one/1.png\n")
    assert build(one).model == build(two).model == build(listed).model
    told = manifest(tmp_path, "turn,path,reasoning\n2,two/s_002.png,\n1,one/1.png,fine\n")
    assert build(told).model != build(one).model


def test_a_changed_source_does_not_go_unnoticed(tmp_path: Path) -> None:
    folder = put(tmp_path / "x", **{"1": 10, "2": 20})
    pinned = ReplayConfig(type="replay", source=folder).pinned()
    assert EDITORS.build(pinned).model == build(folder).model
    put(folder, **{"3": 30})
    with pytest.raises(ConfigError, match="is not the chain of this configuration any more"):
        EDITORS.build(pinned)
    (folder / "3.png").unlink()
    EDITORS.build(pinned)
    put(folder, **{"2": 21})
    with pytest.raises(ConfigError, match="is not the chain of this configuration any more"):
        EDITORS.build(pinned)


def test_the_source_is_relative_to_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "there/images", **{"1": 10})
    file = tmp_path / "there/run.yaml"
    file.write_text(
        "origin: skimage:astronaut\nscenario: replicate\nturns: 1\nevaluators: []\ngate: always_accept\n"
        "editor: {type: replay, source: images}\n"
    )
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert EDITORS.build(read_config(file).editor)
    put(tmp_path / "here/mine", **{"1": 11})
    changed = read_config(file, ["editor.source=mine"]).editor
    assert changed.model_dump()["source"] == tmp_path / "here/mine"


def test_the_contract(tmp_path: Path) -> None:
    check_editor(build(put(tmp_path / "x", **{"1": 10, "2": 20})))
    check_editor(build(put(tmp_path / "y", **{"1": 10}), simulated=True))
    assert build(tmp_path / "y", simulated=True).simulated


def test_resuming_with_a_changed_source_is_refused(config: Config, run: Run, tmp_path: Path) -> None:
    """The run records what the source held when it began; a run that is resumed must find the same."""
    folder = put(tmp_path / "x", **{"1": 10, "2": 20, "3": 30})
    settings = config(turns=3, editor={"type": "replay", "source": str(folder)}, budgets={"attempts": 1})
    ended, view = run(settings)
    assert ended.status == "budget_exhausted"
    assert len(view.info.config["editor"]["sha256"]) == 64
    more = config(turns=3, editor={"type": "replay", "source": str(folder)}, budgets={"attempts": 2})
    ended, view = run(more)
    assert (ended.status, len(view.attempts)) == ("budget_exhausted", 2)
    put(folder, **{"3": 31})
    with pytest.raises(ConfigChanged, match=r"editor\.sha256"):
        run(more)
    with pytest.raises(ConfigError, match="is not the chain of this configuration any more"):
        continue_run(view.folder.path)
