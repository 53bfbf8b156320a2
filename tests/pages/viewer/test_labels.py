"""Labels by a person, as the page sends them."""

from __future__ import annotations

from typing import Any

import pytest

from turngate import RunView
from turngate.traces.analysis.labels import read_labels

from .conftest import Viewed, run_id


def test_a_label_is_written_and_replaced_and_taken_back(viewed: Viewed) -> None:
    path = f"/label/{viewed.key('one')}"
    first = {"turn": 2, "attempt": 1, "damaged": True, "labels": ["persistent_noise"], "failure": "green, tint"}
    assert viewed.post(path, first).json() == {"saved": True}
    run = RunView.load(viewed.root / "one")
    labels = read_labels(viewed.root / "labels.csv")
    row = labels.of(run).candidates[2, 1]
    assert (row.run, row.damaged, row.labels, row.failure, row.by) == (
        run_id(viewed.root / "one"), True, ("persistent_noise",), "green, tint", "me",
    )  # fmt: skip
    assert row.at.endswith("+00:00")
    viewed.post(path, {"turn": 2, "attempt": 1, "damaged": False})
    assert read_labels(viewed.root / "labels.csv").of(run).candidates[2, 1].damaged is False
    viewed.post(path, {"turn": 2, "attempt": 1})
    assert read_labels(viewed.root / "labels.csv").of(run).candidates == {}
    assert len(viewed.labels()) == 4, "nothing is rewritten"


def test_the_page_knows_ones_own_labels_and_not_those_of_others(viewed: Viewed) -> None:
    key = viewed.key("one")
    viewed.post(f"/label/{key}", {"turn": 1, "attempt": 1, "damaged": True})
    with (viewed.root / "labels.csv").open("a", encoding="utf-8") as file:
        file.write(f"{run_id(viewed.root / 'one')},2,1,no,,,somebody,\n")
    tools = viewed.get(f"/run/{key}").text.split('id="tools">')[1].split("</script>")[0]
    assert '"t1a1": {"damaged": true' in tools and "t2a1" not in tools.split('"given"')[1].split("}}")[0]


@pytest.mark.parametrize(
    "body",
    [
        {"turn": 0, "attempt": 1, "damaged": True},
        {"turn": 1, "attempt": 1, "damaged": "maybe"},
        {"turn": 1, "attempt": 1, "labels": ["=cmd()"]},
        {"turn": 1, "attempt": 1, "failure": "x" * 501},
        {"turn": 1, "attempt": 1, "by": "root"},
        {"turn": 1},
        [],
    ],
)
def test_what_is_no_label_is_refused(viewed: Viewed, body: Any) -> None:
    answer = viewed.post(f"/label/{viewed.key('one')}", body)
    assert answer.status_code == 400 and answer.json()["error"]
    assert not (viewed.root / "labels.csv").exists()


def test_too_much_is_refused(viewed: Viewed) -> None:
    body = {"turn": 1, "attempt": 1, "failure": "x" * 200_000}
    answer = viewed.post(f"/label/{viewed.key('one')}", body)
    assert answer.status_code == 400 and "too large" in answer.json()["error"]


def test_a_file_that_holds_no_labels_is_told_and_left_alone(viewed: Viewed) -> None:
    (viewed.root / "labels.csv").write_text("name,price\nx,3\n")
    page = viewed.get(f"/run/{viewed.key('one')}")
    assert page.status_code == 200 and "no column is called" in page.text
    answer = viewed.post(f"/label/{viewed.key('one')}", {"turn": 1, "attempt": 1, "damaged": True})
    assert answer.status_code == 400 and "no column is called" in answer.json()["error"]
    assert (viewed.root / "labels.csv").read_text() == "name,price\nx,3\n"


def test_a_newline_does_not_make_a_row(viewed: Viewed) -> None:
    viewed.post(f"/label/{viewed.key('one')}", {"turn": 1, "attempt": 1, "failure": "a\nrun,1,1,yes,,,x,"})
    assert len(viewed.labels()) == 2
