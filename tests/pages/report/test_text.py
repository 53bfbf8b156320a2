"""Text that people did not write: shown whole, and nothing in it acts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.pages.report import clip, visible

HIDDEN = (
    "\x00\x07\x1b\x7f\x9b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\ufeff\u200b\u2028"
)
REORDERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@given(st.text(alphabet=st.one_of(st.characters(codec=None), st.sampled_from(HIDDEN))))
def test_nothing_stays_hidden(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    for character in shown:
        assert unicodedata.category(character) not in ("Cc", "Cs") or character in "\n\t"
        assert unicodedata.bidirectional(character) not in REORDERING


@given(st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_what_can_be_seen_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\u241b[31m"),
        ("a\u202eb", "a[U+202E]b"),
        ("one\r\ntwo", "one\ntwo"),
        ("\ud800", "[U+D800]"),
        ("\U000e0041", "[U+E0041]"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_hidden_characters_are_named(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_clip_counts_what_it_leaves_out() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcdef", 4) == "abcd ..."
    assert clip("a" * 1502, 1500) == "a" * 1500 + " ... (2 more characters in the ledger)"
