"""`turngate fake-server` as a user starts, asks and stops it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.cli.program import TURNGATE, Done

from ._post import post
from .process import FakeServer, start_fake_server


def run(*arguments: object) -> Done:
    """A command that is expected to end by itself."""
    command = [TURNGATE, "fake-server", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stops_cleanly(number: signal.Signals) -> None:
    with start_fake_server() as server:
        assert post(f"{server.openai_url}/chat/completions", b'{"messages": [{"role": "user"}]}')[0] == 200
        assert server.stop(number) == (0, "")


@pytest.mark.slow
def test_stops_while_a_call_hangs() -> None:
    with start_fake_server("--answer", "judge.1=hang") as server:
        ended = threading.Event()

        def call() -> None:
            with contextlib.suppress(OSError):
                urlopen(f"{server.openai_url}/chat/completions", b'{"messages": [{"role": "user"}]}')
            ended.set()

        threading.Thread(target=call, daemon=True).start()
        while not server.requests("judge"):
            time.sleep(0.02)
        assert server.stop() == (0, "")
        assert ended.wait(30)


def test_one_line_tells_what_to_set(tmp_path: Path) -> None:
    with subprocess.Popen(
        [TURNGATE, "fake-server", "--answer", "judge.1=text:hello"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        ready, _, exports = line.strip().partition(": export ")
        environment = dict(pair.split("=", 1) for pair in exports.split())
        url = ready.removeprefix("ready at ")
        assert url.startswith("http://127.0.0.1:")
        assert environment == {
            "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "fake",
            "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "fake",
        }  # fmt: skip
        body = json.dumps({"model": "m\x1b[2J", "messages": [{"role": "user"}]}).encode()
        assert post(f"{url}/v1/chat/completions", body)[1]["choices"][0]["message"]["content"] == "hello"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err == "judge 1 m [2J: text:hello -> 200\n"


def test_both_sdks_find_the_server_by_environment(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from google.genai import Client
    from openai import OpenAI

    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    for name, value in fake_server.environment.items():
        monkeypatch.setenv(name, value)
    client = Client()
    assert client.models.generate_content(model="m", contents="Hello.").text
    client.close()
    with OpenAI() as openai:
        assert openai.models.list().data
    assert [entry["path"] for entry in fake_server.requests("judge")] == ["/v1/models/m:generateContent"]


def test_only_this_machine_can_reach_it(fake_server: FakeServer) -> None:
    port = int(fake_server.base_url.rpartition(":")[2])
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", port))


def test_port_that_is_taken(fake_server: FakeServer) -> None:
    port = fake_server.base_url.rpartition(":")[2]
    run("--port", port).refused(2, f"port {port} is taken", "--port 0")
    run("--port", "70000").refused(2, "70000")


@pytest.mark.slow
def test_port_of_choice() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for _ in range(2):  # and again at once
        with start_fake_server("--port", port) as server:
            assert server.base_url == f"http://127.0.0.1:{port}"
            assert server.requests() == []
            assert server.stop() == (0, "")


@pytest.mark.slow
def test_wrong_scripts(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("answers: {3: no_imge}")
    run("--script", path).refused(2, "script.yaml: answers.3", "did you mean 'no_image'")
    run("--script", tmp_path / "none.yaml").refused(2, "none.yaml")
    run("--answer", "3=html:999").refused(2, "--answer: answers.3", "html")
    done = run("--answer", "3", "--json")
    assert (done.code, done.json()["error"]["fault"]) == (2, "user")


def test_script_of_a_file_and_of_options(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"answers": {"judge.1-2": "text:file"}, "require_key": "a-key-of-mine"}))
    with start_fake_server("--script", path, "--answer", "judge.2=text:option") as server:
        assert server.environment["OPENAI_API_KEY"] == "KEY"
        url = f"{server.openai_url}/chat/completions"
        assert post(url)[0] == 401
        with urlopen(f"{server.base_url}/__script") as answer:
            shown = answer.read()
        assert json.loads(shown)["answers"] == {"judge.1-2": "text:file", "judge.2": "text:option"}
        assert b"a-key-of-mine" not in shown
