"""Lexicons of one's own, phrases, and labelled texts of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from _labelled import read_labelled, score_reader
from hypothesis import given
from hypothesis import strategies as st

from turngate.agent.reasoning import READERS, SummaryReader, SummaryReading, Unread
from turngate.agent.reasoning.lexicon import Match, Phrases
from turngate.errors import ConfigError

GERMAN: dict[str, Any] = {
    "language": "German",
    "common": ["der", "die", "das", "und", "ist", "ich", "im", "ein"],
    "damage": {"noise": ["rauschen", "körnig*"]},
    "faithful": ["identisch"],
    "without": ["kein|keine|ohne"],
    "remove": {"done": ["entfernt"]},
    "passive": ["wurde"],
    "contrast": ["aber"],
    "finite": ["ist", "wurde", "habe"],
    "asked": ["der nutzer möchte"],
    "own": ["ich"],
    "counting": {"numbers": {"zwei": 2}, "plural_endings": {"el": "el"}},
}


def reader(path: Path, raw: Any) -> SummaryReader:
    path.write_text(raw if isinstance(raw, str) else yaml.safe_dump(raw, allow_unicode=True), encoding="utf-8")
    return READERS.build(READERS.configure({"type": "lexicon", "lexicon": str(path)}, "reader"))


def test_another_language_needs_its_own_phrases_and_no_code(tmp_path: Path) -> None:
    german = reader(tmp_path / "de.yaml", GERMAN)
    found = german.read(
        [
            "Das Bild ist identisch, ohne Rauschen.",
            "Das Rauschen wurde entfernt, aber der Himmel ist körniger.",
            "Der Nutzer möchte ein Bild ohne Rauschen.",
            "Ich habe das Rauschen entfernt: zwei Äpfel und zwei Apfel.",
            "The picture has no noise.",
        ]
    )
    said = [one if isinstance(one, SummaryReading) else None for one in found]
    assert said[0] is not None and (said[0].claims_success, said[0].denies_damage) == (True, True)
    assert said[1] is not None and (said[1].denies_damage, said[1].mentions_damage) == (True, True)
    assert said[2] == SummaryReading(counts=())
    assert said[3] is not None and [str(count) for count in said[3].counts or ()] == ["2 äpfel", "2 apfel"]
    assert found[4] == Unread("language", "not in German")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"damage": None}, "damage"),
        ({"hegdes": ["maybe"]}, "hegdes: no such field; did you mean 'hedges'"),
        ({"faithful": ["rauschen"]}, "'rauschen' is among damage.noise and among faithful"),
        ({"faithful": ["gl*ch"]}, "'gl\\*ch' is no phrase"),
        ({"faithful": ["a*"]}, "is no phrase"),
        ({"faithful": ["(gleich)"]}, "one word must not be optional"),
        ({"faithful": ["so  gleich"]}, "is no phrase"),
        ({"remove": {"gone": ["weg"]}}, "remove.gone: no such field"),
    ],
)
def test_a_mistake_in_a_lexicon_is_told_in_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        reader(tmp_path / "de.yaml", {**GERMAN, **change})
    assert "de.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_that_yaml_takes_for_something_else_stay_words(tmp_path: Path) -> None:
    text = "language: X\ncommon: [on, off]\ndamage: {noise: [yes]}\nwithout: [no]\n"
    found = reader(tmp_path / "x.yaml", text).read(["on off yes", "on off no yes"])
    assert [isinstance(one, SummaryReading) and one.mentions_damage for one in found] == [True, False]


@pytest.mark.parametrize("raw", ["", "[1, 2", "just text", "\x00"])
def test_a_file_that_is_no_lexicon(tmp_path: Path, raw: str) -> None:
    with pytest.raises(ConfigError, match="lexicon"):
        reader(tmp_path / "x.yaml", raw)


def test_an_unknown_language_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no language and no file is called 'fr'; there are: en"):
        READERS.build(READERS.configure({"type": "lexicon", "lexicon": "fr"}, "reader"))


def test_the_longest_phrase_wins_and_a_whole_word_goes_before_a_beginning() -> None:
    phrases = Phrases({"a": ["no longer", "flaw*"], "b": ["no", "flawless*", "flaw"], "c": ["no (very) _ noise"]})
    words = ["no", "longer", ",", "no", "flaws", "flawlessly", "flaw", "no", "very", "loud", "noise", "no", "noise"]
    assert [(match.role, " ".join(words[match.start : match.end])) for match in phrases.find(words)] == [
        ("a", "no longer"), ("b", "no"), ("a", "flaws"), ("b", "flawlessly"), ("b", "flaw"),
        ("c", "no very loud noise"), ("b", "no"),
    ]  # fmt: skip


words = st.sampled_from(["a", "b", "bc", "bcd", "."])


@given(
    st.dictionaries(
        st.sampled_from("xyz"), st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), max_size=3)
    ),
    st.lists(words, max_size=20),
)
def test_phrases_are_found_as_by_looking_at_every_place(groups: dict[str, list[str]], text: list[str]) -> None:
    plain = {role: [phrase for phrase in group if "." not in phrase] for role, group in groups.items()}
    owner = {phrase: role for role, group in plain.items() for phrase in group}
    unique = {role: [phrase for phrase in group if owner[phrase] == role] for role, group in plain.items()}
    expected, at = [], 0
    while at < len(text):
        ends = [end for end in range(len(text), at, -1) if " ".join(text[at:end]) in owner]
        if ends:
            expected.append(Match(owner[" ".join(text[at : ends[0]])], at, ends[0]))
        at = ends[0] if ends else at + 1
    assert Phrases(unique).find(text) == expected


def test_a_reader_is_measured_on_texts_of_ones_own(tmp_path: Path) -> None:
    """By hand: one right, one wrong and one missed of `mentions_damage`; one count right, one missed."""
    path = tmp_path / "texts.yaml"
    rows = [
        {"text": "There is noise.", "labels": ["mentions_damage"]},
        {"text": "The radio plays noise.", "labels": []},
        {"text": "The picture is a wreck.", "labels": ["mentions_damage"]},
        {"text": "Two apples and a pair of pears.", "counts": ["2 apple", "2 pear"]},
    ]
    path.write_text(yaml.safe_dump({"mine": rows}))
    english = READERS.build(READERS.configure("lexicon", "reader"))
    scores = {score.label: score for score in score_reader(english, read_labelled(path)["mine"])}
    mentions = scores["mentions_damage"]
    assert (mentions.right, mentions.wrong, mentions.missed) == (1, 1, 1)
    assert (mentions.precision, mentions.recall, mentions.f1) == (0.5, 0.5, 0.5)
    assert (scores["counts"].right, scores["counts"].missed) == (1, 1)
    assert (scores["hedges"].precision, scores["hedges"].recall, scores["hedges"].f1) == (None, None, None)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"mine": [{"text": "x", "labels": ["noise"]}]}, "mine 1.labels"),
        ({"mine": [{"text": "x", "counts": ["three apples"]}]}, "mine 1.counts: write a count as `3 apple`"),
        ({"mine": [{"words": "x"}]}, "mine 1"),
        ([1], "cannot read"),
        ({"mine": 3}, "cannot read"),
    ],
)
def test_mistakes_in_labelled_texts(tmp_path: Path, raw: Any, message: str) -> None:
    path = tmp_path / "texts.yaml"
    path.write_text(yaml.safe_dump(raw))
    with pytest.raises(ConfigError, match=message):
        read_labelled(path)
