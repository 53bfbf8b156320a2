"""The events `gen_ai.evaluation.result` as a collector receives them."""

from __future__ import annotations

from typing import Any

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder, export_run

from ._run import MS, RETRY, START, TURN

SCORES = (
    {"evaluator": "niqe", "value": 4.25, "label": "sharp", "explanation": "a stranger at the window"},
    {"evaluator": "judge", "status": "unscored", "why": "parse", "direction": "higher"},
    {"evaluator": "clip", "status": "failed", "why": "TimeoutError", "fault": "provider", "detail": "no answer"},
    {"evaluator": "psnr", "status": "skipped", "why": "no_image", "direction": "higher"},
)


def send(run: Any, collector: Any, *, capture: bool = False, **fields: Any) -> None:
    config = TelemetryConfig(exporter="otlp", capture_content=capture)
    recorder = TelemetryRecorder(config, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1, **fields))
    run.finish()
    recorder.ended("complete", None, 0)
    assert not recorder.close()


def test_a_value_only_where_there_is_a_score(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, scores=SCORES)
    assert {event.name for event in collector.events} == {"gen_ai.evaluation.result"}
    niqe, judge, clip = collector.events  # a skipped evaluation has no result
    assert [event.attributes["gen_ai.evaluation.name"] for event in collector.events] == ["niqe", "judge", "clip"]
    assert niqe.attributes["gen_ai.evaluation.score.value"] == 4.25
    assert niqe.attributes["gen_ai.evaluation.score.label"] == "sharp"
    assert "error.type" not in niqe.attributes
    for event, error in ((judge, "parse"), (clip, "TimeoutError")):
        assert event.attributes["error.type"] == error
        assert "gen_ai.evaluation.score.value" not in event.attributes
    statuses = [event.attributes["turngate.evaluation.status"] for event in collector.events]
    assert statuses == ["scored", "unscored", "failed"]


def test_direction_and_range_as_far_as_it_is_bounded(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, scores=SCORES)
    niqe, judge, clip = (event.attributes for event in collector.events)
    assert [event["turngate.evaluation.direction"] for event in (niqe, judge, clip)] == ["lower", "higher", "lower"]
    bounds = ("turngate.evaluation.range.lowest", "turngate.evaluation.range.highest")
    assert [tuple(event.get(bound) for bound in bounds) for event in (niqe, judge, clip)] == [
        (0.0, None), (1.0, 10.0), (None, None),
    ]  # fmt: skip


def test_the_parent_is_the_editor_call_that_was_judged(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, scores=SCORES, provider="openai", response_id="r-9")
    edit = collector.one("generate_content script-1")
    assert {(event.trace, event.span) for event in collector.events} == {(edit.trace, edit.span)}
    assert {event.attributes["gen_ai.response.id"] for event in collector.events} == {"r-9"}
    assert {event.attributes["gen_ai.conversation.id"] for event in collector.events} == {"run-1"}
    at = START + 11 * TURN
    assert [event.at for event in collector.events] == [at + 50 * MS, at + 51 * MS, at + 52 * MS]


def test_an_explanation_only_when_content_is_captured(collector: Any, make_run: Any) -> None:
    send(make_run("run-1"), collector, scores=SCORES)
    assert b"stranger" not in collector.sent()
    send(make_run("run-2"), collector, scores=SCORES, capture=True)
    said = [event.attributes.get("gen_ai.evaluation.explanation") for event in collector.events]
    assert said == [None, None, None, "a stranger at the window", None, None]


def test_export_and_resume_send_the_events_once_and_alike(collector: Any, make_run: Any) -> None:
    run = make_run()
    for number, fields in enumerate((RETRY, {}), start=1):
        recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
        run.begin()
        recorder.started(run.info, 0)
        recorder.attempt(run.attempt(1, number, scores=SCORES, **fields))
        run.finish()
        recorder.ended("complete", None, 0)
        assert not recorder.close()
    live = sorted(collector.events, key=lambda event: event.at)
    assert len(live) == 2 * 3
    collector.events.clear()
    export_run(run.folder.path, collector.url)
    assert sorted(collector.events, key=lambda event: event.at) == live


def test_export_to_a_backend_without_logs_sends_the_spans(
    collector: Any, make_run: Any, caplog: Any, monkeypatch: Any
) -> None:
    run = make_run()
    send(run, collector)
    collector.spans.clear()
    collector.answers = {"/v1/logs": 405}
    assert export_run(run.folder.path, collector.url) == len(collector.spans) == 5
    assert "takes no events" in caplog.text
    monkeypatch.setenv("OTEL_LOGS_EXPORTER", "none")
    before = collector.asked["/v1/logs"]
    export_run(run.folder.path, collector.url)
    assert collector.asked["/v1/logs"] == before
