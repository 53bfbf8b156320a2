"""Who is answered, and what can be reached."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.traces.runs import Writer, study_of

from turngate import RunView

from .conftest import TOKEN, Viewed, view


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/static/report.css", f"/x/{TOKEN}/"]
)
def test_without_the_token_nothing_is_told(viewed: Viewed, path: str) -> None:
    answer = viewed.client.get(path)
    assert answer.status_code == 403
    assert str(viewed.root) not in answer.text and TOKEN not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "10.0.0.1:8000"])
def test_another_name_of_this_machine_is_refused(viewed: Viewed, host: str) -> None:
    assert viewed.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000"])
def test_loopback_names_are_answered(viewed: Viewed, host: str) -> None:
    assert viewed.get("/", headers={"host": host}).status_code == 200


def test_another_page_cannot_write(viewed: Viewed) -> None:
    image = RunView.load(viewed.root / "one").attempts[0].row.image
    path, body = f"/label/{viewed.key('one')}", {"image": image, "damaged": True}
    assert viewed.post(path, body, headers={"origin": "http://evil.example"}).status_code == 403
    assert viewed.client.post(f"/{path}", json=body).status_code == 403
    assert viewed.get(path).status_code == 405, "reading an address never writes"
    assert not (viewed.root / "labels.csv").exists()
    assert viewed.post(path, body, headers={"origin": "http://127.0.0.1:8000"}).status_code == 200


def test_every_answer_carries_the_policy(viewed: Viewed) -> None:
    for path in ("/", f"/run/{viewed.key('one')}", "/nothing", "/static/viewer.js"):
        answer = viewed.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "<script>" not in answer.text, "no script stands in a page"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    return view(tmp_path_factory.mktemp("empty"))


@pytest.mark.slow
@given(name=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_only_the_viewers_own_files_are_static(empty: Viewed, name: str) -> None:
    assume(Path(name).suffix not in (".css", ".js"))
    plain = quote(name, safe="")
    for path in (plain, f"%2e%2e%2f{plain}", f"%2e%2e%2f%2e%2e%2f{plain}", f"%2f{plain}"):
        assert empty.get(f"/static/{path}").status_code in (403, 404), path


def test_links_out_of_the_folder_are_not_followed(viewed: Viewed, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere"
    shutil.copytree(viewed.root / "one", secret / "run")
    (viewed.root / "linked").symlink_to(secret)
    (viewed.root / "file").mkdir()
    (viewed.root / "file" / "run.json").symlink_to(secret / "run" / "run.json")
    listed = viewed.get("/").text
    assert "linked" not in listed and ">file<" not in listed


@pytest.mark.parametrize("name", ["ledger.sqlite", "images"])
def test_a_run_whose_parts_lie_elsewhere_is_not_shown(viewed: Viewed, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "elsewhere"
    (viewed.root / "one" / name).rename(outside)
    (viewed.root / "one" / name).symlink_to(outside)
    viewed = view(viewed.root)
    answer = viewed.get(f"/run/{viewed.key('one')}")
    assert answer.status_code == 400
    assert "leads out of the folder" in answer.text
    if name == "ledger.sqlite":
        assert "unreadable" in viewed.get("/").text


def test_an_image_that_is_a_link_is_not_served(viewed: Viewed, tmp_path: Path) -> None:
    run, key = RunView.load(viewed.root / "one"), viewed.key("one")
    sha = run.info.origin.image
    path = run.folder.images.path(sha)
    assert viewed.get(f"/image/{key}/{sha}").content == path.read_bytes()
    path.rename(tmp_path / path.name)
    path.symlink_to(tmp_path / path.name)
    for address in (f"/image/{key}/{sha}", f"/thumb/{key}/240/{sha}"):
        assert viewed.get(address).status_code == 400
    for name in ("..%2f..%2frun.json", "x" * 64, sha[:-1], sha.upper(), "0" * 64):
        assert viewed.get(f"/image/{key}/{name}").status_code == 404


def test_a_study_shows_no_run_outside_of_the_folder(viewed: Viewed, tmp_path: Path) -> None:
    outside = Writer(tmp_path / "outside", size=48, turns=1, name="outside").close()
    study_of(viewed.root / "study", {"mine": viewed.root / "one", "strangers-arm": outside})
    answer = viewed.get(f"/study/{viewed.key('study', 'study')}")
    assert answer.status_code == 200
    assert "1 of its runs lies outside of the folder" in answer.text
    assert "strangers-arm" not in answer.text


def test_what_cannot_be_read_is_one_line(viewed: Viewed) -> None:
    (viewed.root / "broken").mkdir()
    (viewed.root / "broken" / "run.json").write_text("[1, 2")
    (viewed.root / "half").mkdir()
    (viewed.root / "half" / "run.json").write_text(json.dumps({"run": "x"}))
    (viewed.root / "large").mkdir()
    (viewed.root / "large" / "run.json").write_text(json.dumps(["x" * 5_000_000]))
    (viewed.root / "one" / "ledger.sqlite").write_bytes(b"not a ledger" * 100)
    listed = viewed.get("/").text
    for problem in ("run.json is damaged: it is no JSON", "run.json is not turngate", "too large", "unreadable"):
        assert problem in listed
    for name in ("broken", "one"):
        answer = viewed.get(f"/run/{viewed.key(name)}")
        assert answer.status_code == 500 and "Traceback" not in answer.text
        assert "This cannot be shown" in answer.text
    assert viewed.get("/run/0123456789abcdef").status_code == 404
