"""The list of runs and studies: filter, order, pages, and nothing that acts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams
from tests.traces.runs import HOSTILE, Writer, degraded, study_of

from turngate.pages.viewer import VERDICTS, Index, Order, Query
from turngate.picture import encode_png

from .conftest import Viewed, view


def places(text: str) -> list[str]:
    """Places in the order of the list."""
    return re.findall(r'<th scope="row" role="rowheader"><a href="[^"]+">\s*<bdi[^>]*>([^<]*)</bdi>', text)


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=DEEP", ["deep/c"]),
        ("q=sharpener threshold&kind=run&order=name&down=0", ["a", "b", "deep/c"]),
        ("q=simulated&kind=run", ["a"]),
        ("editor=sharpener-1&gate=threshold&order=name&down=0", ["a", "b", "deep/c"]),
        ("editor=sharpener", []),
        ("gate=hold", []),
        ("q=nothing-like-it", []),
        ("kind=study", ["study"]),
        ("kind=run&order=turns&down=1", ["deep/c", "a", "b"]),
        ("kind=run&order=cost&down=0", ["b", "a", "deep/c"]),
        ("kind=run&status=complete&order=name&down=1", ["deep/c", "b", "a"]),
        ("status=running", []),
        ("q=sound", ["study"]),
        ("kind=%3Cscript%3E&order=__class__&page=-7&down=x&q=deep&status=x&verdict=x", ["deep/c"]),
    ],
)
def test_filter_and_order(folder: Path, query: str, expected: list[str]) -> None:
    assert places(view(folder).get(f"/?{query}").text) == expected


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """Runs that differ in what got through, one without a truth and one that cannot be read."""
    root = tmp_path_factory.mktemp("damaged") / "runs"
    fates = {"sound": "ss", "early": "ddsd", "late": "ssdds", "caught": "sccs", "unmeasured": "ss", "torn": "s"}
    for number, (name, turns) in enumerate(fates.items()):
        writer = Writer(root / name, size=16, turns=len(turns), truth=name != "unmeasured", name=name)
        for turn, fate in enumerate(turns, 1):
            keep = fate != "c"
            writer.attempt(
                turn, image=encode_png(degraded(writer.origin, 0.2, 10 * number + turn)), scores={},
                damage=0.1 if fate == "s" else 0.9, verdict="accept" if keep else "reject",
                action="accept" if keep else "skip", cost_usd=0.1 if name in ("late", "sound") else None,
            )  # fmt: skip
        writer.close()
    (root / "torn" / "ledger.sqlite").write_bytes(b"torn")
    study_of(root / "study", {"sound": root / "sound"})
    return view(root)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("propagates", ["early", "late"]),
        ("goes_on", ["caught", "sound"]),
        ("stalls", []),
        ("not_told", ["unmeasured"]),
    ],
)
def test_the_verdict_is_asked_for(damaged: Viewed, verdict: str, expected: list[str]) -> None:
    assert places(damaged.get(f"/?verdict={verdict}&order=name&down=0").text) == expected
    assert verdict in VERDICTS


@pytest.mark.parametrize(
    ("order", "known", "unknown"),
    [
        ("exposure", [["caught", "sound"], ["late"], ["early"]], ["study", "torn", "unmeasured"]),
        ("progress", [["early"], ["caught"], ["late"], ["sound"]], ["study", "torn", "unmeasured"]),
        ("last_new", [["sound", "unmeasured"], ["caught", "early"], ["late"]], ["study", "torn"]),
        ("verdict", [["caught", "sound"], ["unmeasured"], ["early", "late"]], ["study", "torn"]),
        ("turns", [["sound", "unmeasured"], ["caught", "early"], ["late"]], ["study", "torn"]),
        ("cost", [["sound"], ["late"]], ["caught", "early", "study", "torn", "unmeasured"]),
        ("status", [["caught", "early", "late", "sound", "unmeasured"], ["torn"]], ["study"]),
        ("gate", [["caught", "early", "late", "sound", "torn", "unmeasured"]], ["study"]),
    ],
)
def test_what_is_not_known_stands_last_both_ways(
    damaged: Viewed, order: str, known: list[list[str]], unknown: list[str]
) -> None:
    up = [name for group in known for name in group]
    down = [name for group in reversed(known) for name in group]
    assert places(damaged.get(f"/?order={order}&down=0").text) == up + unknown
    assert places(damaged.get(f"/?order={order}&down=1").text) == down + unknown


def test_what_is_told_of_the_gate(damaged: Viewed) -> None:
    text = damaged.get("/?kind=run&order=name&down=0").text

    def told(name: str) -> list[str]:
        row = text.split(f">{name}</bdi>")[1].split("</tr>")[0]
        cells = re.findall(r'data-of="(?:verdict|progress|exposure|last new)">(.*?)</td>', row, re.DOTALL)
        return [re.sub("<[^>]*>", "", cell).strip() for cell in cells]

    assert told("early") == ["propagates", "25 per 100", "75 %", "turn 4"]
    assert told("late") == ["propagates", "60 per 100", "40 %", "turn 5"]
    assert told("caught") == ["goes on", "50 per 100", "0 %", "turn 4"]
    assert told("unmeasured") == ["not told", "-", "-", "turn 2"]
    assert told("torn") == ["-", "-", "-", "-"]


def test_the_whole_folder_is_sorted_and_not_the_page(damaged: Viewed) -> None:
    index = Index(damaged.root.resolve(), page_size=2)
    seen = [
        listed.listing.folder.place
        for page in (1, 2, 3, 4)
        for listed in index.find(Query(order="exposure", page=page)).rows
    ]
    assert seen == ["early", "late", "caught", "sound", "study", "torn", "unmeasured"]


def test_the_choices_are_those_that_there_are(damaged: Viewed) -> None:
    text = damaged.get("/?gate=gone").text
    assert '<option value="sharpener-1">sharpener-1</option>' in text
    assert '<option value="gone" selected>gone</option>' in text, "what the address asks for stays chosen"
    assert "Nothing matches" in text and "Show all" in text


@given(
    st.builds(
        Query,
        q=st.text(max_size=20).filter(lambda text: text.isprintable()),
        kind=st.sampled_from(["", "run", "study"]),
        status=st.sampled_from(["", "failed"]),
        editor=st.sampled_from(["", "a&b=c", "ä 日本"]),
        verdict=st.sampled_from(list(VERDICTS)),
        order=st.sampled_from([*get_args(Order), "score.drift", "score.my judge & co"]),
        down=st.booleans(),
        page=st.integers(1, 9999),
        columns=st.sampled_from([(), ("verdict",), ("tags", "cost", "score.a,b", "score.ä=&")]),
    )
)
def test_the_address_says_it_all(query: Query) -> None:
    assert Query.read(QueryParams(query.address[1:])) == query
    other = query.sorted_by("exposure")
    assert (other.page, other.q) == (1, query.q)
    assert other.sorted_by("exposure").down is not other.down


def test_newest_first_goes_by_what_the_run_says(folder: Path) -> None:
    for number, name in enumerate(("deep/c", "a", "b")):
        file = folder / name / "run.json"
        raw = json.loads(file.read_text())
        file.write_text(json.dumps({**raw, "created": f"2026-11-{20 - number}T10:00:00+00:00"}))
    assert places(view(folder).get("/?kind=run").text) == ["deep/c", "a", "b"]


def test_hidden_folders_are_left_alone(folder: Path) -> None:
    shutil.copytree(folder / "a", folder / ".venv" / "a")
    assert len(places(view(folder).get("/").text)) == 4


def test_somebody_elses_run_json_hides_nothing(folder: Path) -> None:
    (folder / "run.json").write_text('{"scripts": {}}')
    text = view(folder).get("/").text
    assert {"a", "b", "deep/c", "study"} < set(places(text))
    assert "run.json is not turngate" in text


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
    index = Index(folder.resolve(), fresh_seconds=0)
    before = {listed.listing.folder.place: listed.listing for listed in index.find(Query()).rows}
    raw = json.loads((folder / "a" / "run.json").read_text())
    raw["config"]["scenario"]["type"] = "denoise"
    (folder / "a" / "run.json").write_text(json.dumps(raw))
    shutil.rmtree(folder / "b")
    after = {listed.listing.folder.place: listed.listing for listed in index.find(Query()).rows}
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


def test_columns_and_scores(damaged: Viewed, tmp_path: Path) -> None:
    """A score is that of the image that stands; sorted by it, a run without one comes last."""
    root = tmp_path / "runs"
    for name, values in {"low": (50.0, 10.0), "high": (5.0, 40.0), "none": (None, None)}.items():
        writer = Writer(root / name, size=16, turns=2, evaluators={"brisque": "lower"}, name=name)
        for turn, value in enumerate(values, 1):
            scores = {} if value is None else {"brisque": value}
            writer.attempt(turn, image=encode_png(degraded(writer.origin, 0.1 * turn, turn)), scores=scores)
        writer.close()
    viewed = view(root)
    text = viewed.get("/?order=score.brisque&down=1&columns=score.brisque&columns=gate&columns=nonsense").text
    assert places(text) == ["high", "low", "none"]
    assert re.findall(r'data-of="([^"]*)"', text) == ["gate", "brisque"] * 3
    assert "score.brisque" not in re.findall(r'value="([^"]*)" checked', viewed.get("/").text), "not by itself"
    assert places(viewed.get("/?order=score.brisque&down=0").text) == ["low", "high", "none"]


def test_tags_and_notes_are_kept_found_and_taken_back(viewed: Viewed) -> None:
    path = f"/note/{viewed.key('one')}"
    assert viewed.post(path, {"tags": ["Paper", "Paper", " b "], "note": "look <here>"}).json() == {"saved": True}
    for query in ("q=paper", "q=look", "columns=tags"):
        text = viewed.get(f"/?{query}").text
        assert '<span class="tag">Paper</span>' in text and places(text) == ["one"]
    assert "look &lt;here&gt;" in viewed.get(f"/run/{viewed.key('one')}").text
    with (viewed.root / "notes.jsonl").open("a") as file:
        file.write('{"of": "one", "tags": ["half')  # a full disk
    assert "Paper" in viewed.get("/").text
    viewed.post(path, {})
    assert 'class="tag"' not in viewed.get("/").text
    assert len((viewed.root / "notes.jsonl").read_text().splitlines()) == 3, "nothing is rewritten"


@pytest.mark.parametrize(
    "body", [{"tags": ["a,b"]}, {"tags": [""]}, {"tags": "a"}, {"note": "x" * 4001}, {"by": "me"}, []]
)
def test_what_is_no_note_is_refused(viewed: Viewed, body: object) -> None:
    assert viewed.post(f"/note/{viewed.key('one')}", body).status_code == 400
    assert not (viewed.root / "notes.jsonl").exists()


def test_runs_side_by_side(damaged: Viewed) -> None:
    """What differs in their settings, what stood after the same turns, the numbers of each; two runs at least."""
    keys = [damaged.key(name) for name in ("early", "caught")]
    text = damaged.get("/compare?" + "&".join(f"run={key}" for key in keys)).text
    assert re.findall(r'<th scope="row">([^<]*)</th>', text)[-3:] == ["origin", "after turn 1", "after turn 4"]
    row = text.split('<th scope="row">damage exposure</th>')[1].split("</tr>")[0]
    assert re.findall("<td>([^<]*)</td>", row) == ["75 %", "0 %"]
    assert "<code>name</code>" in text and "<code>turns</code>" not in text, "both have four turns"
    for several in (keys[:1], [], [*keys, "0123456789abcdef"]):
        answer = damaged.get("/compare?" + "&".join(f"run={key}" for key in several))
        assert answer.status_code in (400, 404)
        assert "choose 2 to 6 runs" in answer.text or "no such run" in answer.text
