"""Runs as a whole: identical ledgers, changed configurations, forks, what is refused before the first call."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, summarise
from turngate.errors import ConfigChanged, ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.runner import Ended, continue_run, fork_run, start_run

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Ended, RunView]]

REJECT = {"type": "always_reject"}
GATE = {"type": "threshold", "evaluator": "gray", "at": 0.6}


@pytest.mark.slow
def test_both_drivers_write_the_same_ledger(config: Config, run: Run) -> None:
    """The same configuration gives the same rows, whichever driver runs it, and again on a second run."""
    fields: dict[str, Any] = {
        "turns": 20,
        "editor": {"type": "scripted", "script": {"3": "no_image:safety", "5.1": "same", "7": "garbage"}},
        "evaluators": {
            "gray": {"type": "scripted", "rule": "mean_gray"},
            "other": {"type": "scripted", "rule": "mean_gray", "direction": "higher"},
            "psnr": "psnr",
        },
        "gate": {"type": "random", "accept_rate": 0.5},
        "on_reject": {"attempts": 2, "then": "keep_best", "best_by": "gray"},
        "truth": {"measure": "psnr", "damaged_at": 20},
    }
    tables = [_comparable(run(config(**fields, driver=driver), name)[1]) for name, driver in enumerate_drivers()]
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]["decisions"]) > 25


def enumerate_drivers() -> list[tuple[str, str]]:
    return [("a", "graph"), ("b", "loop"), ("c", "graph")]


def _comparable(view: RunView) -> dict[str, list[dict[str, Any]]]:
    ledger = view.folder.ledger()
    try:
        return {
            "attempts": [row.comparable() for row in ledger.attempts()],
            "scores": [row.comparable() for row in ledger.scores()],
            "truth": [row.comparable() for row in ledger.truths()],
            "decisions": [row.comparable() for row in ledger.decisions()],
        }
    finally:
        ledger.close()


def test_a_changed_configuration_is_refused(config: Config, run: Run) -> None:
    """C12: the refusal lists what changed; budgets and driver may change."""
    policy = {"attempts": 2}
    run(config(gate=REJECT, on_reject=policy, budgets={"attempts": 3}))
    with pytest.raises(ConfigChanged) as refused:
        run(config(gate=REJECT, on_reject=policy, seed=7, editor={"type": "scripted", "size": 20}))
    assert {field for field, _, _ in refused.value.diff} == {"seed", "editor.size"}
    folder = run(config(gate=REJECT, on_reject=policy))[0].folder
    assert str(refused.value).endswith(f"turngate fork {folder} --set seed=7 --set editor.size=20")
    with pytest.raises(ConfigChanged, match=f"turngate fork {folder} --set FIELD=VALUE"):
        run(config(gate="always_accept", on_reject=policy))
    assert run(config(gate=REJECT, on_reject=policy, driver="graph"))[0].status == "complete"


def test_a_fork_leaves_its_parent_alone(config: Config, tmp_path: Path) -> None:
    """C15: parent byte-identical, the child names parent and turn and goes on by itself."""
    settings = config(turns=10, gate={"type": "random", "accept_rate": 0.5}, on_reject={"attempts": 2})
    start_run(settings, tmp_path / "parent")
    before = {path: path.read_bytes() for path in sorted((tmp_path / "parent").rglob("*")) if path.is_file()}
    child = fork_run(tmp_path / "parent", 4, None, config(turns=10, seed=5))
    assert child.parent == tmp_path
    continue_run(child)
    after = {path: path.read_bytes() for path in sorted((tmp_path / "parent").rglob("*")) if path.is_file()}
    assert after == before
    parent, forked = RunView.load(tmp_path / "parent"), RunView.load(child)
    assert forked.info.parent is not None
    assert (forked.info.parent.run, forked.info.parent.turn) == (parent.info.run, 4)
    shared = [attempt.row for attempt in parent.attempts if attempt.row.turn <= 4]
    assert [attempt.row for attempt in forked.attempts][: len(shared)] == shared
    assert (forked.status, summarise(forked).turns) == ("complete", 10)
    assert forked.attempts[-1].row.seed != parent.attempts[-1].row.seed


@pytest.mark.parametrize("turn", [-1, 6])
def test_a_fork_from_a_turn_that_is_not_there(config: Config, tmp_path: Path, turn: int) -> None:
    start_run(config(turns=5), tmp_path / "parent")
    with pytest.raises(ConfigError, match="closed 5 turns"):
        fork_run(tmp_path / "parent", turn, tmp_path / "child", config(turns=10))
    assert not (tmp_path / "child").exists()


def test_a_finished_run_is_left_alone(config: Config, run: Run) -> None:
    settings = config(turns=3)
    first, view = run(settings)
    again, same = run(settings)
    assert (first.worked, again.worked) == (True, False)
    assert same.events == view.events


def test_run_json_can_be_run_again(config: Config, run: Run, tmp_path: Path) -> None:
    from turngate.graphs.load import read_config

    _, view = run(config(turns=3))
    again = read_config(view.folder.info_file)
    start_run(again, tmp_path / "again")
    assert _comparable(RunView.load(tmp_path / "again")) == _comparable(view)
    made_with = json.loads(view.folder.info_file.read_text())["made_with"]
    assert made_with["packages"]["turngate"]
    assert made_with["processor"]["model"]
    assert set(made_with["processor"]) == {"model", "kernels", "forced"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gate": {"type": "threshold", "evaluator": "grey", "at": 1}}, "did you mean 'gray'"),
        ({"gate": {"type": "oracle"}}, "say with `truth:`"),
        ({"editor": {"type": "scripted", "stochastic": False}, "on_reject": {"attempts": 2}}, "deterministic"),
        ({"on_reject": {"attempts": 2}, "seed_policy": "fixed"}, "per_attempt"),
        ({"on_reject": {"then": "keep_best"}}, "best_by"),
        ({"truth": {"measure": "brisque", "damaged_at": 1}}, "does not compare with a reference"),
        ({"scenario": {"type": "custom", "instructions": ["make it blue"]}}, "1 instruction for 5 turns"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_call(
    config: Config, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        start_run(config(**fields), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_truth_needs_a_known_ideal(config: Config, tmp_path: Path) -> None:
    scenario = {"type": "custom", "instructions": ["make it blue"], "cycle": True}
    with pytest.raises(ConfigError, match="ideal result"):
        start_run(config(scenario=scenario, truth={"measure": "psnr", "damaged_at": 20}), tmp_path / "run")


def test_a_judge_that_is_paid_for_is_no_truth(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Truth rows hold no usage: its calls would escape the budgets, and a resumed run would pay for them again."""
    monkeypatch.setenv("GEMINI_API_KEY", "k" * 20)
    with pytest.raises(ConfigError, match="costs money"):
        start_run(
            config(truth={"measure": {"type": "gemini_judge", "model": "gemini-3-flash-preview"}, "damaged_at": 5}),
            tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()


def test_unstable_scores_need_a_yes(config: Config, tmp_path: Path) -> None:
    """C34: a gate refuses an evaluator that is not repeatable unless that is allowed."""
    evaluators = {"gray": {"type": "scripted", "rule": "sequence", "values": [1.0, 2.0]}}
    settings = config(evaluators=evaluators, gate=GATE, truth=None)
    with pytest.raises(ConfigError, match="allow_unstable_scores"):
        start_run(settings, tmp_path / "run")


def test_damage_of_an_answer_without_a_row_counts(config: Config, run: Run) -> None:
    """Killed between the stored answer and the attempt row: the simulator's truth goes on as if nothing happened."""
    fields: dict[str, Any] = {
        "turns": 6,
        "origin": {"image": "skimage:astronaut", "size": 64},
        "editor": "simulated",
        "truth": {"measure": "simulator", "damaged_at": 3},
    }
    _, undisturbed = run(config(**fields), "undisturbed")
    run(config(**fields, budgets={"attempts": 3}), "killed")
    folder = undisturbed.folder.path.parent / "killed"
    link = sqlite3.connect(folder / "ledger.sqlite")
    for table in ("attempts", "scores", "truth", "decisions"):
        link.execute(f"DELETE FROM {table} WHERE turn = 3")
    link.commit()
    link.close()
    _, resumed = run(config(**fields), "killed")
    assert _comparable(resumed) == _comparable(undisturbed)
