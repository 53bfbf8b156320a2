"""The answer in words."""

from __future__ import annotations

import pytest
from tests.traces.analysis.worlds import Chain, no_gate, rolls_back, stalls

from turngate.traces.analysis.run import run_verdict
from turngate.traces.records import RunStatus

RUINED = Chain(6).add("a").add("b", 0.9).add("c", 0.9).add("x", 0.9, "restart").add("d").add("e")
FORCED = Chain(2).add("a").add("b", 0.9, "force_accept")


@pytest.mark.parametrize(
    ("chain", "status", "kind", "words"),
    [
        (
            no_gate(100, 3), "complete", "propagates",
            "propagates: a damaged image stands after 97 of 100 turns, from turn 4 on; 3 new sound images",
        ),
        (
            RUINED, "complete", "propagates",
            ("propagates: a damaged image stands after 2 of 6 turns, from turn 2 on, none after turn 3; "
            "3 new sound images"),
        ),
        (
            FORCED, "complete", "propagates",
            "propagates: a damaged image stands after 1 of 2 turns, turn 2; 1 new sound image",
        ),
        (
            Chain(20).add("a", 0.9).repeat(19, "x", 0.9, "skip"), "complete", "propagates",
            ("propagates: a damaged image stands after 20 of 20 turns, from turn 1 on; no new sound images; "
            "nothing new since turn 1"),
        ),
        (
            stalls(100, 3), "complete", "stalls",
            "stalls: nothing new since turn 3 of 100, sound; 3 new sound images",
        ),
        (
            Chain(30).repeat(30, "x", 0.0, "skip"), "complete", "stalls",
            "stalls: no new image in 30 turns, the origin stands untouched",
        ),
        (
            Chain(30).repeat(4, "a{}").add("x", 0.9, "stop"), "attempts_exhausted", "stalls",
            ("stalls: nothing new since turn 4 of 30, sound; 4 new sound images; the run ran out of attempts "
            "after turn 5 of 30"),
        ),
        (
            rolls_back(100, 3), "complete", "goes_on",
            "catches and goes on: 75 new sound images in 100 turns, exposure 0",
        ),
        (
            Chain(30).repeat(25, "a{}").repeat(5, "x", 0.9, "skip"), "complete", "goes_on",
            "catches at the end: 25 new sound images in 30 turns, exposure 0",
        ),
        (
            Chain(6).repeat(3, "a{}").add("x", 0.9, "restart").add("a1").add("a2"), "complete", "goes_on",
            "catches and goes on: 5 new sound images (3 different) in 6 turns, exposure 0",
        ),
        (
            Chain(5).repeat(5, "a{}"), "complete", "goes_on",
            "goes on: 5 new sound images in 5 turns, no candidate was damaged",
        ),
        (
            Chain(20, measured=False).add("a").repeat(19, "x", 0.9, "skip"), "complete", "not_told",
            "not told: no truth was measured; 1 new image in 20 turns, nothing new since turn 1",
        ),
        (
            Chain(4).add("a").add("b", None).add("c").add("d"), "complete", "goes_on",
            "goes on: 3 new sound images in 4 turns, no candidate was damaged; the truth after 1 turn is not known",
        ),
        (
            Chain(30).repeat(3, "a{}").add("x", 0.9, "skip").add("y", beyond=True), "complete", "goes_on",
            ("catches: 3 new sound images in 4 turns, exposure 0; from turn 5 on the record tells no more: it was made "
            "from other images"),
        ),
        (
            Chain(3).add("a", beyond=True), "complete", "not_told",
            "not told; from turn 1 on the record tells no more: it was made from other images",
        ),
    ],
)  # fmt: skip
def test_words_and_kind(chain: Chain, status: RunStatus, kind: str, words: str) -> None:
    found = run_verdict(chain.answer(), status)
    assert (found.kind, found.words) == (kind, words)


def test_a_run_at_work_is_told_so_far() -> None:
    chain = Chain(100).add("a").add("x", 0.9, "skip")
    assert run_verdict(chain.answer(going_on=True), "running").words == (
        "so far catches: 1 new sound image in 2 turns, exposure 0"
    )
    assert run_verdict(Chain(5).answer(going_on=True), "running").kind == "not_told"


def test_a_gate_that_refuses_everything_did_not_succeed() -> None:
    """What many rejections look like in a rate of catches is a stall in the verdict."""
    found = run_verdict(Chain(40).repeat(40, "x{}", 0.9, "skip").answer(), "complete")
    assert found.kind == "stalls"
