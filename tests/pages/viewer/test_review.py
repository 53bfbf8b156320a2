"""A run that waits: what the person sees, and what their decision does."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.conftest import Config

from turngate import RunView, continue_run, start_run
from turngate.graphs.work import Review
from turngate.pages.viewer import ReviewVerdict, pending_review

from ._viewing import viewing
from .conftest import Viewed, view


@pytest.fixture
def waiting(tmp_path: Path, config: Config) -> Viewed:
    """A run that waits for a person at turn 1."""
    run = config(turns=2, gate={"type": "always_reject"}, on_reject={"attempts": 1, "then": "ask_human"})
    assert start_run(run, tmp_path / "runs" / "one").status == "waiting"
    return view(tmp_path / "runs")


def test_the_candidate_that_waits_is_shown(waiting: Viewed) -> None:
    held = pending_review(RunView.load(waiting.root / "one"))
    assert held is not None and (held.turn, held.attempt) == (1, 1)
    page = waiting.get(f"/run/{waiting.key('one')}").text
    assert "This run waits for you" in page and "turn 1, attempt 1 waits for a person" in page
    assert held.candidate is not None and f'data-image="{held.candidate}"' in page
    assert waiting.get(f"/image/{waiting.key('one')}/{held.candidate}").status_code == 200


def test_a_decision_is_passed_on(waiting: Viewed) -> None:
    body = {"accept": True, "comment": "looks fine", "turn": 1, "attempt": 1}
    assert waiting.post(f"/review/{waiting.key('one')}", body).json() == {"started": True}
    verdict = ReviewVerdict(accept=True, comment="looks fine", turn=1, attempt=1)
    assert waiting.reviews == [((waiting.root / "one").resolve(), verdict)]


def test_a_decision_about_another_attempt_is_refused(waiting: Viewed) -> None:
    continue_run(waiting.root / "one", review=Review(accept=False))
    answer = waiting.post(f"/review/{waiting.key('one')}", {"accept": True, "turn": 1, "attempt": 1})
    assert answer.status_code == 400 and "does not wait for this decision" in answer.json()["error"]
    assert waiting.reviews == []


def test_why_a_run_cannot_go_on_is_told(waiting: Viewed) -> None:
    waiting.refuse = "no key: export GEMINI_API_KEY"
    answer = waiting.post(f"/review/{waiting.key('one')}", {"accept": True, "turn": 1, "attempt": 1})
    assert (answer.status_code, answer.json()) == (400, {"error": "no key: export GEMINI_API_KEY"})


def test_a_run_that_does_not_wait_has_no_form(viewed: Viewed) -> None:
    assert "This run waits for you" not in viewed.get(f"/run/{viewed.key('one')}").text
    answer = viewed.post(f"/review/{viewed.key('one')}", {"accept": True, "turn": 1, "attempt": 1})
    assert answer.status_code == 400


def test_the_state_changes_with_every_attempt(waiting: Viewed) -> None:
    path = f"/state/{waiting.key('one')}"
    before = waiting.get(path).json()["version"]
    assert waiting.get(path).json()["version"] == before
    continue_run(waiting.root / "one", review=Review(accept=True))
    assert waiting.get(path).json()["version"] != before


@pytest.mark.slow
def test_two_who_decide_at_once_decide_once(tmp_path: Path, config: Config) -> None:
    """Nobody decides about a candidate that they have not seen: the one after it."""
    run = config(turns=3, gate={"type": "always_reject"}, on_reject={"attempts": 1, "then": "ask_human"})
    folder = tmp_path / "runs" / "one"
    assert start_run(run, folder).status == "waiting"
    verdict = json.dumps({"accept": True, "turn": 1, "attempt": 1}).encode()
    key = view(tmp_path / "runs").key("one")
    with viewing(tmp_path / "runs") as first, viewing(tmp_path / "runs") as second:

        def decide(url: str) -> int:
            try:
                with urlopen(f"{url}review/{key}", verdict) as answer:
                    return int(answer.status)
            except HTTPError as error:
                with error:
                    return error.code

        with ThreadPoolExecutor(4) as people:
            codes = sorted(people.map(decide, [first.url, first.url, second.url, second.url]))
    assert codes == [200, 400, 400, 400]
    events = [event.data for event in RunView.load(folder).events if event.kind == "review"]
    assert [(event["turn"], event["attempt"]) for event in events] == [(1, 1)]
