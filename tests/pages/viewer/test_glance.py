"""What the list tells of a run is what its report leads with."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Config
from tests.traces.runs import Writer, degraded

from turngate import RunView, start_run, summarise
from turngate.pages.viewer import Index, QuickSummary, quick_summary, walk
from turngate.picture import encode_png
from turngate.traces.lock import RunLock

_ATTEMPT = st.fixed_dictionaries(
    {
        "damage": st.sampled_from([None, 0.1, 0.5, 0.9]),
        "action": st.sampled_from(["accept", "skip", "retry", "force_accept", "no_image", "no_change"]),
        "cost": st.sampled_from([None, 0.0, 0.039]),
        "judged": st.sampled_from([None, 0.002]),
    }
)


def same(told: QuickSummary, folder: Path) -> bool:
    """Whether the glance has the numbers of the summary."""
    run = RunView.load(folder)
    numbers = summarise(run)
    taken = run.taken[max(run.taken)] if run.taken else None
    stands = {} if taken is None or taken.composite is not None else taken.scores
    scores = {name: score.value for name, score in stands.items() if score.value is not None}
    answer = numbers.answer
    return told == QuickSummary(
        numbers.status, numbers.turns, numbers.verdict.kind, answer.progress, answer.exposure, answer.last_new_turn,
        answer.stalled_since is not None, numbers.cost_usd, told.last, scores=scores,
    )  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25)
@given(
    attempts=st.lists(_ATTEMPT, max_size=7), truth=st.booleans(), ended=st.sampled_from([None, "complete", "failed"])
)
def test_it_has_the_numbers_of_the_summary(
    tmp_path_factory: pytest.TempPathFactory, attempts: list[dict[str, Any]], truth: bool, ended: str | None
) -> None:
    writer = Writer(tmp_path_factory.mktemp("runs") / "run", size=16, turns=9, truth=truth)
    turn, number = 1, 1
    for seed, one in enumerate(attempts):
        action = {"no_image": "skip", "no_change": "accept"}.get(one["action"], one["action"])
        image = None if one["action"] == "no_image" else encode_png(degraded(writer.origin, 0.3, seed))
        if one["action"] == "no_change":
            image = writer.folder.images.get(writer.image)
        writer.attempt(
            turn, number, image=image, damage=one["damage"], action=action, cost_usd=one["cost"],
            verdict="accept" if action == "accept" else "reject",
            scores={"brisque": {"status": "scored", "value": 30.0, "usage": {"cost_usd": one["judged"]}}},
        )  # fmt: skip
        turn, number = (turn, number + 1) if action == "retry" else (turn + 1, 1)
    if ended:
        writer.ledger.add_event("ended", {"status": ended, "reason": ""})
    writer.ledger.close()
    told = quick_summary(writer.path, 9)
    assert same(told, writer.path)
    assert truth or told.exposure is None


def test_what_judges_cost_is_in_it(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", size=16, turns=1)
    score = {"status": "scored", "value": 3.0, "usage": {"calls": 1, "cost_usd": 0.25}}
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": score}, cost_usd=0.5)
    assert quick_summary(writer.close()).cost_usd == 0.75


def test_a_masked_accept_counts_as_in_the_summary(tmp_path: Path, config: Config) -> None:
    run = config(
        turns=3,
        editor={"type": "tests.graphs.stamp:Stamp"},
        evaluators=["psnr"],
        gate={"type": "tests.graphs.stamp:Says", "verdicts": ["accept_masked", "reject", "accept_masked"]},
        truth={"measure": "psnr", "damaged_at": 20},
    )
    start_run(run, tmp_path / "run")
    assert same(quick_summary(tmp_path / "run", 3), tmp_path / "run")


def test_a_ledger_without_later_columns_is_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", size=16, turns=1)
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": 3}, damage=0.9)
    folder = writer.close()
    with sqlite3.connect(folder / "ledger.sqlite") as link:
        link.execute("ALTER TABLE scores DROP COLUMN usage")
        link.execute("DROP TABLE composites")
    link.close()
    assert quick_summary(folder, 1).exposure == 1.0
    assert same(quick_summary(folder, 1), folder)


@pytest.mark.parametrize("damage", ["nothing", "text", "cut", "empty"])
def test_what_cannot_be_read_has_no_numbers(tmp_path: Path, damage: str) -> None:
    writer = Writer(tmp_path / "run", size=16, turns=1)
    writer.attempt(1, image=encode_png(degraded(writer.origin, 0.1, 1)), scores={"brisque": 3})
    ledger = writer.close() / "ledger.sqlite"
    data = ledger.read_bytes()
    ledger.write_bytes({"nothing": b"", "text": b"not a ledger" * 99, "cut": data[:6000], "empty": bytes(9000)}[damage])
    assert quick_summary(ledger.parent) == QuickSummary("unreadable")


def test_a_run_that_is_taken_up_or_left_without_a_word_is_seen(tmp_path: Path) -> None:
    Writer(tmp_path / "run", size=16, turns=1).ledger.close()
    index, (spot,) = Index(tmp_path), walk(tmp_path)
    assert index.quick_summary(spot).status == "interrupted"
    with RunLock(tmp_path / "run"):
        assert index.quick_summary(spot).status == "running"
    assert index.quick_summary(spot).status == "interrupted"
