"""W3C trace context: taken from whoever starts a run, given to the calls of the editor."""

from __future__ import annotations

import threading
from contextvars import copy_context
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run, request_headers, started_under
from turngate.traces.telemetry.place import TraceContext, edit_span_id, run_span_id, trace_id, turn_trace_id

from ._run import RETRY

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"


@given(trace=st.integers(1, 2**128 - 1), span=st.integers(1, 2**64 - 1), flags=st.integers(0, 255))
def test_what_is_written_is_read(trace: int, span: int, flags: int) -> None:
    context = TraceContext(trace, span, flags, "vendor=1,other=2")
    assert TraceContext.parse(context.headers()) == context


@pytest.mark.parametrize(
    "text",
    [
        "", "no context", PARENT[:-1], f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-01x",
    ],
)  # fmt: skip
def test_what_is_no_context_is_none(text: str) -> None:
    assert TraceContext.parse({"traceparent": text}) is None
    assert started_under({"TRACEPARENT": text}) == {}


def test_a_state_that_is_no_header_is_left_out() -> None:
    assert started_under({"TRACEPARENT": PARENT, "TRACESTATE": "a=1\nX-Evil: yes"}) == {"traceparent": PARENT}
    newer = {"TRACEPARENT": f"01-{TRACE}-{SPAN}-01-more", "TRACESTATE": "a=1"}
    assert started_under(newer) == {"traceparent": PARENT, "tracestate": "a=1"}


def test_a_run_is_a_child_of_whoever_started_it_also_after_a_resume(
    collector: Any, config: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("TRACEPARENT", PARENT)
    first, view = run(config(budgets={"attempts": 2}))
    monkeypatch.setenv("TRACEPARENT", f"00-{'1' * 32}-{'2' * 16}-01")
    second, _ = run(config())
    assert (first.status, second.status) == ("budget_exhausted", "complete")
    tree = collector.tree()
    assert {span.trace for span in tree.values()} == {TRACE} == {event.trace for event in collector.events}
    root = tree[f"{run_span_id(view.info.run):016x}"]
    assert root.parent == SPAN
    collector.spans.clear()
    assert export_run(second.folder, collector.url) == len(tree)
    assert collector.tree() == tree


def test_without_one_the_trace_is_the_runs_own(collector: Any, config: Any, run: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    _, view = run(config(turns=1))
    assert {span.trace for span in collector.spans} == {f"{trace_id(view.info.run):032x}"}
    assert view.events[0].data.keys() == {"pid", "driver", "turn", "telemetry"}


def test_the_span_that_is_current_comes_before_the_environment() -> None:
    with TracerProvider(shutdown_on_exit=False).get_tracer("application").start_as_current_span("job") as job:
        context = job.get_span_context()
        expected = f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
        assert started_under({"TRACEPARENT": PARENT}) == {"traceparent": expected}
        assert request_headers(1, 1) == {"traceparent": expected}  # no run of ours: the application's own


@pytest.mark.parametrize("trace_per", ["run", "turn"])
def test_headers_of_a_call_name_the_span_that_is_sent_later(trace_per: Any, collector: Any, make_run: Any) -> None:
    run = make_run()
    config = TelemetryConfig(exporter="otlp", trace_per=trace_per)
    recorder = TelemetryRecorder(config, run.folder.path, endpoint=collector.url)
    run.begin()
    assert request_headers(1, 1) == {}
    recorder.started(run.info, 0)
    headers = [request_headers(1, 1), request_headers(1, 2)]
    recorder.attempt(run.attempt(1, 1, **RETRY))
    recorder.attempt(run.attempt(1, 2))
    recorder.ended("complete", None, 0)
    assert request_headers(1, 3) == {}
    assert not recorder.close()
    sent = [f"00-{span.trace}-{span.span}-01" for span in collector.named("generate_content script-1")]
    assert [header["traceparent"] for header in headers] == sent
    trace = trace_id("run-1") if trace_per == "run" else turn_trace_id("run-1", 1)
    assert sent[1] == f"00-{trace:032x}-{edit_span_id('run-1', 1, 2):016x}-01"


def test_headers_reach_threads_that_copy_the_context_and_no_others(collector: Any, make_run: Any) -> None:
    run = make_run()
    recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    found: list[dict[str, str]] = []
    inside = copy_context()
    for target in (lambda: inside.run(request_headers, 1, 1), lambda: request_headers(1, 1)):
        thread = threading.Thread(target=lambda target=target: found.append(target()))
        thread.start()
        thread.join()
    recorder.ended("complete", None, 0)
    assert not recorder.close()
    assert (len(found[0]), found[1]) == (1, {})


ASKING = """
from turngate import ComponentConfig
from turngate.agent.editors.scripted import ScriptedConfig, ScriptedEditor
from turngate.traces.telemetry import request_headers

class Asking(ScriptedEditor):
    Config = ComponentConfig
    asked = []

    def __init__(self, config):
        super().__init__(ScriptedConfig(type="scripted"))

    def edit(self, request):
        self.asked.append(request_headers(request.turn, request.attempt)["traceparent"])
        return super().edit(request)
"""


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_an_editor_gets_the_headers_of_its_own_attempt(
    driver: str, collector: Any, config: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"asking_{driver}.py").write_text(ASKING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    run(config(turns=3, driver=driver, editor=f"asking_{driver}:Asking"))
    asked = import_module(f"asking_{driver}").Asking.asked
    sent = [f"00-{span.trace}-{span.span}-01" for span in collector.named("generate_content scripted")]
    assert len(sent) == 3
    assert asked == sent


LOOKING = """
from dataclasses import replace

from turngate.evaluators.scripted import ScriptedEvaluator
from turngate.providers.calling import trace_headers

class Looking(ScriptedEvaluator):
    asked = []

    def __init__(self, config):
        super().__init__(config)
        if config.direction == "lower":  # asked anew every time, as a judge is
            self.facts = replace(self.facts, deterministic=False)

    def evaluate(self, batch):
        self.asked.append(trace_headers()["traceparent"])
        return super().evaluate(batch)
"""


@pytest.mark.parametrize(("driver", "trace_per"), [("loop", "run"), ("graph", "run"), ("graph", "turn")])
def test_an_evaluators_calls_name_the_span_of_the_evaluation(
    driver: str, trace_per: str, collector: Any, config: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored answers and repeatable ones alike; the origin's evaluations have no span, so theirs is the run's."""
    module = f"looking_{driver}_{trace_per}"
    (tmp_path / f"{module}.py").write_text(LOOKING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    looking = {name: {"type": f"{module}:Looking", "direction": name} for name in ("lower", "higher")}
    run(config(turns=2, driver=driver, evaluators=looking, telemetry={"trace_per": trace_per}))
    asked = import_module(module).Looking.asked
    names = ("invoke_workflow turngate", "evaluate lower", "evaluate higher")
    root, lower, higher = ([f"00-{s.trace}-{s.span}-01" for s in collector.named(name)] for name in names)
    assert len(lower) == len(higher) == 2
    assert asked[:2] == root * 2
    assert sorted(asked[2:]) == sorted([*lower, *higher])
