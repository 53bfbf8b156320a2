"""Runs read back from viewers that people use.

They weigh 850 MB each and take minutes to install, so these tests run only when asked for: TURNGATE_PHOENIX=1 and
TURNGATE_MLFLOW=1 install the viewer into a virtual environment of its own; the path of an environment that has it
already, instead of 1, saves the time.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from turngate.traces.telemetry.place import trace_id

from ._expected import hundred_turns, tree_of
from ._waiting import free_port, wait_until

pytestmark = pytest.mark.slow


def wanted(variable: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not os.environ.get(variable), reason=f"{variable} is not set")


def environment(variable: str, package: str, folder: Path) -> Path:
    """The `bin` of a virtual environment with that package."""
    given = os.environ[variable]
    if given != "1":
        return Path(given) / "bin"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", package], check=True)
    return folder / "bin"


@contextmanager
def serving(command: list[str], ready: str, folder: Path, variables: dict[str, str]) -> Iterator[None]:
    """A server that answers at the URL `ready` once it is up."""
    folder.mkdir()
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: process.poll() is not None or answers(ready), seconds=240)
        assert process.poll() is None
        yield
    finally:
        process.terminate()
        process.wait(30)


def answers(url: str) -> bool:
    try:
        ask(url)
    except OSError:
        return False
    return True


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        text = answer.read()
    return json.loads(text) if text[:1] in (b"{", b"[") else text


@wanted("TURNGATE_PHOENIX")
def test_phoenix_has_the_tree_of_the_ledger(
    config: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    bin_folder = environment("TURNGATE_PHOENIX", "arize-phoenix", tmp_path / "environment")
    variables = {
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()), "PHOENIX_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    with serving([str(bin_folder / "phoenix"), "serve"], f"{url}/healthz", tmp_path / "phoenix", variables):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{url}/v1/traces")  # it takes spans alone
        ended, view = run(hundred_turns(config))
        assert (ended.status, str(ended.dropped)) == ("complete", "nothing")
        expected = tree_of(view)
        wait_until(lambda: len(phoenix_spans(url)) >= len(expected), seconds=120)  # it takes them before it stores them
        spans = phoenix_spans(url)
    assert {span["context"]["span_id"]: (span["name"], span["parent_id"]) for span in spans} == expected
    assert {span["context"]["trace_id"] for span in spans} == {f"{trace_id(view.info.run):032x}"}
    kinds = {span["name"].split()[0]: span["span_kind"] for span in spans}
    assert kinds == {
        "invoke_workflow": "CHAIN", "turn": "AGENT", "generate_content": "LLM", "evaluate": "EVALUATOR",
        "gate": "GUARDRAIL",
    }  # fmt: skip
    lost = [span for span in spans if span["status_code"] == "ERROR"]
    failed = sum(score.status == "failed" for attempt in view.attempts for score in attempt.scores.values())
    assert len(lost) == failed + sum(attempt.row.outcome == "no_image" for attempt in view.attempts)
    assert {span["attributes"]["session.id"] for span in spans if span["name"].startswith("turn")} == {view.info.run}


def phoenix_spans(url: str) -> list[dict[str, Any]]:
    """All spans of the default project, page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(f"{url}/v1/projects/default/spans?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        found += page["data"]
        cursor = page["next_cursor"]
    return found


@wanted("TURNGATE_MLFLOW")
def test_mlflow_has_the_tree_of_the_ledger(
    config: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    bin_folder = environment("TURNGATE_MLFLOW", "mlflow", tmp_path / "environment")
    command = [
        str(bin_folder / "mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
        "--backend-store-uri", "sqlite:///mlflow.db", "--artifacts-destination", "./artifacts",
    ]  # fmt: skip
    with serving(command, f"{url}/health", tmp_path / "mlflow", {"MLFLOW_DISABLE_TELEMETRY": "true"}):
        experiment = ask(f"{url}/api/2.0/mlflow/experiments/create", {"name": "turngate"})["experiment_id"]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{url}/v1/traces")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"x-mlflow-experiment-id={experiment}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120")  # it stores them before it answers
        ended, view = run(hundred_turns(config))
        assert (ended.status, str(ended.dropped)) == ("complete", "nothing")
        trace = ask(f"{url}/api/3.0/mlflow/traces/get?trace_id=tr-{trace_id(view.info.run):032x}")["trace"]
    spans = {hexed(span["span_id"]): (span["name"], hexed(span.get("parent_span_id"))) for span in trace["spans"]}
    assert spans == tree_of(view)
    assert trace["trace_info"]["trace_metadata"]["mlflow.trace.session"] == view.info.run


def hexed(coded: str | None) -> str | None:
    return base64.b64decode(coded).hex() if coded else None
