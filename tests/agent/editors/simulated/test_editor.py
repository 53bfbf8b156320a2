"""The simulator: what it knows about its own damage, restarts, and when its summaries first speak of noise."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.agent.editors import EDITORS
from turngate.agent.editors.simulated import SIGNATURES
from turngate.errors import ConfigError
from turngate.testing import check_editor

from ._simulated import ALL, ask, build, chain, change, damage, flat, photo, shown


@pytest.mark.parametrize("signature", ALL)
@pytest.mark.parametrize("fields", [{}, {"severity": 0}, {"severity": 20}, {"spread": 0, "recursion": 1}], ids=str)
def test_conformance(signature: str, fields: dict[str, Any]) -> None:
    check_editor(build(signature, **fields))


@pytest.mark.parametrize("signature", ALL)
def test_it_says_that_it_is_simulated(signature: str) -> None:
    editor = build(signature)
    assert (editor.simulated, editor.paid, editor.model) == (True, False, f"simulated-{signature}")
    assert ask(editor, flat()).model == f"simulated-{signature}-1"


@pytest.mark.parametrize(
    "fields",
    [{"signature": "nano-banana"}, {"severity": 21}, {"recursion": 0}, {"recursion": 1.1}, {"chain_seed": 1}],
    ids=str,
)
def test_wrong_settings(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"editor.{next(iter(fields))}"):
        EDITORS.configure({"type": "simulated", **fields}, "editor")


@pytest.mark.parametrize("signature", ALL)
def test_the_residual_follows_the_recursion(signature: str) -> None:
    """With mean strength, damage is 1 + a + a^2 + ..., and the image moves away from the origin with it."""
    a, origin = SIGNATURES[signature].recursion, photo()
    answers = chain(build(signature, spread=0), origin, 30)
    assert [damage(answer) for answer in answers] == pytest.approx([(1 - a**n) / (1 - a) for n in range(1, 31)])
    errors = [float(np.square(change(answers[turn - 1], origin)).mean()) for turn in (1, 5, 10, 20, 30)]
    assert errors == sorted(errors)
    assert errors[-1] > 8 * errors[0]


@settings(max_examples=25)
@given(
    severity=st.floats(0.05, 20),
    recursion=st.floats(0.01, 1),
    spread=st.floats(0, 1),
    seed=st.integers(0, 2**31 - 60),
)
def test_damage_grows_and_stays_below_the_fixed_point(
    severity: float, recursion: float, spread: float, seed: int
) -> None:
    editor = build(severity=severity, recursion=recursion, spread=spread)
    damages = [damage(answer) for answer in chain(editor, flat(8, 8), 12, seed)]
    assert all(later >= earlier for earlier, later in pairwise(damages))
    most = severity * (1 + spread) / (1 - recursion) if recursion < 1 else 12 * severity * (1 + spread)
    assert 0 <= damages[-1] <= most * (1 + 1e-9)


def test_attempts_differ_in_strength() -> None:
    origin = flat(8, 8)
    steps = [damage(ask(build(spread=0.35), origin, seed)) for seed in range(200)]
    assert min(steps) >= 0.65 and max(steps) <= 1.35
    assert np.mean(steps) == pytest.approx(1, abs=0.05)
    assert {damage(ask(build(spread=0), origin, seed)) for seed in range(5)} == {1}


def test_an_image_from_elsewhere_is_undamaged() -> None:
    editor = build(spread=0)
    chain(editor, photo(), 5)
    assert damage(ask(editor, flat())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("signature", ALL)
@pytest.mark.parametrize("kind", ["replicate", "add", "rotate"])
def test_a_restart_changes_nothing(signature: str, kind: str) -> None:
    """What the ledger holds (hash, damage, detail as JSON) is enough to go on with the same bytes."""
    editor = build(signature)
    answers = chain(editor, photo(), 14, kind=kind)
    for done in (1, 7, 13):
        resumed = build(signature)
        stored = json.loads(json.dumps([[shown(a).sha256, a.damage, a.metadata] for a in answers[:done]]))
        resumed.restore((image, value, told) for image, value, told in stored)
        current = shown(answers[done - 1])
        for turn, undisturbed in enumerate(answers[done:], start=done + 1):
            again = ask(resumed, current, turn, turn, kind=kind)
            assert (again.data, again.damage, again.metadata) == (
                undisturbed.data, undisturbed.damage, undisturbed.metadata,
            )  # fmt: skip
            current = shown(again)


def test_hash_and_damage_are_enough_where_nothing_is_added() -> None:
    answers = chain(build(), photo(), 6)
    resumed = build()
    resumed.restore((shown(answer).sha256, damage(answer)) for answer in answers[:5])
    assert ask(resumed, shown(answers[4]), 6, 6).data == answers[5].data
    assert ask(build(), shown(answers[4]), 6, 6).data != answers[5].data, "what it does depends on the damage so far"


def test_the_seed_decides() -> None:
    origin = photo()
    one, again, other = (ask(build(), origin, seed) for seed in (1, 1, 2))
    assert one.data == again.data != other.data


def test_severity_zero_is_the_perfect_editor() -> None:
    origin = photo()
    editor = build(severity=0)
    assert not editor.stochastic
    copy = ask(editor, origin)
    assert np.array_equal(shown(copy).rgb, origin.rgb) and copy.damage == 0
    added = [ask(editor, origin, seed, 3, kind="add") for seed in range(50)]
    assert {a.object_failure for a in added} == {"none"}
    assert len({a.data for a in added}) == 1
    assert not any(ask(editor, origin, seed, kind="rotate").operation_failed for seed in range(50))


def first_mention(turns: int, **fields: Any) -> int | None:
    seed = fields.pop("seed")
    for turn, answer in enumerate(chain(build(**fields), flat(4, 4), turns, seed), start=1):
        assert answer.reasoning is not None
        if "noise" in answer.reasoning or "grain" in answer.reasoning:
            return turn
    return None


@pytest.mark.slow
def test_noise_is_first_mentioned_at_turn_20_to_37() -> None:
    """At severity 1; confident before. Every turn of the range is equally likely, so runs with other seeds differ."""
    turns = [first_mention(38, spread=0, seed=100 * number) for number in range(90)]
    found = [turn for turn in turns if turn is not None]
    assert len(found) == 90
    assert min(found) >= 20 and max(found) <= 37
    assert np.mean(found) == pytest.approx(28.5, abs=4 * 5.2 / 90**0.5)
    assert len(set(found)) > 12


@pytest.mark.slow
def test_the_first_mention_depends_on_the_damage() -> None:
    usual = [first_mention(60, seed=100 * number) for number in range(15)]
    assert all(turn is not None and 17 <= turn <= 42 for turn in usual)
    heavy = [first_mention(60, severity=2, seed=100 * number) for number in range(15)]
    assert np.mean([turn or 99 for turn in heavy]) < np.mean([turn or 99 for turn in usual]) - 8
    assert first_mention(60, severity=0.1, seed=0) is None


@pytest.mark.parametrize("signature", [name for name in ALL if name != "nano-banana-pro"])
def test_the_others_give_no_summary(signature: str) -> None:
    assert {answer.reasoning for answer in chain(build(signature), flat(8, 8), 40)} == {None}
