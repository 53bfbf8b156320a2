"""Live, resumed, forked and exported: always the same spans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turngate.errors import ConfigError, MachineError, NoSuchRun, ProviderError
from turngate.traces.run_folder import Parent
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run
from turngate.traces.telemetry.place import run_span_id, trace_id, turn_span_id

from ._run import RETRY

OTLP = TelemetryConfig(exporter="otlp", capture_content=True)


def live(run: Any, collector: Any) -> TelemetryRecorder:
    recorder = TelemetryRecorder(OTLP, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 1)
    return recorder


def end(run: Any, recorder: TelemetryRecorder, status: str = "complete", reason: str | None = None) -> None:
    run.finish(status, reason or "")
    recorder.ended(status, reason, 2)
    assert not recorder.close()


def two_processes(run: Any, collector: Any) -> None:
    """The first is killed in the middle of turn 2, after a rejected attempt."""
    first = live(run, collector)
    first.attempt(run.attempt(1))
    first.attempt(run.attempt(2, 1, cost_usd=0.25, **RETRY))
    assert not first.close()
    second = live(run, collector)
    second.attempt(run.attempt(2, 2, cost_usd=0.5))
    second.attempt(run.attempt(3))
    end(run, second)


def test_two_processes_give_one_tree(collector: Any, make_run: Any) -> None:
    two_processes(make_run(), collector)
    assert len(collector.spans) == len(collector.tree()) == 1 + 3 + 4 * 3
    assert len({span.trace for span in collector.spans}) == 1
    ids = set(collector.tree())
    root = collector.one("invoke_workflow turngate")
    assert all(span.parent in ids for span in collector.spans if span is not root)
    failed, retried = collector.named("generate_content script-1")[1:3]
    turn = collector.one("turn 2")
    assert failed.parent == retried.parent == turn.span
    assert turn.started == failed.started
    assert retried.links[0][1] == failed.span
    assert root.attributes["turngate.run.attempts"] == 4
    assert root.attributes["turngate.run.cost_usd"] == 0.75


def test_export_gives_the_spans_of_the_live_run_again(collector: Any, make_run: Any) -> None:
    run = make_run()
    two_processes(run, collector)
    sent = sorted(collector.spans, key=lambda span: span.span)
    collector.spans.clear()
    assert export_run(run.folder.path, collector.url, capture_content=True) == len(sent)
    assert sorted(collector.spans, key=lambda span: span.span) == sent


def test_a_run_that_ends_in_mid_turn_and_goes_on_replaces_root_and_turn(collector: Any, make_run: Any) -> None:
    run = make_run()
    first = live(run, collector)
    first.attempt(run.attempt(1, 1, **RETRY))
    end(run, first, "budget_exhausted", "1 attempt")
    assert collector.one("turn 1").attributes["turngate.turn.closed"] is False
    second = live(run, collector)
    second.attempt(run.attempt(1, 2))
    end(run, second)

    tree = collector.tree()
    assert len(tree) == 1 + 1 + 2 * 3
    assert tree[collector.named("turn 1")[0].span].attributes["turngate.turn.closed"] is True
    root = tree[collector.named("invoke_workflow turngate")[0].span]
    assert root.attributes["turngate.run.status"] == "complete"
    assert root.started == collector.named("invoke_workflow turngate")[0].started


def test_an_interrupted_run_is_exported_as_far_as_it_got(collector: Any, make_run: Any) -> None:
    run = make_run()
    run.begin()
    run.attempt(1)
    last = run.attempt(2, 1, **RETRY)
    assert export_run(run.folder.path, collector.url) == 1 + 2 + 2 * 3
    root = collector.one("invoke_workflow turngate")
    ledger = run.folder.ledger()
    (started,) = ledger.events()
    ledger.close()
    assert root.attributes["turngate.run.status"] == "interrupted"
    assert root.started == started.at_ns
    assert root.ended == max(last.decision.at_ns, started.at_ns)
    assert collector.one("turn 2").attributes["turngate.turn.closed"] is False


def test_a_fork_links_to_its_parent_and_does_not_send_the_turns_it_copied(collector: Any, make_run: Any) -> None:
    child = make_run("child", parent=Parent(run="run-1", turn=1))
    child.attempt(1)  # copied
    recorder = live(child, collector)
    recorder.attempt(child.attempt(2))
    end(child, recorder)
    root = collector.one("invoke_workflow turngate")
    linked = (f"{trace_id('run-1'):032x}", f"{turn_span_id('run-1', 1):016x}")
    assert root.links == [(*linked, {"turngate.link.relation": "forked_from"})]
    assert collector.named("turn 1") == []
    assert collector.one("turn 2").attributes["turngate.image.before"] == f"{1:032x}{1:032x}"
    sent = sorted(collector.spans, key=lambda span: span.span)
    collector.spans.clear()
    export_run(child.folder.path, collector.url, capture_content=True)
    assert sorted(collector.spans, key=lambda span: span.span) == sent


def test_export_to_a_file(make_run: Any, tmp_path: Path, read_jsonl: Any) -> None:
    run = make_run()
    run.begin()
    run.attempt(1)
    run.finish()
    path = tmp_path / "spans.jsonl"
    path.write_text("an older export\n")
    assert export_run(run.folder.path, jsonl=path) == 5
    spans = read_jsonl(path)
    assert len(spans) == 5
    assert spans[-1]["name"] == "invoke_workflow turngate"
    assert spans[-1]["spanId"] == f"{run_span_id('run-1'):016x}"


def test_file_and_collector_get_the_same(collector: Any, make_run: Any, tmp_path: Path, read_jsonl: Any) -> None:
    run = make_run()
    run.begin()
    tries = [{"why": "timeout", "seconds": 0.01, "waited": 0.001}]
    run.attempt(1, 1, provider="openai", tries=tries, outcome="no_image", why="timeout", detail="no answer", **RETRY)
    run.attempt(1, 2, flags=["size_changed"], truth=18.5)
    run.finish()
    export_run(run.folder.path, collector.url)
    export_run(run.folder.path, jsonl=tmp_path / "spans.jsonl")
    tree = collector.tree()
    lines = read_jsonl(tmp_path / "spans.jsonl")
    assert sorted(line["spanId"] for line in lines) == sorted(tree)
    for line in lines:
        span = tree[line["spanId"]]
        assert (line["name"], line["kind"], line["traceId"]) == (span.name, span.kind, span.trace)
        assert line.get("parentSpanId") == span.parent
        assert (int(line["startTimeUnixNano"]), int(line["endTimeUnixNano"])) == (span.started, span.ended)
        status = line.get("status", {})
        assert (status.get("code", 0), status.get("message", "")) == (span.status, span.message)
        assert plain(line["attributes"]) == span.attributes
        links = [(link["traceId"], link["spanId"], plain(link["attributes"])) for link in line.get("links", [])]
        assert links == span.links


def plain(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    def value(encoded: dict[str, Any]) -> Any:
        ((kind, content),) = encoded.items()
        if kind == "arrayValue":
            return [value(item) for item in content["values"]]
        return int(content) if kind == "intValue" else content

    return {pair["key"]: value(pair["value"]) for pair in pairs}


def test_export_that_cannot_work_says_why(make_run: Any, collector: Any, tmp_path: Path) -> None:
    run = make_run()
    run.begin()
    run.attempt(1)
    with pytest.raises(NoSuchRun, match="turngate list"):
        export_run(tmp_path / "nothing", collector.url)
    with pytest.raises(ConfigError, match="http://localhost:4318"):
        export_run(run.folder.path, "localhost:4318")
    with pytest.raises(MachineError, match="choose a file"):
        export_run(run.folder.path, jsonl=tmp_path / "no folder" / "spans.jsonl")
    collector.answer = 413
    with pytest.raises(ProviderError, match="did not take the spans of run-1"):
        export_run(run.folder.path, collector.url)
