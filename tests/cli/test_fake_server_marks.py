"""A run against the shipped fake server is marked as a simulated one is; a real model on this machine is not."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import RunView, summarise
from turngate.pages.viewer import quick_summary
from turngate.picture import Picture
from turngate.providers.server import public_url
from turngate.traces.redact import redact

from .program import Done

__all__ = ["fake_server", "fake_server_process"]

Turngate = Callable[..., Done]
Write = Callable[..., Path]
ORIGIN = {"image": "skimage:astronaut", "size": 64}


class _Model(BaseHTTPRequestHandler):
    """An images-edit server of somebody's own, which says nothing of itself."""

    def do_GET(self) -> None:
        self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        image = Picture.from_rgb(np.full((64, 64, 3), 90, np.uint8)).data
        body = json.dumps({"created": 1, "data": [{"b64_json": base64.b64encode(image).decode()}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: Any) -> None:
        pass


@pytest.fixture
def local_model() -> Iterator[str]:
    """Its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_a_fake_editor_is_marked_wherever_a_simulated_one_is(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    editor = {"type": "gemini", "base_url": fake_server.base_url.replace("//", "//user:pa55word@") + "/?sig=abcd1234"}
    write(origin=ORIGIN, editor=editor, turns=2)
    done = turngate("run", "run.yaml", "--out", "runs/r")
    assert done.code == 0, done.err
    assert "(SIMULATED)" in done.err and "SIMULATED: turngate's fake server answered" in done.out
    assert "(SIMULATED)" in turngate("list").out
    assert turngate("show", "runs/r", "--json").json()["fake_server"] is True
    rows = [json.loads(line) for line in turngate("export", "runs/r").out.splitlines()]
    assert [(row["simulated"], "fake_server" in row["flags"]) for row in rows] == [(True, True)] * 2
    report = (tmp_path / "runs" / "r" / "report.html").read_text()
    assert "fake server answered in place of a model" in report and 'class="state simulated"' in report
    view = RunView.load(tmp_path / "runs" / "r")
    server = view.info.resolved.servers["editor"]
    assert (server.base_url, server.fake) == (f"{fake_server.base_url}/", True)
    written = [path.read_bytes() for path in view.folder.path.rglob("*") if path.is_file() and path.suffix != ".html"]
    assert len(written) >= 4 and not any(b"pa55word" in text or b"abcd1234" in text for text in written)


def test_a_fake_judge_marks_the_run_too_and_so_does_one_in_an_ensemble(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    judge = {"type": "openai_judge", "model": "m", "base_url": fake_server.openai_url}
    for name, evaluator in {"j": judge, "e": {"type": "ensemble", "rule": "mean", "members": {"a": judge}}}.items():
        write(origin=ORIGIN, editor="codec", evaluators={"x": evaluator}, turns=1, score_origin=False)
        assert turngate("run", "run.yaml", "--out", name, "--quiet").code == 0
        view = RunView.load(tmp_path / name)
        assert view.simulated and not view.attempts[0].row.simulated
        assert view.attempts[0].scores["x"].from_fake_server
    assert set(view.info.resolved.servers) == {"evaluators.x.members.a"}


def test_a_server_that_came_later_is_heard_in_its_answers(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    """The run was made with another server in its place; resume asks the fake one."""
    write(origin=ORIGIN, editor={"type": "openai", "model": "m", "base_url": fake_server.openai_url}, turns=1)
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 0
    file = tmp_path / "r" / "run.json"
    info = json.loads(file.read_text())
    info["resolved"] |= {"simulated": False, "servers": {}}
    file.write_text(json.dumps(info))
    assert summarise(RunView.load(tmp_path / "r")).simulated
    assert quick_summary(tmp_path / "r").fake_server, "the viewer's list knows it too"
    assert "SIMULATED" in turngate("show", "r").out


def test_a_real_model_on_this_machine_is_not_marked(
    turngate: Turngate, write: Write, local_model: str, tmp_path: Path
) -> None:
    write(origin=ORIGIN, editor={"type": "openai", "model": "m", "base_url": local_model}, turns=2)
    done = turngate("run", "run.yaml", "--out", "r")
    assert done.code == 0, done.err
    assert "SIMULATED" not in done.out + done.err + turngate("list", ".").out
    view = RunView.load(tmp_path / "r")
    assert not view.simulated and view.info.resolved.servers["editor"].base_url == local_model
    assert 'class="state simulated"' not in (tmp_path / "r" / "report.html").read_text()


def test_the_environments_server_counts_as_well(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    write(origin=ORIGIN, editor={"type": "openai", "model": "m"}, turns=1)
    assert turngate("run", "run.yaml", "--out", "r", "--quiet", **fake_server.environment).code == 0
    assert RunView.load(tmp_path / "r").info.resolved.servers["editor"].base_url == fake_server.openai_url


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://me:secret@example.org:8443/v1?sig=x&b=1#part", "https://example.org:8443/v1"),
        ("http://token@[::1]:80/", "http://[::1]:80/"),
        ("http://[redacted]@x/", ""),
        ("http://x:port/", ""),
        ("ftp://x/", ""),
    ],
)
def test_an_address_is_recorded_without_secrets(url: str, public: str) -> None:
    assert public_url(url) == public


def test_addresses_are_redacted_in_texts() -> None:
    text = "see https://me:secretword@h/x?api_key=k1&page=2&X-Signature=zzz and http://tok3n@h/"
    assert redact(text) == (
        "see https://[redacted]@h/x?api_key=[redacted]&page=2&X-Signature=[redacted] and http://[redacted]@h/"
    )
