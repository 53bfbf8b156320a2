"""run.json as turngate 0.1.0 wrote it: typed when it is read, and the same JSON when it is written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turngate.errors import DamagedRun
from turngate.traces.run_folder import RunFolder, RunInfo

FACTS: dict[str, Any] = {
    "name": "psnr", "version": "1", "direction": "higher", "range": [0.0, "inf"], "range_is_approximate": False,
    "deterministic": True, "batch_invariant": True, "tolerance": 1e-06, "needs": ["candidate", "origin"],
    "min_size": 1, "preferred_size": None, "paid": False, "weights": "none", "weights_licence": "none", "source": "",
    "size_scored": "native",
}  # fmt: skip

WRITTEN: dict[str, Any] = {
    "schema_version": 1,
    "run": "20261130-101500-demo-1a2b3c4d",
    "created": "2026-11-30T10:15:00+00:00",
    "config": {
        "name": None,
        "origin": {"image": "skimage:astronaut", "size": 64, "sha256": "0" * 64},
        "scenario": {"type": "replicate", "wording": 0},
        "turns": 100,
        "seed": 7,
        "seed_policy": "per_attempt",
        "history": "previous",
        "editor": {"type": "codec", "format": "jpeg", "quality": 90},
        "evaluators": {"mine": {"type": "psnr", "align": "shift", "against": "origin"}},
        "gate": {"type": "threshold", "evaluator": "mine", "at": 30.0},
        "on_reject": {"attempts": 2, "then": "keep_best", "best_by": "mine", "rollback_turns": 1},
        "on_unscored": {"policy": "reject", "tries": 3},
        "truth": {"measure": {"type": "psnr", "align": "shift"}, "damaged_at": 22.0},
        "telemetry": {"exporter": "none"},
    },
    "origin": {
        "image": "0" * 64, "media_type": "image/png", "width": 64, "height": 48,
        "normalised": ["alpha:RGBA over white"],
        "source": "skimage:astronaut",
    },
    "resolved": {
        "editor": {"model": "codec-jpeg", "stochastic": False, "paid": False, "provider": None},
        "simulated": False,
        "evaluators": {"mine": FACTS},
        "truth": FACTS,
        "scenario": {"ideal": "origin"},
    },
    "made_with": {"python": "3.11.2", "packages": {"turngate": "0.1.0"}, "git": None},
    "parent": None,
}  # fmt: skip


def read(folder: Path, **changes: Any) -> RunInfo:
    (folder / "run.json").write_text(json.dumps({**WRITTEN, **changes}), encoding="utf-8")
    return RunFolder(folder).info()


def test_what_was_written_is_read_and_written_the_same(tmp_path: Path) -> None:
    """All of it is there again, and what did not exist then is added as not known; `needs` is `inputs` today."""
    again = json.loads(read(tmp_path).model_dump_json())
    assert missing(json.loads(json.dumps(WRITTEN).replace('"needs"', '"inputs"')), again) == []
    assert again["resolved"]["gate"] is None and again["resolved"]["more_truths"] == {}


def missing(old: dict[str, Any], new: dict[str, Any], path: str = "") -> list[str]:
    """Fields of `old` that `new` does not have with the same value."""
    found = []
    for name, value in old.items():
        if isinstance(value, dict) and isinstance(new.get(name), dict):
            found += missing(value, new[name], f"{path}{name}.")
        elif name not in new or new[name] != value:
            found.append(f"{path}{name}")
    return found


def test_origin_and_resolved_are_typed(tmp_path: Path) -> None:
    info = read(tmp_path)
    assert (info.origin.width, info.origin.height, info.origin.source) == (64, 48, "skimage:astronaut")
    assert (info.resolved.editor.model, info.resolved.scenario.ideal) == ("codec-jpeg", "origin")
    assert info.resolved.evaluators["mine"].bounds == (0.0, None), "an infinite bound is a word in JSON"


def test_the_configuration_is_read_as_far_as_readers_need_it(tmp_path: Path) -> None:
    config = read(tmp_path).recorded
    assert (config.turns, config.editor.type, config.gate.settings["at"]) == (100, "codec", 30.0)
    assert (config.on_reject.attempts, config.on_reject.best_by) == (2, "mine")
    assert config.evaluators["mine"].as_mapping() == WRITTEN["config"]["evaluators"]["mine"]
    assert config.truth is not None
    assert config.truth.measure != "simulator"
    assert (config.truth.measure.settings, config.truth.damaged_at) == ({"align": "shift"}, 22.0)


@pytest.mark.parametrize(
    "broken", [{"origin": {}}, {"resolved": {"simulated": "perhaps"}}, {"config": {"turns": "many"}}]
)
def test_what_is_no_run_is_damaged(tmp_path: Path, broken: dict[str, Any]) -> None:
    with pytest.raises(DamagedRun, match=r"run\.json cannot be read"):
        read(tmp_path, **broken)
