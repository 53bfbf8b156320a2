"""What leaves the process: no content unless asked, no secrets, no image bytes, nothing longer than 8 KiB."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.traces.records import AttemptRow
from turngate.traces.telemetry import TelemetryConfig, TelemetryRecorder
from turngate.traces.telemetry.content import Content

ORIGIN = "0" * 64
LIMIT = 8192
CONTENT = Content(capture=True)
ROW: dict[str, Any] = {
    "turn": 1, "attempt": 1, "seed": 1, "instruction": "darken the sky", "history": "previous",
    "input_image": ORIGIN, "input_turn": 0, "outcome": "edited", "image": "a" * 64, "media_type": "image/webp",
    "width": 640, "height": 480, "size_bytes": 81234, "started_ns": 1, "ended_ns": 2,
}  # fmt: skip


def record(run: Any, collector: Any, *, capture: bool, **fields: Any) -> None:
    config = TelemetryConfig(exporter="otlp", capture_content=capture)
    recorder = TelemetryRecorder(config, run.folder.path, endpoint=collector.url)
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1, **fields))
    run.finish()
    recorder.ended("complete", None, 0)
    assert not recorder.close()


def test_no_content_by_default(collector: Any, make_run: Any) -> None:
    scores = ({"explanation": "a stranger at the window"},)
    fields = {"instruction": "add a red hat", "reasoning": "I see a woman", "scores": scores}
    record(make_run(), collector, capture=False, **fields)
    text = collector.sent()
    assert b"evaluate niqe" in text
    for content in (b"red hat", b"I see a woman", b"stranger"):
        assert content not in text


def test_captured_content_has_reasoning_and_references_to_images(collector: Any, make_run: Any) -> None:
    run = make_run()
    (run.folder.images.root / "00").mkdir(parents=True)
    (run.folder.images.root / "00" / f"{ORIGIN}.png").write_bytes(b"the origin")
    extras = [{"image": "b" * 64, "role": "interim"}]
    scores = ({"explanation": "a stranger at the window"},)
    fields = {"instruction": "add a red hat", "reasoning": "I see a woman", "extras": extras, "scores": scores}
    record(run, collector, capture=True, **fields)
    attributes = collector.one("generate_content script-1").attributes
    (given_,) = json.loads(attributes["gen_ai.input.messages"])
    (answer,) = json.loads(attributes["gen_ai.output.messages"])

    assert given_ == {
        "role": "user",
        "parts": [
            {"type": "text", "content": "add a red hat"},
            {
                "type": "uri",
                "modality": "image",
                "uri": f"sha256:{ORIGIN}",
                "mime_type": "image/png",
                "width": 64,
                "height": 48,
                "size_bytes": 10,
            },
        ],
    }
    assert answer["role"] == "assistant"
    assert answer["parts"][0] == {"type": "reasoning", "content": "I see a woman"}
    assert answer["parts"][1]["uri"] == f"sha256:{1:032x}{1:032x}"
    assert answer["parts"][1]["size_bytes"] == 900
    assert answer["parts"][2] == {"type": "uri", "modality": "image", "uri": "sha256:" + "b" * 64, "role": "interim"}
    evaluation = collector.one("evaluate niqe").attributes
    assert evaluation["gen_ai.evaluation.explanation"] == "a stranger at the window"


def test_the_anchor_protocol_shows_both_images() -> None:
    row = AttemptRow.model_validate({**ROW, "history": "anchor", "input_image": "c" * 64})
    (message,) = json.loads(CONTENT.input_messages(row, ORIGIN, {"c" * 64: {"width": 5}}))
    assert [part["uri"] for part in message["parts"][1:]] == ["sha256:" + "c" * 64, f"sha256:{ORIGIN}"]
    assert message["parts"][1]["width"] == 5


@given(text=st.text(max_size=400), times=st.integers(1, 300), extras=st.integers(0, 60))
def test_messages_are_json_within_the_limit(text: str, times: int, extras: int) -> None:
    long = text * times
    images = [{"image": f"{number:064x}", "role": "interim"} for number in range(extras)]
    row = AttemptRow.model_validate({**ROW, "instruction": long, "reasoning": long, "extras": images})
    for message in (CONTENT.input_messages(row, ORIGIN, {}), CONTENT.output_messages(row)):
        assert len(message.encode()) <= LIMIT
        assert json.loads(message)[0]["parts"]


def test_a_cut_text_keeps_its_beginning_and_says_that_it_was_cut() -> None:
    row = AttemptRow.model_validate({**ROW, "reasoning": 'the "sky"\n' * 5000})
    (message,) = json.loads(CONTENT.output_messages(row))
    content = message["parts"][0]["content"]
    assert content.startswith('the "sky"\nthe "sky"\n')
    assert content.endswith("[cut, 50000 bytes in all]")
    assert len(content) > LIMIT // 2


def test_no_attribute_is_longer_than_8_kib(collector: Any, make_run: Any) -> None:
    long = "über die Brücke " * 4000
    record(
        make_run(),
        collector,
        capture=True,
        instruction=long,
        reasoning=long,
        flags=[long],
        scores=({"explanation": long, "label": long, "components": {f"part {n}": 1.0 for n in range(500)}},),
        decision={"reason": long, "evidence": {"said": long, **{f"number {n}": float(n) for n in range(500)}}},
    )
    for span in collector.spans:
        assert len(span.attributes) < 128
        for name, value in span.attributes.items():
            for item in value if isinstance(value, list) else [value]:
                assert len(str(item).encode()) <= 8192, name
    evaluation = collector.one("evaluate niqe").attributes
    assert evaluation["gen_ai.evaluation.name"] == "niqe"
    assert evaluation["gen_ai.evaluation.explanation"].endswith(f"[cut, {len(long.encode())} bytes in all]")


def test_no_secret_leaves_the_process(collector: Any, make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cret-value-77-of-the-provider"
    monkeypatch.setenv("EDITOR_API_KEY", secret)
    leaky = f"the answer to {secret} was 400"
    record(
        make_run(),
        collector,
        capture=True,
        outcome="no_image",
        why="refused",
        detail=leaky,
        instruction=leaky,
        reasoning=leaky,
        scores=({"status": "failed", "why": "HTTPError", "detail": leaky, "flags": [leaky]},),
        decision={"reason": leaky, "evidence": {"said": leaky}},
    )
    sent = collector.sent()
    assert b"[redacted] was 400" in sent
    assert secret.encode() not in sent


def test_no_image_bytes_in_the_file(make_run: Any, read_jsonl: Any) -> None:
    pixels = bytes(range(256)) * 40
    run = make_run()
    sha256 = run.folder.images.put(pixels, "image/png")
    recorder = TelemetryRecorder(TelemetryConfig(exporter="jsonl", capture_content=True), run.folder.path)
    run.begin()
    recorder.started(run.info, 0)
    recorder.attempt(run.attempt(1, image=sha256, size_bytes=len(pixels)))
    recorder.ended("complete", None, 1)
    assert not recorder.close()
    path: Path = run.folder.path / "telemetry.jsonl"
    text = path.read_text()
    assert f"sha256:{sha256}" in text
    assert base64.b64encode(pixels[:60]).decode() not in text
    assert "base64" not in text and '"blob"' not in text
    assert len(text) < 20_000
