"""Prices and keys."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from turngate.errors import MissingKey
from turngate.providers.calling import KeyName, missing_key, read_key
from turngate.providers.prices import Prices, Tokens, cost, known_prices


def test_an_image_of_nano_banana_pro_costs_what_is_published() -> None:
    """1120 image tokens are one 1K or 2K image: 13.4 cents in the published list."""
    prices = known_prices("gemini-3-pro-image")
    assert cost(Tokens(0, 0, 0, 1120), prices) == pytest.approx(0.1344)


def test_every_kind_of_token_has_its_price() -> None:
    prices = Prices(text_input=1, image_input=10, text_output=100, image_output=1000)
    assert cost(Tokens(1_000_000, 100_000, 10_000, 1_000), prices) == pytest.approx(1 + 1 + 1 + 1)


def test_an_unknown_split_or_model_has_no_cost() -> None:
    prices = known_prices("gemini-nano-banana-2.1")
    assert cost(Tokens(10, None, 10, 10), prices) is None
    assert known_prices("a-model-of-tomorrow") is None
    assert cost(Tokens(1, 1, 1, 1), None) is None


def test_the_split_of_tokens_is_known_where_both_numbers_are() -> None:
    assert Tokens.split(100, 60, 30, 0) == Tokens(40, 60, 30, 0)
    assert Tokens.split(100, None, None, 0) == Tokens(None, None, None, 0)


def test_a_numbered_version_has_the_price_of_its_model() -> None:
    assert known_prices("gemini-3-pro-image-001") == known_prices("gemini-3-pro-image")


def test_the_first_key_that_is_set_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRST_KEY", raising=False)
    monkeypatch.setenv("SECOND_KEY", " secret \n")
    assert read_key(("FIRST_KEY", "SECOND_KEY"), "editor x") == "secret"
    assert missing_key(("FIRST_KEY", "SECOND_KEY")) is None


def test_a_missing_key_says_what_to_export(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", "")
    with pytest.raises(MissingKey, match=r"editor x needs an API key: export FIRST_KEY=\.\.\."):
        read_key(("FIRST_KEY",), "editor x")
    assert read_key(("FIRST_KEY",), "editor x", optional=True) == "none"
    assert missing_key(("FIRST_KEY",)) == "export FIRST_KEY=..."


def test_a_variable_that_would_not_be_redacted_cannot_hold_a_key() -> None:
    names: TypeAdapter[str] = TypeAdapter(KeyName)
    assert names.validate_python("MY_API_KEY") == "MY_API_KEY"
    with pytest.raises(ValidationError):
        names.validate_python("PASSPHRASE")
