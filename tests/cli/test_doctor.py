"""`turngate doctor` and `turngate evaluators`: what can run here, and what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.packages import need_pyiqa

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]

RALI: dict[str, Any] = {
    "type": "external", "name": "rali", "version": "1", "folder": "RALI", "command": [".venv/bin/python", "adapter.py"],
    "files": ["checkpoints/ckpt.pt", "checkpoints/pca.pkl"], "direction": "higher", "range": [1, 5],
}  # fmt: skip


@pytest.fixture
def fields() -> dict[str, Any]:
    evaluators = {
        "rali": RALI,
        "vq": {"type": "visualquality_r1", "folder": "vq"},
        "gray": "scripted",
        "both": {"type": "ensemble", "rule": "mean", "members": {"a": "scripted", "r": RALI}},
    }
    return {"evaluators": evaluators, "gate": {"type": "threshold", "evaluator": "gray", "at": 1}}


def missing(done: Done) -> dict[str, str | None]:
    return {one["field"]: one["missing"] for one in done.json()["components"]}


def test_what_the_components_of_a_configuration_lack(
    turngate: Turngate, write: Write, tmp_path: Path, fields: dict[str, Any]
) -> None:
    path = write(**fields)
    done = turngate("doctor", path, "--json")
    assert done.code == 2
    told = missing(done)
    assert set(told) == {
        "origin", "editor", "evaluators.rali", "evaluators.vq", "evaluators.gray", "evaluators.both.members.a",
        "evaluators.both.members.r", "gate", "scenario",
    }  # fmt: skip
    assert {field for field, line in told.items() if line} == {
        "evaluators.rali", "evaluators.vq", "evaluators.both.members.r",
    }  # fmt: skip
    rali = told["evaluators.rali"]
    assert rali is not None and f"no {tmp_path / 'RALI'}: check" in rali and "no program '.venv/bin/python'" in rali

    (tmp_path / "RALI" / "checkpoints").mkdir(parents=True)
    (tmp_path / "RALI" / "checkpoints" / "ckpt.pt").touch()
    rali = missing(turngate("doctor", path, "--json"))["evaluators.rali"]
    assert rali is not None and "pca.pkl: check" in rali and "ckpt.pt" not in rali, "every missing file, and no other"

    (tmp_path / "RALI" / "checkpoints" / "pca.pkl").touch()
    (tmp_path / "RALI" / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "RALI" / ".venv" / "bin" / "python").symlink_to(sys.executable)
    done = turngate("doctor", path)
    assert "evaluators.rali (external): can run here\n" in done.out
    assert done.code == 2, "VisualQuality-R1 is still missing"
    assert "there is no folder" in done.out


def test_a_study_and_a_configuration_that_is_whole(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    done = turngate("doctor", write())
    assert done.code == 0
    assert done.out.splitlines() == [
        "origin (skimage:astronaut): can be read",
        "editor (scripted): can run here",
        "evaluators.gray (scripted): can run here",
        "gate (always_accept): can run here",
        "scenario (replicate): can run here",
    ]
    study = tmp_path / "study.yaml"
    study.write_text(
        "name: s\nquestion: Does it?\n"
        "run: {origin: 'skimage:astronaut', scenario: replicate, turns: 2, editor: scripted, evaluators: [scripted]}\n"
        "arms: {one: {gate: always_accept}, other: {gate: always_reject}}\ncontrols: none\n"
    )
    assert set(missing(turngate("doctor", study, "--json"))) == {
        "origin",
        "editor",
        "evaluators.scripted",
        "gate",
        "scenario",
    }
    assert turngate("doctor", study).out.count("gate (") == 2


@pytest.mark.slow
def test_nothing_is_downloaded(program: Turngate, write: Write, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed: pip install 'turngate[judges]'")
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.do_GET()

    evaluators = {
        "local": {"type": "transformers_judge", "model": "some/model"},
        "vq": "visualquality_r1",
        "both": {"type": "ensemble", "rule": "mean", "members": {"musiq": "pyiqa:musiq"}},
    }
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        home = {"HF_HOME": str(tmp_path), "TORCH_HOME": str(tmp_path), "HF_ENDPOINT": url}
        done = program("doctor", write(evaluators=evaluators), "--json", **home)
        server.shutdown()
        thread.join()
    told = missing(done)
    assert "run `hf download some/model`, or" in str(told["evaluators.local"])
    assert "VisualQuality-R1-7B`, or give a copy of it" in str(told["evaluators.vq"])
    assert str(told["evaluators.both.members.musiq"]).startswith(("fetched at the first use", "pip install"))
    assert asked == []


def test_wrong_configurations(turngate: Turngate, write: Write) -> None:
    turngate("doctor", "none.yaml").refused(2, "no configuration at none.yaml")
    turngate("doctor", write(gate="thresold")).refused(2, "did you mean 'threshold'")


def test_without_a_configuration_it_says_what_to_bring(turngate: Turngate) -> None:
    done = turngate("doctor", GEMINI_API_KEY="")
    assert "external needs a program that speaks the line protocol" in done.out and "RALI" in done.out
    assert "gemini_judge is missing something: export GEMINI_API_KEY" in done.out


def test_evaluators_are_listed_with_what_is_missing_below(turngate: Turngate) -> None:
    done = turngate("evaluators", OPENAI_API_KEY="", COLUMNS="80")
    assert "\nopenai_judge: export OPENAI_API_KEY=...\n" in done.out
    assert "PolyForm Noncommercial" in done.out, "pyiqa's licence is said where its metrics are listed"
    assert "PolyForm" not in turngate("evaluators", "--suite", "classic").out
    narrow = turngate("evaluators", FORCE_COLOR="1", COLUMNS="100", TERM="dumb", OPENAI_API_KEY="")
    assert max(map(len, narrow.out.splitlines())) <= 100


def test_facts_of_one(turngate: Turngate) -> None:
    told = {part["name"]: part for part in turngate("evaluators", "--json").json()["evaluators"]}
    brisque = told["brisque"]
    assert brisque["range"] == "~0..150" and brisque["range_is_approximate"]
    assert (brisque["better"], brisque["deterministic"], brisque["batch_invariant"], brisque["paid"]) == (
        "lower", True, True, False,
    )  # fmt: skip
    assert {"tolerance", "preferred_size", "min_size", "weights", "weights_licence", "source", "version"} <= set(
        brisque
    )


@pytest.mark.slow
def test_every_metric_of_pyiqa_by_name(program: Turngate, tmp_path: Path) -> None:
    need_pyiqa()
    empty = {"TORCH_HOME": str(tmp_path), "HOME": str(tmp_path), "HF_HOME": str(tmp_path)}
    told = {part["name"]: part for part in program("evaluators", "--all", "--json", **empty).json()["evaluators"]}
    metrics = {name: part for name, part in told.items() if name.startswith("pyiqa:")}
    assert len(metrics) > 90
    assert all("Noncommercial" in part["weights_licence"] and part["better"] for part in metrics.values())
    musiq = metrics["pyiqa:musiq"]
    assert not musiq["runs_here"]
    assert musiq["missing"] == "fetched at the first use: musiq_koniq_ckpt-e95806b9.pth"
    assert metrics["pyiqa:brisque"]["runs_here"] and metrics["pyiqa:psnr"]["weights"] == "none"
    offline = program("evaluators", "--suite", "banana100-known", "--json", TURNGATE_OFFLINE="1", **empty).json()
    missing = {part["name"]: part["missing"] for part in offline["evaluators"]}
    assert missing["pyiqa:musiq"].startswith(
        "weights that are not here: musiq_koniq_ckpt-e95806b9.pth (TURNGATE_OFFLINE"
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluators", "evaluators --all", "doctor"])
def test_listing_imports_nothing_heavy(command: str, environment: dict[str, str]) -> None:
    code = (
        "import sys\nimport turngate\nassert not {'torch', 'cv2', 'langgraph', 'skimage'} & set(sys.modules)\n"
        f"from turngate.cli import cli\ncli.main({command.split()!r}, standalone_mode=False)\n"
        "heavy = {'torch', 'pyiqa', 'transformers', 'diffusers', 'openai', 'google.genai'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
