"""The lexicon reader: what summaries claim, mention and deny, and what they only tell of a request or a plan."""

from __future__ import annotations

import string
from typing import Any

import pytest
from _labelled import read_labelled, score_reader
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.agent.reasoning import LABELS, READERS, ReaderResult, SummaryReader, SummaryReading, Unread

READER: SummaryReader = READERS.build(READERS.configure("lexicon", "reader"))

LEAST = {
    "claims_success": (0.94, 0.90),
    "mentions_damage": (0.92, 0.92),
    "denies_damage": (0.96, 0.93),
    "hedges": (0.95, 0.92),
    "counts": (0.97, 0.91),
}
"""Least precision and recall; the measured ones are in docs/reasoning.md, a point above at most."""


def read(text: str) -> SummaryReading:
    found = READER.read([text])[0]
    assert isinstance(found, SummaryReading), found
    return found


def labels(text: str) -> set[str]:
    found = read(text)
    return {label for label in LABELS if getattr(found, label)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["development", "held_out"])
def test_the_labelled_texts_are_read_as_well_as_the_docs_say(name: str) -> None:
    texts = read_labelled()[name]
    assert len(texts) >= 200
    for score in score_reader(READER, texts):
        precision, recall = LEAST[score.label]
        assert score.precision is not None
        assert score.recall is not None
        assert (score.precision >= precision, score.recall >= recall) == (True, True), score


def test_no_text_is_in_both_sets() -> None:
    texts = [one.text for labelled in read_labelled().values() for one in labelled]
    assert len(set(texts)) == len(texts) >= 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is no noise, but a slight tint.", {"denies_damage", "mentions_damage"}),
        ("The noise was not removed.", {"mentions_damage"}),
        ("It is not without noise.", {"mentions_damage"}),
        ("No noise was left unremoved? No noise remains.", {"denies_damage"}),
        ("Without removing the grain, I went on.", {"mentions_damage"}),
        ("The image is noise-free.", {"denies_damage"}),
        ("I kept the grain.", {"mentions_damage"}),
        ("I will keep the existing grain.", {"mentions_damage"}),
        ("The user asked to remove the noise.", set()),
        ("I will denoise the image.", set()),
        ("To avoid introducing artefacts, I worked slowly.", set()),
        ("If there were noise, I would remove it.", set()),
        ("Is there noise?", set()),
        ("The user wants no noise. There is noise.", {"mentions_damage"}),
        ("I checked for noise. There is none.", {"denies_damage"}),
        ("I saw grain and removed it.", {"mentions_damage", "denies_damage"}),
        ("The task is to make an exact copy.", set()),
        ("The copy is exact.", {"claims_success"}),
        ("The copy is not identical.", set()),
        ("Nothing else changed.", {"claims_success"}),
        ("The details were not preserved.", {"mentions_damage"}),
        ("The copy is almost identical.", {"claims_success", "hedges"}),
        ("The wood grain runs across a static scene with polka dots.", set()),
    ],
)  # fmt: skip
def test_scope_of_denials_requests_and_plans(text: str, expected: set[str]) -> None:
    assert labels(text) == expected


def test_evidence_names_label_words_sentence_and_kind() -> None:
    found = read("All is well. The sky has **visible noise** and a green tint.")
    mentions = [finding for finding in found.findings if finding.label == "mentions_damage"]
    assert [(one.words, one.kind) for one in mentions] == [("noise", "noise"), ("green tint", "colour")]
    assert {one.sentence for one in mentions} == {"The sky has visible noise and a green tint."}
    assert found.kinds == ("colour", "noise")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I added one apple; the table holds 12 fruits.", ["+1 apple", "12 fruit"]),
        ("Three apples lie there and I added a fourth.", ["3 apple", "4 apple"]),
        ("Twenty-one cherries, one hundred grapes.", ["21 cherry", "100 grape"]),
        ("The user asked for three apples, and I will add two pears.", []),
        ("I did not add two pears.", []),
        ("I added a fourth. It took a second.", ["4"]),
        ("The image is 1024 pixels wide, this is step 3, both images are 90 % white.", []),
    ],
)
def test_counts(text: str, expected: list[str]) -> None:
    assert [str(count) for count in read(text).counts or ()] == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "empty"), ("", "empty"), (" \n\t", "empty"), ("👍 🙂 !!", "empty"), ("\u200b\u2060", "empty"),
        ("<br><p></p>", "empty"), ("画像にノイズはありません。", "language"), ("Изображение без шума.", "language"),
        ("Das Bild ist rauschfrei und gleicht dem Original.", "language"), ("12 34", "language"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_nothing(text: str | None, why: str) -> None:
    found = READER.read([text])[0]
    assert isinstance(found, Unread)
    assert found.why == why


@pytest.mark.parametrize(
    "text",
    [
        "<p>The image is <b>noisy</b>.</p>", "The image is <script>alert(1)</script>noisy.", "The image is noisy 🙂🙂",
        "**Result** The image is noisy", "- The image is noisy\n- Done", "THE IMAGE IS NOISY!!!",
        "The image is ｎｏｉｓｙ.", "The image\u00a0is noisy\u2026", "&lt;b&gt;The image is&nbsp;noisy",
        "The im\u200bage is noi\u200bsy.",
    ],
)  # fmt: skip
def test_markup_emojis_and_odd_letters_are_seen_through(text: str) -> None:
    assert labels(text) == {"mentions_damage"}


def test_contractions_and_abbreviations() -> None:
    assert labels("I can’t see any noise, it isn't blurred, e.g. the sky.") >= {"denies_damage"}
    assert labels("There are flaws, e.g. noise.") == {"mentions_damage"}


ASCII = st.text(string.ascii_letters + string.digits + " .,;:!?'\"-*#<>&\n", max_size=300)
PHRASES = st.lists(
    st.sampled_from(
        ["no", "not", "noise", "removed", "the", "I", "will", "but", ",", ".", "and", "two", "apples", "added", "user",
         "asked", "identical", "without", "never", "is", "was", "gone", "clean", "kept", "detail", "which", "?", ":"]
    ), max_size=60,
).map(" ".join)  # fmt: skip


@given(st.lists(st.none() | st.text(max_size=200) | ASCII | PHRASES, max_size=5))
@settings(max_examples=200)
def test_any_text_gets_a_reading_of_its_own(texts: list[str | None]) -> None:
    found = READER.read(texts)
    assert found == [READER.read([text])[0] for text in texts]
    for reading in found:
        if isinstance(reading, SummaryReading):
            assert {finding.label for finding in reading.findings} == {
                name for name in LABELS if getattr(reading, name)
            }
            assert reading.counts is not None


@given(PHRASES)
def test_a_question_and_a_request_say_nothing(words: str) -> None:
    """Whatever stands in one sentence without a new subject."""
    inner = words.translate(str.maketrans("", "", ".,;:?")).replace("but", "").replace(" I ", " ").replace("which", "")
    found: list[ReaderResult] = READER.read([f"The user asked for noise {inner} noise?"])
    assert isinstance(found[0], SummaryReading)
    assert not found[0].mentions_damage
    assert not found[0].claims_success


@given(st.sampled_from(LABELS), PHRASES)
def test_another_sentence_takes_no_label_away(label: str, words: str) -> None:
    says = {
        "claims_success": "The result is identical to the input.",
        "mentions_damage": "There is visible noise.",
        "denies_damage": "There is no noise at all.",
        "hedges": "It is perhaps so.",
    }[label]
    assert label in labels(f"{says}\n{words}")


def test_time_grows_with_the_length_of_a_text_not_faster() -> None:
    """Counted in calls of Python functions, which a clock cannot blur."""
    import sys

    def calls(text: str) -> int:
        number = 0

        def count(*_: Any) -> None:
            nonlocal number
            number += 1

        sys.setprofile(count)
        try:
            READER.read([text])
        finally:
            sys.setprofile(None)
        return number

    for piece in ("I removed the grain, but the sky is noisy. ", "noise ", ", and the ", "added two ", "no ", "a'"):
        short, long = (calls(piece * number) for number in (100, 800))
        assert long <= 9 * short, piece


@pytest.mark.slow
@pytest.mark.parametrize("piece", [".", "<", "<a ", "**", "\n", "#\n", "&", "(", "“", "- ", "1.", "'", "!)", "a"])
def test_hostile_repetition_is_read(piece: str) -> None:
    """100 kB each; a pattern that backtracks would not come back."""
    assert len(READER.read([piece * (100_000 // len(piece)) + "x"])) == 1
