"""C43: 4K images and long texts over 100 turns stay small on the wire."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder

LONG = 'über die Brücke und "zurück"\n' * 300
PICTURE = {"media_type": "image/png", "width": 3840, "height": 2160, "size_bytes": 24_900_000}
EVALUATORS = ("niqe", "drift", "judge")
TALKATIVE: dict[str, Any] = {
    **PICTURE, "instruction": LONG, "reasoning": LONG, "history": "anchor", "decision": {"reason": LONG},
    "scores": tuple({"evaluator": name, "explanation": LONG, "components": {"ggd": 0.5}} for name in EVALUATORS),
}  # fmt: skip
"""An editor and judges that say a lot."""
BROKEN_SCORES = tuple(
    {
        "evaluator": name, "explanation": LONG, "label": LONG, "flags": [LONG] * 20,
        "components": {f"part {number} {LONG}": float(number) for number in range(200)},
    }
    for name in EVALUATORS
)  # fmt: skip
BROKEN: dict[str, Any] = {
    **TALKATIVE, "scores": BROKEN_SCORES, "flags": [LONG] * 20,
    "decision": {"reason": LONG, "evidence": {f"{number} {LONG}": LONG for number in range(200)}},
    "extras": [{"image": f"{number:064x}", "role": "interim"} for number in range(30)],
}  # fmt: skip
"""Plug-ins that fill every field without measure."""


def send(run: Any, collector: Any, turns: int, fields: dict[str, Any], **settings: Any) -> None:
    config = TelemetryConfig(exporter="otlp", signals=("traces", "logs"), capture_content=True, **settings)
    recorder = TelemetryRecorder(config, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    for turn in range(1, turns + 1):
        recorder.attempt(run.attempt(turn, **fields))
    run.finish()
    recorder.ended("complete", None, 0)
    assert not recorder.close()


_REQUESTS: dict[str, tuple[Any, str, str, str]] = {
    "/v1/traces": (ExportTraceServiceRequest, "resource_spans", "scope_spans", "spans"),
    "/v1/logs": (ExportLogsServiceRequest, "resource_logs", "scope_logs", "log_records"),
}


def sizes_per_turn(collector: Any) -> dict[int, int]:
    """Turn -> bytes of its spans and events as they went over the wire."""
    found: dict[int, int] = defaultdict(int)
    for path, body in collector.bodies:
        request, outer, inner, items = _REQUESTS[path]
        for resource in getattr(request.FromString(body), outer):
            for scope in getattr(resource, inner):
                for item in getattr(scope, items):
                    for pair in item.attributes:
                        if pair.key == "turngate.turn.index":
                            found[pair.value.int_value] += item.ByteSize()
    return found


def texts(collector: Any) -> list[str]:
    """Every text in an attribute of a span or an event."""
    values = [value for item in [*collector.spans, *collector.events] for value in item.attributes.values()]
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, str)]


@pytest.mark.slow
def test_a_turn_stays_under_64_kib_and_an_attribute_under_8(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, 100, TALKATIVE)
    assert len(collector.spans) == 1 + 100 * 6
    sizes = sizes_per_turn(collector)
    assert sorted(sizes) == list(range(1, 101))
    assert max(sizes.values()) < 64 * 1024
    assert max(len(text.encode()) for text in texts(collector)) <= 8192


@pytest.mark.slow
def test_parts_without_measure_do_not_change_that(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, 1, BROKEN)
    assert sizes_per_turn(collector)[1] < 64 * 1024
    assert max(len(text.encode()) for text in texts(collector)) <= 8192
    assert all(len(span.attributes) < 128 for span in collector.spans)


def test_the_longest_attribute_is_a_setting(collector: Any, make_run: Any) -> None:
    send(make_run(), collector, 1, TALKATIVE, attribute_bytes=1024)
    assert max(len(text.encode()) for text in texts(collector)) <= 1024
    (message,) = json.loads(collector.one("generate_content script-1").attributes["gen_ai.output.messages"])
    assert message["parts"][0]["content"].endswith("bytes in all]")


@pytest.mark.slow
def test_pixels_of_a_4k_image_stay_in_the_process(
    collector: Any, config: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    editor = {"type": "scripted", "default": "size:3840x2160", "reasoning": "a large picture"}
    _, view = run(config(turns=2, editor=editor, telemetry={"capture_content": True}))
    sent = collector.sent()
    for attempt in view.attempts:
        data = view.folder.images.get(attempt.row.image)
        assert f"sha256:{attempt.row.image}".encode() in sent
        for start in range(0, 3000, 300):
            assert base64.b64encode(data[start : start + 300])[:200] not in sent
            assert data[start : start + 100] not in sent
    edit = collector.named("generate_content scripted")[0].attributes
    (answer,) = json.loads(edit["gen_ai.output.messages"])
    assert (answer["parts"][1]["width"], answer["parts"][1]["height"]) == (3840, 2160)
    assert len(sent) < 64 * 1024
