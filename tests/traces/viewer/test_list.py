"""The list of runs and studies: filter, order, pages, and nothing that acts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.traces._runs import HOSTILE, Writer, study_of

from turngate.traces.viewer.index import Index, Query

from .conftest import view


def places(text: str) -> list[str]:
    """Places in the order of the list."""
    return re.findall(r'<tr><th scope="row"><a href="[^"]+">\s*<bdi[^>]*>([^<]*)</bdi>', text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs and a study, made one after the other."""
    root = tmp_path / "runs"
    for turns, name in enumerate(("b", "a", "deep/c"), 1):
        writer = Writer(root / name, size=48, turns=turns, simulated=name == "a")
        for turn in range(1, turns + 1):
            writer.attempt(turn, image=None, scores={}, verdict="reject", action="skip", cost_usd=0.5,
                           status_after="complete" if turn == turns else "running")  # fmt: skip
        writer.close()
    study_of(root / "study", {"b": root / "b"}, "Is it sound?")
    return root


def test_everything_is_listed_with_how_it_stands(folder: Path) -> None:
    text = view(folder).get("/").text
    assert set(places(text)) == {"a", "b", "deep/c", "study"}
    assert text.count('class="state complete"') == 3
    assert text.count('class="state simulated"') == 1
    assert "Is it sound?" in text and "1.5000" in text
    assert "4 of 4" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=DEEP", ["deep/c"]),
        ("q=sharpener threshold&kind=run&order=name&down=0", ["a", "b", "deep/c"]),
        ("q=nothing-like-it", []),
        ("kind=study", ["study"]),
        ("kind=run&order=turns&down=1", ["deep/c", "a", "b"]),
        ("kind=run&order=cost&down=0", ["b", "a", "deep/c"]),
        ("kind=run&status=complete&order=name&down=1", ["deep/c", "b", "a"]),
        ("status=running", []),
        ("q=sound", ["study"]),
        ("kind=%3Cscript%3E&order=__class__&page=-7&down=x&q=deep", ["deep/c"]),
    ],
)
def test_filter_and_order(folder: Path, query: str, expected: list[str]) -> None:
    viewed = view(folder)
    viewed.get("/")  # looks at every ledger once
    assert places(viewed.get(f"/?{query}").text) == expected


def test_pages_hold_all_of_many(tmp_path: Path) -> None:
    one = Writer(tmp_path / "runs" / "r000", size=48, turns=1).close()
    for number in range(1, 250):
        shutil.copytree(one, tmp_path / "runs" / f"r{number:03}")
    viewed = view(tmp_path / "runs")
    seen = [name for page in (1, 2, 3) for name in places(viewed.get(f"/?order=name&down=0&page={page}").text)]
    assert seen == [f"r{number:03}" for number in range(250)]
    first, last = (viewed.get(f"/?page={page}").text for page in (1, 99))
    assert 'rel="next"' in first and 'rel="prev"' not in first
    assert "page 3 of 3" in last and 'rel="next"' not in last


def test_what_changes_is_seen_and_what_does_not_is_not_read_again(folder: Path) -> None:
    index = Index(folder.resolve())
    index._scanned -= 10
    before = {entry.spot.place: entry for entry, _ in index.find(Query()).rows}
    raw = json.loads((folder / "a" / "run.json").read_text())
    raw["config"]["scenario"]["type"] = "denoise"
    (folder / "a" / "run.json").write_text(json.dumps(raw))
    shutil.rmtree(folder / "b")
    index._scanned -= 10
    after = {entry.spot.place: entry for entry, _ in index.find(Query()).rows}
    assert set(after) == {"a", "deep/c", "study"}
    assert after["a"].scenario == "denoise"
    assert after["deep/c"] is before["deep/c"]


def test_names_are_inert(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "|")[:80]
    Writer(tmp_path / "runs" / name, size=48, turns=1).close()
    viewed = view(tmp_path / "runs")
    text = viewed.get("/").text + viewed.get("/?q=" + "%3Cscript%3Ealert(1)%3C/script%3E").text
    assert "<script>document" not in text and "<script>alert" not in text
    assert "\x1b" not in text and "\u202e" not in text
    assert "&lt;script&gt;" in text


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    assert "No run and no study lies here yet" in view(tmp_path).get("/").text


def test_keys_in_a_question_are_not_told(folder: Path) -> None:
    """C50."""
    study_of(folder / "study", {"b": folder / "b"}, "key AIzaSyA1234567890abcdefghijklmnop", "sk-" + "a1B2" * 10)
    viewed = view(folder)
    for path in ("/", f"/study/{viewed.key('study', 'study')}"):
        text = viewed.get(path).text
        assert "AIzaSyA" not in text and "a1B2a1B2" not in text
