"""Arms held against no gate, on both axes, and under other thresholds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.analysis.worlds import Chain, no_gate, rolls_back, stalls, study

from turngate.traces.analysis.study import ArmDifference, answer_study

NAMES = ["a", "b", "c", "d", "e", "f"]


def pairs(found: list[ArmDifference]) -> dict[str, ArmDifference]:
    return {one.arm: one for one in found}


def test_differences_are_paired_and_over_both_axes() -> None:
    rows = [("no-gate", name, "", no_gate(20, 3, name)) for name in NAMES]
    rows += [("back", name, "", rolls_back(20, 3, name)) for name in NAMES]
    rows += [("nothing", name, "", Chain(20, origin=name).repeat(20, "x", 0.0, "skip")) for name in NAMES]
    answer = answer_study(study(rows, controls=("no-gate",)))
    found = pairs(answer.pairs)
    assert set(found) == {"back", "nothing"}
    back, nothing = found["back"], found["nothing"]
    assert (back.cells, back.turns, back.base) == (6, [20], "no-gate")
    assert (back.progress.value, back.exposure.value) == (60.0, -0.85)
    assert (nothing.progress.value, nothing.exposure.value) == (-15.0, -0.85), "no damage, for no work"
    assert (back.progress_p, back.exposure_p) == (2 / 2**6, 2 / 2**6)
    assert back.progress_p_adjusted == 2 / 2**6, "all four tests are at the smallest p"
    assert answer.smallest_p == 2 / 2**6
    assert answer.smallest_p_alone == 4 * 2 / 2**6


def test_below_five_origins_there_is_no_p_and_the_origins_are_shown() -> None:
    rows = [("no-gate", name, "", no_gate(10, 3, name)) for name in "abcd"]
    rows += [("strict", name, "", stalls(10, 3, name)) for name in "abcd"]
    answer = answer_study(study(rows, controls=("no-gate",)))
    [found] = answer.pairs
    assert (found.progress_p, found.exposure_p, found.exposure_p_adjusted) == (None, None, None)
    assert (found.exposure.low, found.exposure.by_origin) == (None, dict.fromkeys("abcd", -0.7))
    assert (answer.smallest_p, answer.smallest_p_alone) == (None, None)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=6, max_size=6), st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_a_control_changes_no_p_of_an_own_arm(sound: list[int], of_control: list[int]) -> None:
    rows = [("no-gate", name, "", no_gate(10, 5, name)) for name in NAMES]
    rows += [("own", name, "", no_gate(10, number, name)) for name, number in zip(NAMES, sound, strict=True)]
    rows += [("other", name, "", stalls(10, number, name)) for name, number in zip(NAMES, sound, strict=True)]
    control = [("random", name, "", no_gate(10, number, name)) for name, number in zip(NAMES, of_control, strict=True)]
    before = answer_study(study(rows, controls=("no-gate",)))
    after = answer_study(study([*rows, *control], controls=("no-gate", "random")))
    assert [one for one in after.pairs if one.arm != "random"] == before.pairs
    added = pairs(after.pairs)["random"]
    assert (added.progress_p, added.progress_p_adjusted, added.exposure_p_adjusted) == (None, None, None)
    assert after.smallest_p_alone == before.smallest_p_alone
    assert after.unbeaten == before.unbeaten


def test_unequal_lengths_are_compared_over_equal_turns() -> None:
    """No gate planned 20 turns (3 sound), the arm 10 (3 sound): over 10 turns the progress is the same."""
    found = answer_study(study([("no-gate", "a", "", no_gate(20, 3)), ("short", "a", "", stalls(10, 3))]))
    [pair] = found.pairs
    assert (pair.turns, pair.progress.value, pair.exposure.value) == ([10], 0.0, -0.7)
    assert any("different numbers of turns (10, 20)" in remark for remark in found.remarks)


def test_an_early_stop_is_compared_over_its_planned_turns() -> None:
    stopped = Chain(20).repeat(3, "a{}").add("x", 0.9, "stop")
    found = answer_study(study([("no-gate", "a", "", no_gate(20, 3)), ("stop", "a", "", stopped)]))
    assert (found.pairs[0].turns, found.pairs[0].progress.value, found.pairs[0].exposure.value) == ([20], 0.0, -0.85)
    assert any("stop: 1 run ended before the last planned turn (attempts exhausted)" in one for one in found.remarks)


def test_cells_without_a_partner_or_with_another_picture_are_left_out() -> None:
    loaded = study([
        ("no-gate", "a", "", no_gate(10, 3)), ("x", "a", "", stalls(10, 3)), ("x", "b", "", stalls(10, 3, "b")),
    ])  # fmt: skip
    assert answer_study(loaded).pairs[0].cells == 1
    loaded.runs[1] = loaded.runs[1].__class__(loaded.runs[1].run, loaded.runs[1].view, "replaced", "a (2)")
    assert answer_study(loaded).pairs[0].cells == 0


def test_without_an_arm_without_a_gate_there_are_no_pairs() -> None:
    found = answer_study(study([("x", "a", "", stalls(10, 3)), ("y", "a", "", no_gate(10, 3))]))
    assert (found.base, found.pairs) == (None, [])
    gated = study([("no-gate", "a", "", stalls(10, 3)), ("y", "a", "", no_gate(10, 3))], gates={"no-gate": "threshold"})
    assert answer_study(gated).base is None, "a name makes no arm without a gate"
    own = study([("open", "a", "", no_gate(10, 3)), ("y", "a", "", stalls(10, 3))], gates={"open": "always_accept"})
    assert answer_study(own).base == "open"


def test_the_unbeaten_arms_are_the_front_of_both_axes() -> None:
    """`back` beats `strict` and `nothing`: more progress, no exposure. `greedy` has more progress, at some exposure."""
    rows = [
        ("back", "a", "", rolls_back(20, 1)), ("strict", "a", "", stalls(20, 3)),
        ("nothing", "a", "", Chain(20).repeat(20, "x", 0.9, "skip")),
        ("greedy", "a", "", no_gate(20, 15)), ("bare", "a", "", no_gate(20, 2)),
    ]  # fmt: skip
    assert answer_study(study(rows)).unbeaten == ["back", "greedy"]
    oracle = ("oracle", "a", "", Chain(20).repeat(20, "o{}"))
    assert answer_study(study([*rows, oracle], controls=("oracle",))).unbeaten == ["back", "greedy"]


def test_equal_arms_do_not_beat_each_other() -> None:
    found = answer_study(study([("x", "a", "", stalls(20, 3)), ("y", "a", "", stalls(20, 3))]))
    assert found.unbeaten == ["x", "y"]


def test_sensitivity_takes_damage_anew_and_leaves_stalls() -> None:
    chain = Chain(20).add("a", 0.2).add("b", 0.4).repeat(18, "x", 0.6, "skip")
    found = answer_study(study([("x", "a", "", chain)], sensitivity=(0.3, 0.7)))
    assert found.arms[0].exposure.value == 0.0
    strict, mild = found.sensitivity
    assert (strict.damaged_at, strict.progress, strict.exposure, strict.stalled) == (0.3, 5.0, 0.95, 1)
    assert (strict.episodes.propagated, strict.episodes.stalled) == (1, 0)
    assert (mild.progress, mild.exposure, mild.stalled, mild.episodes.total) == (10.0, 0.0, 1, 0)


def test_a_recorded_chain_is_compared_up_to_its_divergence() -> None:
    """The record is damaged from turn 5 on; a gate that left it after turn 3 has nothing to say of what came then."""
    diverged = Chain(10).add("a1").add("a2").add("a3").add("x", 0.9, "skip")
    for turn in range(5, 11):
        diverged.add(f"y{turn}", 0.0, beyond=True)
    at_once = Chain(10, origin="b").add("z", 0.9, beyond=True)
    rows = [("no-gate", "a", "", no_gate(10, 4, "a")), ("no-gate", "b", "", no_gate(10, 4, "b"))]
    rows += [("left", "a", "", diverged), ("left", "b", "", at_once)]
    answer = answer_study(study(rows, controls=("no-gate",)))
    [found] = answer.pairs
    assert (found.cells, found.turns) == (1, [4])
    assert (found.progress.value, found.exposure.value) == (-25.0, 0.0)
    assert answer.unbeaten == []
