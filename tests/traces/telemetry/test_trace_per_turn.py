"""C45: a trace per turn, linked to the run, for runs that are too long for one trace."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run
from turngate.traces.telemetry.place import run_span_id, trace_id, turn_span_id, turn_trace_id

pytestmark = pytest.mark.slow

TURNS, EVALUATORS = 100, 28
SCORES = tuple({"evaluator": f"metric-{number}"} for number in range(EVALUATORS))


def send(run: Any, collector: Any, trace_per: Any) -> None:
    config = TelemetryConfig(exporter="otlp", signals=("traces", "logs"), trace_per=trace_per)
    recorder = TelemetryRecorder(config, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    for turn in range(1, TURNS + 1):
        recorder.attempt(run.attempt(turn, scores=SCORES))
    run.finish()
    recorder.ended("complete", None, 0)
    assert not recorder.close()


def test_each_turn_is_a_trace_of_its_own_linked_to_the_run(collector: Any, make_run: Any) -> None:
    run = make_run(trace_per="turn")
    send(run, collector, "turn")
    sizes = Counter(span.trace for span in collector.spans)
    assert len(sizes) == 1 + TURNS
    assert max(sizes.values()) == 1 + EVALUATORS + 2 == 31
    root = collector.one("invoke_workflow turngate")
    assert (root.trace, root.span) == (f"{trace_id('run-1'):032x}", f"{run_span_id('run-1'):016x}")
    assert sizes[root.trace] == 1
    for number in range(1, TURNS + 1):
        turn = collector.one(f"turn {number}")
        assert turn.trace == f"{turn_trace_id('run-1', number):032x}"
        assert turn.parent is None
        relations = {link[2]["turngate.link.relation"]: link[:2] for link in turn.links}
        assert relations.pop("turn_of") == (root.trace, root.span)
        if number > 1:
            before = f"{turn_trace_id('run-1', number - 1):032x}", f"{turn_span_id('run-1', number - 1):016x}"
            assert relations.pop("after") == before
        assert relations == {}
        assert turn.attributes["gen_ai.conversation.id"] == "run-1"
    traces = {span.span: span.trace for span in collector.spans}
    assert all(event.trace == traces[event.span] for event in collector.events)
    assert len(collector.events) == TURNS * EVALUATORS

    sent = collector.tree()
    collector.spans.clear()
    assert export_run(run.folder.path, collector.url) == len(sent)
    assert collector.tree() == sent


def test_a_switch_gives_one_big_trace(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, "run")
    assert len({span.trace for span in collector.spans}) == 1
    assert len(collector.tree()) == 1 + TURNS * (1 + EVALUATORS + 2)
