"""`turngate score` as users meet it: runs, folders, manifests, interruptions, exports, wrong input."""

from __future__ import annotations

import csv
import io
import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from tests.packages import need_pyiqa
from tests.traces.runs import photograph

from turngate import Picture

from .program import TURNGATE, Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]

VERSIONED = "versions:Versioned"


@pytest.fixture
def score(turngate: Turngate, tmp_path: Path) -> Turngate:
    """`turngate score ...` with a cache of its own."""

    def do(*words: object, **more: str) -> Done:
        return turngate("score", *words, **{"TURNGATE_CACHE": str(tmp_path / "cache"), **more})

    return do


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Twelve images of different gray, in `images/`."""
    folder = tmp_path / "images"
    folder.mkdir()
    for level in range(12):
        Image.fromarray(np.full((16, 16, 3), level * 20, np.uint8)).save(folder / f"step_{level}.png")
    return folder


def rows(path: Path, what: str) -> list[tuple[Any, ...]]:
    link = sqlite3.connect(path)
    try:
        return link.execute(f"SELECT {what} FROM scores ORDER BY turn, item, evaluator, version").fetchall()
    finally:
        link.close()


def test_a_run_with_more_evaluators(turngate: Turngate, score: Turngate, write: Write, tmp_path: Path) -> None:
    turngate("run", write(turns=3), "--out", "one", "--quiet")
    ledger = (tmp_path / "one" / "ledger.sqlite").read_bytes()
    done = score("one", "--with", "scripted", "psnr")
    assert done.code == 0
    assert "8 results added" in done.err and "scripted" in done.out
    assert rows(tmp_path / "one" / "scores.sqlite", "turn, evaluator, status") == [
        (turn, evaluator, "scored") for turn in range(4) for evaluator in ("psnr", "scripted")
    ]
    again = score("one", "--with", "psnr,scripted")
    assert again.code == 0 and "nothing to do" in again.err
    assert (tmp_path / "one" / "ledger.sqlite").read_bytes() == ledger
    assert turngate("validate", "one", "--json").json()["valid"] is True


def test_both_versions_stay(turngate: Turngate, score: Turngate, write: Write, tmp_path: Path) -> None:
    """C40: a newer version of an evaluator adds rows; the older ones stay as they are."""
    turngate("run", write(turns=2), "--out", "one", "--quiet")
    for version in ("1", "2", "1"):
        assert score("one", "--with", VERSIONED, VERSION=version).code == 0
    found = rows(tmp_path / "one" / "scores.sqlite", "turn, version, value")
    assert found == [(turn, version, float(version)) for turn in range(3) for version in ("1", "2")]


def test_a_part_of_a_run_is_marked(turngate: Turngate, score: Turngate, write: Write) -> None:
    turngate("run", write(turns=4), "--out", "one", "--quiet")
    told = score("one", "--with", "scripted", "--turns", "1-2", "--json").json()
    assert (told["partial"], told["chosen"], told["images"], told["selection"]) == (True, 2, 5, {"turns": [1, 2]})
    assert "only 2 of 5 images" in score("one", "--with", "scripted", "--turns", "1-2").err


def test_a_study(turngate: Turngate, score: Turngate, tmp_path: Path) -> None:
    base = {"origin": "skimage:astronaut", "scenario": "replicate", "turns": 2, "editor": "scripted", "evaluators": []}
    arms = {"all": {"gate": "always_accept"}, "none": {"gate": "always_reject"}}
    study = {"name": "s", "question": "Does it?", "run": base, "arms": arms, "controls": "none"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    studied = turngate("study", "study.yaml", "--out", "s", "--quiet")
    assert studied.code == 0, studied.err
    told = score("s", "--with", "scripted", "--json").json()
    assert len(told["of"]) == len(told["tables"]) == len(list((tmp_path / "s").rglob("scores.sqlite"))) == 2
    assert told["added"] == told["images"] == 6


def test_a_folder_goes_on_after_a_broken_image(score: Turngate, images: Path) -> None:
    (images / "step_3.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    told = score(images, "--with", "scripted", "--json")
    assert (told.code, told.err) == (0, "")
    [numbers] = told.json()["evaluators"]
    assert (numbers["scored"], numbers["failed"], numbers["reasons"]) == (11, 1, {"BadImage": 1})
    failed = [row for row in rows(images / "scores.sqlite", "item, why, fault, detail") if row[1]]
    assert [row[:3] for row in failed] == [("step_3.png", "BadImage", "user")]


def test_names_of_ones_own(score: Turngate, images: Path) -> None:
    origin = ("--origin", images / "step_0.png", "--json")
    found = score("images", "--with", "plain=psnr", "aligned={type: psnr, align: crop}", *origin).json()
    assert [(one["name"], one["type"]) for one in found["evaluators"]] == [("plain", "psnr"), ("aligned", "psnr")]
    score("images", "--with", "a=psnr", "--with", "a=niqe").refused(2, "two evaluators are called a", "other=psnr")


def test_an_origin_for_a_folder(score: Turngate, images: Path, tmp_path: Path) -> None:
    score("images", "--with", "psnr", "brisque").refused(2, "psnr", "--origin")
    done = score("images", "--with", "psnr", "--origin", images / "step_0.png", "--out", "elsewhere.sqlite", "--json")
    numbers = done.json()["evaluators"][0]
    assert (numbers["scored"], numbers["origins"]) == (12, 1), "the origin itself is among the images"
    assert numbers["max"] < 80, "80 dB is no measurement"
    shown = score("images", "--with", "psnr", "--origin", images / "step_0.png", "--out", "elsewhere.sqlite").out
    words = shown.split()  # the column is narrow
    assert "left out" in shown and words[words.index("origin") - 1] == "1"
    assert not (images / "scores.sqlite").exists()
    assert len(rows(tmp_path / "elsewhere.sqlite", "item")) == 12
    left = score("images", "--with", "psnr", "scripted", "--skip-missing", "--json").json()
    assert list(left["left_out"]) == ["psnr"] and [one["name"] for one in left["evaluators"]] == ["scripted"]


def test_a_manifest(score: Turngate, images: Path, tmp_path: Path) -> None:
    lines = [f"images/step_{level}.png,images/step_0.png,{level}" for level in range(4)]
    (tmp_path / "list.csv").write_text("\n".join(["path,origin,turn", *lines]))
    assert score("list.csv", "--with", "psnr", "--json").json()["added"] == 4
    assert [row[0] for row in rows(tmp_path / "scores.sqlite", "turn")] == [0, 1, 2, 3]


def test_exports(score: Turngate, images: Path, tmp_path: Path) -> None:
    done = score(images, "--with", "scripted", "--format", "csv")
    assert done.code == 0
    table = list(csv.DictReader(io.StringIO(done.out)))
    assert sorted(float(row["value"]) for row in table) == pytest.approx([level * 20 / 255 for level in range(12)])
    assert score(images, "--format", "csv", "--out", "out.csv").code == 0  # no evaluator: what is there
    assert (tmp_path / "out.csv").read_text() == done.out.replace("\r\n", "\n")
    pytest.importorskip("polars")
    import polars

    assert score(images, "--format", "parquet", "--out", "out.parquet").code == 0
    assert polars.read_parquet(tmp_path / "out.parquet")["status"].to_list() == ["scored"] * 12


@pytest.mark.slow
def test_the_cache_is_shared_between_folders(score: Turngate, images: Path, tmp_path: Path) -> None:
    """A slow evaluator that has scored the images elsewhere is not asked again, unless that is wanted."""
    slow = f"{{type: '{VERSIONED}', seconds: 0.05}}"
    first = score(images, "--with", slow, "--jobs", 1, "--json").json()
    second = score(images, "--with", slow, "--jobs", 1, "--out", "second.sqlite", "--json").json()
    third = score(images, "--with", slow, "--jobs", 1, "--out", "third.sqlite", "--no-cache", "--json").json()
    assert first["added"] == second["added"] == third["added"] == 12
    link = sqlite3.connect(tmp_path / "cache" / "score_cache.sqlite")
    assert link.execute("SELECT count(*) FROM scores").fetchone() == (12,)
    link.close()
    durations = [
        sum(ended - started for started, ended in rows(tmp_path / name, "started_ns, ended_ns"))
        for name in ("images/scores.sqlite", "second.sqlite", "third.sqlite")
    ]
    assert durations[1] < durations[0] and durations[1] < durations[2]


def test_cache_and_table_in_one_folder(score: Turngate, images: Path) -> None:
    for added in (12, 0):
        assert score(images, "--with", "scripted", "--json", TURNGATE_CACHE=str(images)).json()["added"] == added
    assert len(rows(images / "scores.sqlite", "item")) == 12
    link = sqlite3.connect(images / "score_cache.sqlite")
    assert link.execute("SELECT count(*) FROM scores").fetchone() == (12,)
    link.close()
    score(images, "--with", "psnr", "--origin", images / "step_0.png", "--out", images / "score_cache.sqlite").refused(
        4, "score_cache.sqlite", "not a table of scores of turngate"
    )


@pytest.mark.slow
def test_a_cache_that_cannot_be_opened_is_no_obstacle(program: Turngate, images: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = program("score", images, "--with", "scripted", TURNGATE_CACHE=str(tmp_path / "file" / "x"))
    assert done.code == 0 and "note: cannot use the score cache" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_goes_on_after_an_end(
    score: Turngate, images: Path, environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    """What was scored is there when it is stopped or killed, and is not scored again."""
    slow = f"{{type: '{VERSIONED}', seconds: 0.15}}"
    command = [TURNGATE, "score", str(images), "--with", slow, "--jobs", "1", "--batch", "1", "--no-cache"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    table = images / "scores.sqlite"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not table.exists() or not _count(table)):
        time.sleep(0.02)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == code and "Traceback" not in told
    if number != signal.SIGKILL:
        assert "the same command goes on from here" in told
    before = _count(table)
    assert 0 < before < 12
    done = score(images, "--with", slow, "--json")
    assert (done.code, done.json()["added"]) == (0, 12 - before)


def _count(table: Path) -> int:
    try:
        return len(rows(table, "key"))
    except sqlite3.OperationalError:  # the table is being made
        return 0


@pytest.mark.parametrize(("answer", "code"), [("failed:machine", 4), ("failed:us", 70), ("unscored:parse", 0)])
def test_nothing_but_failures_is_an_exit_code(score: Turngate, images: Path, answer: str, code: int) -> None:
    raw = json.dumps({"type": "scripted", "rule": "sequence", "values": [answer]})
    done = score(images, "--with", raw, "--json")
    assert done.code == code
    assert done.json()["evaluators"][0]["mean"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere", "--with", "brisque"], "nothing at nowhere"),
        (["images"], "--with"),
        (["images", "--with", "nicq"], "did you mean 'niqe'"),
        (["images", "--with", "suite:clasic"], "did you mean 'classic'"),
        (["images", "--with", "scripted", "--turns", "1"], "only a run has turns"),
        (["images", "--with", "psnr", "--origin", "nowhere.png"], "--origin"),
        (["images/notes.txt", "--with", "scripted"], "names the column path"),
        (["empty", "--with", "scripted"], "no images"),
        (["images", "--format", "csv"], "run `turngate score` first"),
        (["images", "--with", "scripted", "--format", "parquet"], "--out"),
        (["images", "--with", "scripted", "--limit", "0"], "--limit"),
    ],
)
def test_wrong_words_are_told_in_one_line(
    score: Turngate, images: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "empty").mkdir()
    (images / "notes.txt").write_text("nothing")
    score(*words).refused(2, told)


def test_a_run_has_an_origin_of_its_own(turngate: Turngate, score: Turngate, write: Write) -> None:
    turngate("run", write(turns=1), "--out", "one", "--quiet")
    score("one", "--with", "psnr", "--origin", "x.png").refused(2, "--origin", "a run has its own")
    score("one", "--with", "psnr", "--out", "x.sqlite").refused(2, "--out")


def test_missing_weights_are_told_in_one_line(score: Turngate, images: Path, tmp_path: Path) -> None:
    need_pyiqa()
    done = score(images, "--with", "pyiqa:musiq", TURNGATE_OFFLINE="1", TORCH_HOME=str(tmp_path / "torch"))
    done.refused(2, "pyiqa:musiq", "musiq_koniq_ckpt-e95806b9.pth", "TURNGATE_OFFLINE is set")


def test_the_list_of_evaluators(turngate: Turngate) -> None:
    told = turngate("evaluators", "--suite", "classic", "--json").json()["evaluators"]
    assert [one["name"] for one in told][:3] == ["brisque", "niqe", "piqe"]
    assert all(one["runs_here"] for one in told)
    turngate("evaluators", "--suite", "x").refused(2, "no suite is called")
    need_pyiqa()
    everything = {one["name"]: one for one in turngate("evaluators", "--all", "--json").json()["evaluators"]}
    assert everything["pyiqa:dmm"]["better"] == "lower"
    assert everything["pyiqa:piqe"]["runs_here"] is True
    assert "CUDA" in everything["pyiqa:maclip"]["missing"]


def test_images_are_known_by_their_bytes_and_what_was_left_out_is_told(score: Turngate, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name in ("a.png", "b.jfif", "c", "d.data", ".hidden"):
        (folder / name).write_bytes(Picture.from_rgb(photograph(32)).data)
    (folder / "notes.txt").write_text("no image")
    (folder / "raw.heic").write_bytes(b"\0\0\0\x18ftypheic" * 9)
    done = score(folder, "--with", "brisque", "--json")
    (found,) = done.json()["evaluators"]
    assert (done.code, found["scored"], found["failed"]) == (0, 4, 0)
    assert "2 files are no images" in done.err and "notes.txt, raw.heic" in done.err
    again = score(folder, "--with", "brisque", "--json")
    assert "scores.sqlite" not in again.err, "our own table is not told"


def test_the_origin_among_the_images_is_in_no_mean(score: Turngate, tmp_path: Path) -> None:
    photo, worn, alone = photograph(64), photograph(64) // 2, tmp_path / "alone"
    for folder, images in ((tmp_path / "both", {"0": photo, "1": worn}), (alone, {"1": worn})):
        folder.mkdir()
        for name, pixels in images.items():
            Image.fromarray(pixels).save(folder / f"{name}.png")
    (tmp_path / "both" / "chain.csv").write_text("path,chain,turn\n0.png,a,0\n1.png,a,1\n")

    def mean(*words: object) -> float:
        (found,) = score(*words, "--with", "brisque", "--json").json()["evaluators"]
        return float(found["mean"])

    both = tmp_path / "both"
    assert mean(both, "--origin", both / "0.png") == pytest.approx(mean(alone))
    assert mean(both / "chain.csv", "--out", tmp_path / "chain.sqlite") == pytest.approx(mean(alone))
