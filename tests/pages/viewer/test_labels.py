"""Labels by a person, as the labelling page sends them, and what that page tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.traces.runs import Writer, degraded, study_of

from turngate import RunView
from turngate.picture import encode_png
from turngate.traces.analysis.labels import LabelRow, append_label, read_labels

from .conftest import Viewed, run_id, view


def image_of(folder: Path, turn: int) -> str:
    """SHA-256 of a turn's first candidate."""
    return next(str(one.row.image) for one in RunView.load(folder).attempts if one.row.turn == turn)


def tools_of(page: str) -> dict[str, Any]:
    """What the page's script is told."""
    found = re.search(r'id="tools">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    told = json.loads(found[1].replace("\\u003c", "<"))
    assert isinstance(told, dict)
    return told


def test_a_label_is_written_and_replaced_and_taken_back(viewed: Viewed) -> None:
    path, image = f"/label/{viewed.key('one')}", image_of(viewed.root / "one", 2)
    first = {"image": image, "damaged": True, "labels": ["persistent_noise"], "failure": "green, tint"}
    assert viewed.post(path, first).json() == {"saved": True}
    run = RunView.load(viewed.root / "one")
    row = read_labels(viewed.root / "labels.csv").of(run).candidates[2, 1]
    assert (row.run, row.turn, row.damaged, row.labels, row.failure, row.by, row.image) == (
        run_id(viewed.root / "one"), 2, True, ("persistent_noise",), "green, tint", "me", image,
    )  # fmt: skip
    assert row.at.endswith("+00:00")
    viewed.post(path, {"image": image, "damaged": False})
    assert read_labels(viewed.root / "labels.csv").of(run).candidates[2, 1].damaged is False
    viewed.post(path, {"image": image})
    assert read_labels(viewed.root / "labels.csv").of(run).candidates == {}
    assert len(viewed.labels()) == 4, "nothing is rewritten"


GATE = {"type": "threshold", "evaluator": "secret_score", "at": 40.0}


@pytest.fixture
def study(tmp_path: Path) -> Viewed:
    """Two arms whose first image has the same bytes; the second turn of one is the origin again."""
    root = tmp_path / "runs"
    for arm in ("arm-a", "arm-b"):
        writer = Writer(root / "study" / arm, size=48, turns=2, evaluators={"secret_score": "higher"}, gate=GATE)
        same = encode_png(degraded(writer.origin, 0.2, 1))
        writer.attempt(1, image=same, scores={"secret_score": 30}, damage=0.2, instruction="add a pear")
        second = encode_png(degraded(writer.origin, 0.6, 2)) if arm == "arm-a" else None
        writer.attempt(2, image=second, scores={}, verdict="reject", action="skip", damage=0.9)
        writer.close()
    study_of(root / "study", {arm: root / "study" / arm for arm in ("arm-a", "arm-b")})
    return view(root)


def test_the_same_bytes_are_asked_about_once_and_answered_for_every_arm(study: Viewed) -> None:
    page = study.get(f"/labelling/{study.key('study', 'study')}").text
    queue = tools_of(page)["queue"]
    first, second = (image_of(study.root / "study/arm-a", turn) for turn in (1, 2))
    assert {one["image"] for one in queue} == {first, second} and len(queue) == 2
    assert {one["instruction"] for one in queue if one["image"] == first} == {"add a pear"}
    one = next(one for one in queue if one["image"] == first)
    assert study.post(f"/label/{one['key']}", {"image": first, "damaged": True}).json() == {"saved": True}
    for arm in ("arm-a", "arm-b"):
        labels = read_labels(study.root / "labels.csv").of(RunView.load(study.root / "study" / arm))
        assert [(place, row.damaged) for place, row in labels.candidates.items()] == [((1, 1), True)]
    again = tools_of(study.get(f"/labelling/{study.key('study', 'study')}").text)
    assert again["given"] == {first: {"damaged": True, "labels": [], "failure": ""}}


def test_it_is_blind_until_somebody_asks(study: Viewed) -> None:
    page = study.get(f"/labelling/{study.key('study', 'study')}").text
    for word in ("threshold", "secret_score", "arm-a", "arm-b", "rejected", "simulator", "0.2"):
        assert word not in page, word
    assert {name for one in tools_of(page)["queue"] for name in one} == {
        "image",
        "key",
        "origin",
        "from",
        "instruction",
    }
    image = image_of(study.root / "study/arm-a", 1)
    (place,) = study.get(f"/about/{study.key('study/arm-a')}/{image}").json()["places"]
    assert (place["place"], place["scores"]) == ("turn 1, attempt 1", {"secret_score": 30.0})
    assert place["gate"].startswith("accept") and place["truth"] == "simulator 0.2, sound"


def test_people_who_judged_the_same_images_see_how_they_agree(study: Viewed) -> None:
    images = [image_of(study.root / "study/arm-a", turn) for turn in (1, 2)]
    for by, verdicts in (("ada", (True, False)), ("ben", (True, True))):
        for image, damaged in zip(images, verdicts, strict=True):
            append_label(study.root / "labels.csv", LabelRow(run="x", turn=1, image=image, damaged=damaged, by=by))
    page = study.get(f"/labelling/{study.key('study', 'study')}").text
    assert "ada and ben agree about 1 of 2 images that both judged (kappa 0.00)" in page
    assert tools_of(page)["given"] == {}, "what others said is not shown"


@pytest.mark.parametrize(
    "body",
    [
        {"image": "../../etc/passwd", "damaged": True},
        {"image": "A" * 64, "damaged": True},
        {"image": "0" * 64, "damaged": "maybe"},
        {"image": "0" * 64, "labels": ["=cmd()"]},
        {"image": "0" * 64, "failure": "x" * 501},
        {"image": "0" * 64, "by": "root"},
        {"damaged": True},
        [],
    ],
)
def test_what_is_no_label_is_refused(viewed: Viewed, body: Any) -> None:
    answer = viewed.post(f"/label/{viewed.key('one')}", body)
    assert answer.status_code == 400 and answer.json()["error"]
    assert not (viewed.root / "labels.csv").exists()


def test_an_image_of_another_run_and_too_much_are_refused(viewed: Viewed) -> None:
    answer = viewed.post(f"/label/{viewed.key('one')}", {"image": "0" * 64, "damaged": True})
    assert answer.status_code == 404 and "no candidate of this run" in answer.json()["error"]
    assert viewed.get(f"/about/{viewed.key('one')}/{'0' * 64}").status_code == 404
    answer = viewed.post(f"/label/{viewed.key('one')}", {"image": "0" * 64, "failure": "x" * 200_000})
    assert answer.status_code == 400 and "too large" in answer.json()["error"]
    assert not (viewed.root / "labels.csv").exists()


def test_a_file_that_holds_no_labels_is_told_and_left_alone(viewed: Viewed) -> None:
    (viewed.root / "labels.csv").write_text("name,price\nx,3\n")
    page = viewed.get(f"/labelling/{viewed.key('one')}")
    assert page.status_code == 200 and "no column is called" in page.text
    given = {"image": image_of(viewed.root / "one", 1), "damaged": True}
    answer = viewed.post(f"/label/{viewed.key('one')}", given)
    assert answer.status_code == 400 and "no column is called" in answer.json()["error"]
    assert (viewed.root / "labels.csv").read_text() == "name,price\nx,3\n"


def test_a_newline_does_not_make_a_row(viewed: Viewed) -> None:
    given = {"image": image_of(viewed.root / "one", 1), "failure": "a\nrun,1,1,yes,,,x,"}
    viewed.post(f"/label/{viewed.key('one')}", given)
    assert len(viewed.labels()) == 2
