"""What the summaries of runs are worth: counts, first mentions, hallucinated confidence, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.runs import HOSTILE, Writer, degraded

from turngate.agent.reasoning import READERS, ReaderResult, SummaryReading, Unread
from turngate.picture import encode_png
from turngate.traces.analysis.run import RunView, read_run
from turngate.traces.analysis.study import LoadedRun, StudyRun, Table, agreement, answer_reasoning, kappa

READER = READERS.build(READERS.configure("lexicon", "reader"))

SURE = "The result is identical to the input."
CLEANED = "I removed the noise."
NOTICED = "There is visible noise. The result is identical to the input."
PLAN = "I will add an apple."


def run_of(path: Path, rows: Sequence[tuple[str | None, float | None]], **settings: Any) -> RunView:
    """One accepted turn per (summary, damage); damage 0.5 and above counts as damaged."""
    writer = Writer(path, size=24, **{"evaluators": {"brisque": "lower"}, **settings})
    for turn, (text, damage) in enumerate(rows, 1):
        writer.attempt(
            turn, image=encode_png(degraded(writer.origin, 0.1 + turn / 50, turn)), damage=damage, reasoning=text,
            scores={"brisque": 40.0 if text and "noise" in text else 10.0},
        )  # fmt: skip
    return RunView.load(writer.close())


def measured(origin: str, view: RunView) -> LoadedRun:
    return LoadedRun(StudyRun("arm", False, origin, "", "", 1, view.folder.path), view, origin, origin)


def test_every_attempt_is_in_one_of_four_counts(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", size=24, evaluators={})
    picture = encode_png(degraded(writer.origin, 0.3, 1))
    for turn, text in enumerate((SURE, None, "  \n", "画像は同じです。", HOSTILE), 1):
        writer.attempt(turn, image=picture, scores={}, reasoning=text, verdict="reject", action="skip")
    writer.attempt(6, image=None, scores={}, reasoning="There is noise.", verdict="reject", action="skip")
    found = read_run(RunView.load(writer.close()), READER)
    assert [one.status for one in found.attempts] == ["read", "missing", "missing", "unread", "unread", "no_image"]
    assert found.counts.model_dump() == {"read": 1, "unread": 2, "missing": 2, "no_image": 1}
    assert found.first_mention_turn is None, "a summary without an image is not looked at"
    assert found.attempts[1].mentions_damage is None, "unknown is not False"
    assert found.attempts[3].evidence == ["language: not in English"]


def test_first_mention_of_any_damage_and_of_each_kind(tmp_path: Path) -> None:
    rows = [(SURE, 0.1), (CLEANED, 0.6), ("A green tint shows.", 0.7), ("Noise and a green tint.", 0.8)]
    found = read_run(run_of(tmp_path / "run", rows), READER)
    assert (found.first_mention_turn, found.first_damaged_turn, found.lag) == (3, 2, 1)
    assert found.first_mention_of == {"colour": 3, "noise": 4}
    assert found.attempts[1].evidence == ["denies_damage: noise"], "removed noise is not a mention"


def test_hallucinated_confidence_by_hand(tmp_path: Path) -> None:
    """Damaged and read: sure, cleaned, noticed, plan: 2 of 4. Sound and read: sure: 1 of 1. The rest does not count."""
    rows = [(SURE, 0.9), (CLEANED, 0.9), (NOTICED, 0.9), (PLAN, 0.9), (SURE, 0.1), (SURE, None), (None, 0.9)]
    answer = answer_reasoning("arm", [measured("a", run_of(tmp_path / "run", rows))], READER)
    assert (answer.hallucinated_confidence.value, answer.confident_when_sound.value) == (2 / 4, 1.0)
    assert answer.claims_success.value == 4 / 6
    assert (answer.counts.read, answer.counts.missing) == (6, 1)
    assert (answer.first_mentions, answer.never_mentioned, answer.lags) == ([3], 0, [2])
    truth = answer.with_truth
    assert (truth.both, truth.summary_only, truth.other_only, truth.neither, truth.candidates) == (1, 0, 3, 1, 5)
    assert (truth.precision.value, truth.recall.value) == (1.0, 1 / 4)
    assert truth.kappa.value == pytest.approx((2 / 5 - 8 / 25) / (1 - 8 / 25))


def test_without_a_truth_there_is_no_hallucination_and_no_agreement(tmp_path: Path) -> None:
    view = run_of(tmp_path / "run", [(SURE, None), (NOTICED, None)], truth=False)
    answer = answer_reasoning("arm", [measured("a", view)], READER)
    assert answer.hallucinated_confidence.value is None
    assert answer.with_truth.candidates == 0
    assert (answer.with_truth.precision.value, answer.with_truth.kappa.value) == (None, None)
    assert answer.mentions_damage.value == 1 / 2


def test_a_run_without_summaries_is_not_one_that_never_mentions_damage(tmp_path: Path) -> None:
    silent = measured("a", run_of(tmp_path / "a", [(None, 0.9)] * 2))
    sure = measured("b", run_of(tmp_path / "b", [(SURE, 0.9)] * 2))
    answer = answer_reasoning("arm", [silent, sure], READER)
    assert (answer.never_mentioned, answer.first_mention, answer.runs) == (1, None, 2)
    assert answer.hallucinated_confidence.by_origin == {"b": 1.0}, "an origin without summaries says nothing"
    assert answer.hallucinated_confidence.value == 1.0


def test_agreement_with_evaluators_and_the_gate(tmp_path: Path) -> None:
    """Every candidate whose summary mentions noise has the worse score; the gate, which accepts all, never agrees."""
    runs = [measured(name, run_of(tmp_path / name, [(SURE, 0.1), (NOTICED, 0.9), (SURE, 0.9)])) for name in "ab"]
    answer = answer_reasoning("arm", runs, READER)
    assert answer.with_evaluators["brisque"].auc.value == 1.0
    assert answer.with_evaluators["brisque"].candidates == 6
    assert (answer.with_gate.candidates, answer.with_gate.precision.value, answer.with_gate.recall.value) == (
        6,
        0.0,
        None,
    )
    assert answer.with_gate.kappa.value == 0.0


def test_what_another_rule_decided_is_no_verdict_of_the_gate(tmp_path: Path) -> None:
    view = run_of(tmp_path / "run", [(NOTICED, 0.9)])
    decision = view.attempts[0].decision.model_copy(update={"rule": "on_unscored:reject", "verdict": "reject"})
    object.__setattr__(view.attempts[0], "decision", decision)
    assert answer_reasoning("arm", [measured("a", view)], READER).with_gate.candidates == 0


def test_claims_to_have_added_something_are_held_against_the_simulators_record(tmp_path: Path) -> None:
    """By hand: right, nothing added, replaced, a row -> 3 of 4 wrong; two claimed and a row came along: not known."""
    writer = Writer(tmp_path / "run", size=24, evaluators={})
    claims = [
        ("I added one apple.", "none"), ("I added one apple.", "nothing_added"), ("I added one pear.", "replaced"),
        ("I added an apple.", "row_too_many"), ("I added two apples.", "row_too_many"), ("Done, as is.", "none"),
    ]  # fmt: skip
    for turn, (text, failure) in enumerate(claims, 1):
        picture = encode_png(degraded(writer.origin, 0.1, turn))
        writer.attempt(turn, image=picture, scores={}, reasoning=text, object_failure=failure)
    writer.attempt(7, image=encode_png(writer.origin // 2), scores={}, reasoning="I added one apple.")
    answer = answer_reasoning("arm", [measured("a", RunView.load(writer.close()))], READER)
    assert (answer.added_checked, answer.added_wrong.value) == (4, 3 / 4)


class Counting:
    """A reader that remembers what it was given; every text mentions damage or fails."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []

    def read(self, texts: Sequence[str | None]) -> list[ReaderResult]:
        self.seen += texts
        return [
            Unread("failed", "time-out") if text == PLAN else SummaryReading(mentions_damage=True) for text in texts
        ]


def test_any_reader_can_be_plugged_in_and_reads_equal_summaries_once(tmp_path: Path) -> None:
    runs = [measured(name, run_of(tmp_path / name, [(SURE, 0.9), (PLAN, 0.9), (SURE, 0.9)])) for name in "ab"]
    reader = Counting()
    answer = answer_reasoning("arm", runs, reader)
    assert reader.seen == [SURE, PLAN]
    assert (answer.counts.read, answer.counts.unread) == (4, 2)
    assert answer.with_truth.recall.value == 1.0
    assert answer.added_checked == 0


def test_the_intervals_come_from_the_origins(tmp_path: Path) -> None:
    view = {
        "a": [run_of(tmp_path / "a", [(SURE, 0.9)])],
        "b": [run_of(tmp_path / f"b{number}", [(NOTICED, 0.9)]) for number in range(3)],
    }
    runs = [measured(origin, one) for origin, views in view.items() for one in views]
    found = answer_reasoning("arm", runs, READER).hallucinated_confidence
    assert (found.value, found.low, found.clusters) == (1 / 2, None, 2), "every origin weighs the same"
    assert found.by_origin == {"a": 1.0, "b": 0.0}


pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


@given(pairs)
def test_kappa_is_that_of_its_definition(found: list[tuple[bool, bool]]) -> None:
    """From the two columns as such, without the table."""
    value = kappa(Table.of(found))
    if not found:
        assert value is None
        return
    said, other = np.array(found).T
    expected = np.mean(said) * np.mean(other) + np.mean(~said) * np.mean(~other)
    if expected == 1:
        assert value is None
    else:
        assert value == pytest.approx((np.mean(said == other) - expected) / (1 - expected))


def test_kappa_of_a_published_example() -> None:
    """Two readers, 50 cases: 20 yes by both, 15 no by both, 5 and 10 apart; kappa 0.4."""
    assert kappa(Table(both=20, summary=5, other=10, neither=15)) == pytest.approx(0.4)
    assert kappa(Table(both=3)) is None, "chance alone would agree wholly"


@given(st.dictionaries(st.sampled_from("abc"), st.lists(pairs.map(Table.of), max_size=3)))
def test_agreement_adds_up_its_tables(groups: dict[str, list[Table]]) -> None:
    found = agreement(groups)
    assert found.candidates == found.both + found.summary_only + found.other_only + found.neither
    assert found.candidates == sum(table.candidates for tables in groups.values() for table in tables)
    sums = [sum(tables, start=Table()) for tables in groups.values()]
    shares = [one.both / (one.both + one.summary) for one in sums if one.both + one.summary]
    assert found.precision.value == (pytest.approx(sum(shares) / len(shares)) if shares else None)
