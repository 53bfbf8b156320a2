"""W3C trace context reaches the provider, so that its spans can hang below the attempt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.e2e.conftest import Done
from tests.e2e.fake_servers import FakeServer, fake_server, fake_server_process

__all__ = ["fake_server", "fake_server_process"]


def test_a_call_carries_the_ids_of_its_own_span(
    turngate: Callable[..., Done], write: Callable[..., Path], fake_server: FakeServer, tmp_path: Path
) -> None:
    write(
        origin={"image": "skimage:astronaut", "size": 64}, turns=2, telemetry={"exporter": "jsonl"},
        editor={"type": "gemini", "base_url": fake_server.base_url},
    )  # fmt: skip
    done = turngate("run", "run.yaml", "--out", "run", "--quiet")
    assert done.code == 0, done.err
    sent = [request["headers"]["traceparent"].split("-")[1:3] for request in fake_server.requests("edit")]
    spans = [
        [span["traceId"], span["spanId"]]
        for line in (tmp_path / "run" / "telemetry.jsonl").read_text().splitlines()
        for resource in json.loads(line).get("resourceSpans", [])
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
        if span["name"].startswith("generate_content")
    ]
    assert sent == spans
    assert len(sent) == 2


def test_without_telemetry_there_is_no_header(
    turngate: Callable[..., Done], write: Callable[..., Path], fake_server: FakeServer
) -> None:
    write(
        origin={"image": "skimage:astronaut", "size": 64}, turns=1, telemetry={"exporter": "none"},
        editor={"type": "gemini", "base_url": fake_server.base_url},
    )  # fmt: skip
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    assert "traceparent" not in fake_server.requests("edit")[0]["headers"]
