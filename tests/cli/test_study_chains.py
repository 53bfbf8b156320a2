"""`turngate study` on recorded chains, as a user calls it: one file, a chain for each origin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from turngate import RunView
from turngate.picture import Picture

from .program import Done

Turngate = Callable[..., Done]
LEVELS = {"one": (40, 50, 60, 240, 70, 80), "two": (90, 95, 100, 105, 110, 115)}
"""Gray levels of the origin and five frames; in one of the chains turn 3 is too bright."""


@pytest.mark.slow
def test_chains_are_studied_in_one_file(turngate: Turngate, tmp_path: Path) -> None:
    for name, levels in LEVELS.items():
        (tmp_path / name).mkdir()
        for number, level in enumerate(levels):
            flat = Picture.from_rgb(np.full((32, 32, 3), level, dtype=np.uint8))
            (tmp_path / name / f"{number}.png").write_bytes(flat.data)
    study = {
        "name": "s",
        "question": "What does the gate say to these chains?",
        "run": {
            "scenario": "replicate", "turns": 5, "driver": "loop", "evaluators": {"gray": {"type": "scripted"}},
            "truth": {"measure": "psnr", "damaged_at": 10}, "telemetry": {"exporter": "none"},
        },
        "origins": {name: f"{name}/0.png" for name in LEVELS},
        "editors": {name: {"type": "replay", "source": name} for name in LEVELS},
        "arms": {"strict": {"gate": {"type": "threshold", "evaluator": "gray", "at": 0.7}}},
        "controls": ["no-gate"],
    }  # fmt: skip
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    plan = turngate("study", "study.yaml", "--plan", "--json")
    assert plan.code == 0, plan.err
    assert plan.json()["runs"] == 4
    assert "2 pairs of origin and editor are left out" in plan.json()["remarks"][0]
    assert "2 pairs of origin and editor are left out" in turngate("study", "study.yaml", "--plan").out
    done = turngate("study", "study.yaml")
    assert done.code == 0, done.err
    beyond = {
        (arm, name): [
            one.row.turn
            for one in RunView.load(tmp_path / "runs/s" / arm / f"{name}--{name}").attempts
            if one.row.beyond_divergence
        ]
        for arm in ("strict", "no-gate")
        for name in LEVELS
    }
    assert beyond == {
        ("strict", "one"): [4, 5], ("strict", "two"): [], ("no-gate", "one"): [], ("no-gate", "two"): [],
    }  # fmt: skip
    study["editors"] = {"one": study["editors"]["one"]}  # type: ignore[index]
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    turngate("study", "study.yaml").refused(2, "origins.two", "recorded from another picture")
