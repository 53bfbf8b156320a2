"""W3C trace context reaches the provider, so that its spans can hang below the attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from .program import Done

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
    assert sent == ids(tmp_path / "run", "generate_content")
    assert len(sent) == 2


@pytest.mark.parametrize("kind", ["gemini_judge", "openai_judge"])
def test_a_judges_calls_carry_the_ids_of_the_evaluation(
    turngate: Callable[..., Done], write: Callable[..., Path], fake_server: FakeServer, tmp_path: Path, kind: str
) -> None:
    """Both calls of a comparison hang below one evaluation; the origin's, which has no span, below the run."""
    url = fake_server.base_url if kind == "gemini_judge" else fake_server.openai_url
    judge = {"type": kind, "model": "m", "base_url": url}
    write(
        origin={"image": "skimage:astronaut", "size": 64}, turns=2, telemetry={"exporter": "jsonl"},
        evaluators={"one": {**judge, "ask": "imagagent"}, "both": {**judge, "ask": "less_damaged"}},
    )  # fmt: skip
    done = turngate("run", "run.yaml", "--out", "run", "--quiet")
    assert done.code == 0, done.err
    sent = [request["headers"]["traceparent"].split("-")[1:3] for request in fake_server.requests("judge")]
    run, one, both = (ids(tmp_path / "run", name) for name in ("invoke_workflow", "evaluate one", "evaluate both"))
    assert len(one) == len(both) == 2
    twice = [each for span in both for each in (span, span)]
    assert sorted(sent) == sorted([*one, *twice, *(run * 3)])


def ids(run: Path, name: str) -> list[list[str]]:
    """Trace and span of the spans whose names begin so, in the order in which they ended."""
    return [[span["traceId"], span["spanId"]] for span in spans(run) if span["name"].startswith(name)]


def spans(run: Path) -> Iterator[dict[str, Any]]:
    for line in (run / "telemetry.jsonl").read_text().splitlines():
        for resource in json.loads(line).get("resourceSpans", []):
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def test_without_telemetry_there_is_no_header(
    turngate: Callable[..., Done], write: Callable[..., Path], fake_server: FakeServer
) -> None:
    write(
        origin={"image": "skimage:astronaut", "size": 64}, turns=1, telemetry={"exporter": "none"},
        editor={"type": "gemini", "base_url": fake_server.base_url},
        evaluators={"judge": {"type": "openai_judge", "model": "m", "base_url": fake_server.openai_url}},
    )  # fmt: skip
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    assert [request for request in fake_server.requests() if "traceparent" in request["headers"]] == []
    assert {request["kind"] for request in fake_server.requests()} == {"edit", "judge"}
