"""A run through the driver, its ledger and what a collector got of it."""

from __future__ import annotations

from typing import Any

import pytest

from turngate.traces.telemetry import export_run

SCRIPT = {"2.1": "no_image:safety", "3.1": 0.9, "4": "same"}


@pytest.fixture
def settings(config: Any, collector: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    editor = {"type": "scripted", "script": SCRIPT, "reasoning": "step {turn}", "cost_usd": 0.01}
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.7}
    return lambda **fields: config(editor=editor, gate=gate, on_reject={"attempts": 2, "then": "skip"}, **fields)


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_the_tree_is_the_ledger(driver: str, settings: Any, run: Any, collector: Any) -> None:
    ended, view = run(settings(driver=driver))
    assert (ended.status, str(ended.dropped)) == ("complete", "nothing")
    assert [(a.row.turn, a.row.attempt) for a in view.attempts if a.row.attempt == 2] == [(2, 2), (3, 2)]
    tree = collector.tree()
    assert len(tree) == len(collector.spans)
    root = collector.one("invoke_workflow turngate")
    turns = {span.attributes["turngate.turn.index"]: span for span in tree.values() if span.name.startswith("turn ")}
    assert sorted(turns) == [1, 2, 3, 4, 5]
    assert len(tree) == 1 + 5 + sum(2 + len(attempt.scores) for attempt in view.attempts)
    for attempt in view.attempts:
        row, turn = attempt.row, turns[attempt.row.turn]
        place = {"turngate.turn.index": row.turn, "turngate.attempt.index": row.attempt}
        spans = [s for s in tree.values() if place.items() <= s.attributes.items() and s.parent == turn.span]
        edit, gate = (next(s for s in spans if s.name == name) for name in ("generate_content scripted", "gate"))
        assert (edit.started, edit.ended) == (row.started_ns, row.ended_ns)
        assert edit.attributes["turngate.edit.outcome"] == row.outcome
        assert edit.attributes.get("turngate.image.output") == row.image
        assert edit.attributes.get("error.type") == row.why
        assert len(edit.links) == row.attempt - 1
        assert gate.ended == attempt.decision.at_ns
        assert gate.attributes["turngate.gate.verdict"] == attempt.decision.verdict
        scores = {s.name: s.attributes.get("gen_ai.evaluation.score.value") for s in spans if s.name.startswith("ev")}
        assert scores == {f"evaluate {name}": score.value for name, score in attempt.scores.items()}
    assert all(turn.parent == root.span for turn in turns.values())
    assert [event.kind for event in view.events[-2:]] == ["ended", "telemetry"]
    assert root.ended == view.events[-2].at_ns


def test_a_resumed_run_is_one_trace_and_exports_the_same(settings: Any, run: Any, collector: Any) -> None:
    first, _ = run(settings(budgets={"attempts": 2}))
    assert first.status == "budget_exhausted"
    second, _ = run(settings())
    assert second.status == "complete"
    tree = collector.tree()
    assert len({span.trace for span in tree.values()}) == 1
    collector.spans.clear()
    assert export_run(second.folder, collector.url) == len(tree)
    assert collector.tree() == tree
