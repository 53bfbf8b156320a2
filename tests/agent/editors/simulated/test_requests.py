"""What the simulator does when asked for more than a copy: operations, objects, and how both fail."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from turngate.agent.editor import Edited
from turngate.agent.editors.simulated import FAILS, FAILURES, RADIUS, SimulatedEditor
from turngate.picture import Picture

from ._simulated import ALL, ask, build, chain, flat, near, photo, shown


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mirror", "rotate"])
def test_operations_fail_as_often_as_documented(kind: str) -> None:
    origin, editor = photo(size=48), build(spread=0)
    answers = [ask(editor, origin, seed, kind=kind) for seed in range(400)]
    failed = [answer for answer in answers if answer.operation_failed]
    rate = FAILS[kind]
    assert len(failed) == pytest.approx(400 * rate, abs=near(400 * rate, 400))
    done = {"mirror": origin.rgb[:, ::-1], "rotate": np.rot90(origin.rgb, -1)}[kind].astype(float)
    for answer in answers:
        expected = origin.rgb if answer.operation_failed else done
        assert np.abs(shown(answer).rgb - expected.astype(float)).mean() < 20
    assert not any(ask(build(failures=0), origin, s, kind=kind).operation_failed for s in range(100))


def test_gray_and_back() -> None:
    origin = photo()
    gray = shown(ask(build(severity=0), origin, kind="grayscale"))
    assert np.ptp(gray.rgb, axis=2).max() == 0
    assert np.abs(gray.gray - origin.gray).max() <= 0.5
    coloured = shown(ask(build(severity=0), gray, kind="recolorise"))
    assert np.ptp(coloured.rgb, axis=2).mean() > 10, "colours, though not the original ones"
    kept = shown(ask(build(severity=0), origin, kind="recolorise"))
    assert np.array_equal(kept.rgb, origin.rgb), "what has its colours keeps them"


def test_grayscale_decays_too() -> None:
    answers = [ask(build(), photo(), kind="grayscale")]
    answers.append(ask(build(), shown(answers[0]), 2, kind="recolorise"))
    assert 0 < np.ptp(shown(answers[0]).rgb, axis=2).mean() < 6
    assert np.ptp(shown(answers[1]).rgb, axis=2).mean() > 10, "a tint and noise do not pass for colours"


def test_a_request_to_denoise_removes_nothing() -> None:
    origin = flat()
    asked, unasked = (chain(build(), origin, 30, kind=kind) for kind in ("denoise", "replicate"))
    assert [answer.data for answer in asked] == [answer.data for answer in unasked]
    for answer in asked:
        assert answer.reasoning is not None
        assert "noise has been removed" in answer.reasoning or "cleaned the image of noise" in answer.reasoning


def with_objects(editor: SimulatedEditor, picture: Picture) -> Picture:
    """The same picture, with one old object in it as far as the editor knows."""
    editor.restore([(picture.sha256, 0.0, {"placed": [{"name": "pear", "x": 0.2, "y": 0.25}]})])
    return picture


@pytest.mark.slow
def test_object_failures_are_as_frequent_as_documented() -> None:
    editor = build(spread=0)
    origin = with_objects(editor, flat(64, 128))
    asked = 600
    seen = Counter(ask(editor, origin, seed, kind="add").object_failure for seed in range(asked))
    assert seen.keys() == {*FAILURES, "none"}
    for failure, rate in FAILURES.items():
        assert seen[failure] == pytest.approx(asked * rate, abs=near(asked * rate, asked)), failure
    assert sum(seen.values()) == asked


@pytest.mark.slow
@pytest.mark.parametrize("signature", ALL)
def test_the_record_of_objects_is_consistent(signature: str) -> None:
    """Each turn's count follows from the one before and from what failed; nothing leaves the image."""
    editor, current, before = build(signature, failures=2), flat(160, 200), 0
    for turn in range(1, 41):
        answer = ask(editor, current, turn, turn, kind="add", thing=f"fruit {turn}")
        recorded, failure = answer.metadata, answer.object_failure
        names = [one["name"] for one in recorded["placed"]]
        assert recorded["objects"] == len(names)
        if "repeated" not in recorded:
            added = {"none": 1, "nothing_added": 0, "replaced": 0, "row_too_many": names.count(f"fruit {turn}")}
            assert failure is not None and recorded["objects"] == before + added[failure]
            assert (f"fruit {turn}" in names) == (failure != "nothing_added")
            assert failure != "row_too_many" or names.count(f"fruit {turn}") > 1
        assert all(0.03 < one["x"] < 0.97 and 0.03 < one["y"] < 0.97 for one in recorded["placed"])
        current, before = shown(answer), recorded["objects"]


def test_a_full_image_replaces() -> None:
    editor, current = build(failures=0, severity=0.01), flat(40, 40)
    answers = []
    for turn in range(1, 200):
        answer = ask(editor, current, turn, turn, kind="add")
        current = shown(answer)
        answers.append(answer)
    assert answers[-1].object_failure == "replaced"
    assert answers[-1].metadata["objects"] == answers[-20].metadata["objects"] > 80


def test_the_new_object_is_visible_and_clean_and_the_rest_decays() -> None:
    origin = flat(200, 200, 90)
    answers = chain(build(failures=0, spread=0), origin, 15, kind="add")
    last = shown(answers[-1]).rgb.astype(float)
    newest, oldest = answers[-1].metadata["placed"][-1], answers[-1].metadata["placed"][0]

    def ball(one: dict[str, Any]) -> NDArray[np.float64]:
        row, column, half = round(one["y"] * 200), round(one["x"] * 200), int(0.4 * RADIUS * 200)
        return last[row - half : row + half + 1, column - half : column + half + 1]

    for one in (newest, oldest):
        red, green, blue = ball(one).mean(axis=(0, 1))
        assert red > max(green, blue) + 60, "an apple is red"
    roughness = [np.abs(np.diff(ball(one), n=2, axis=1)).mean() for one in (newest, oldest)]
    assert roughness[0] < 0.5 * roughness[1]
    clean = ask(build(severity=0, failures=0), flat(200, 200), 1, 1, kind="add")
    spot = clean.metadata["placed"][0]
    assert np.abs(shown(clean).rgb[round(spot["y"] * 200), round(spot["x"] * 200)].astype(float) - 128).max() > 30


def test_objects_move_with_the_image() -> None:
    editor = build(severity=0)
    first = ask(editor, flat(60, 120), 1, 1, kind="add")
    one = first.metadata["placed"][0]
    mirrored = ask(editor, shown(first), kind="mirror")
    assert mirrored.metadata["placed"][0] == {"name": "apple", "x": pytest.approx(1 - one["x"]), "y": one["y"]}
    rotated = ask(editor, shown(first), kind="rotate")
    assert rotated.metadata["placed"][0]["x"] == pytest.approx(1 - one["y"])
    assert rotated.metadata["placed"][0]["y"] == pytest.approx(one["x"])


@pytest.mark.parametrize("kind", ["mirror", "rotate", "grayscale", "recolorise", "add"])
def test_the_summary_claims_success_whatever_happened(kind: str) -> None:
    editor = build()
    origin = with_objects(editor, photo(size=48))
    told = {_failed(a): a.reasoning for a in (ask(editor, origin, s, kind=kind, thing="fig") for s in range(60))}
    assert set(told) == ({True, False} if kind in ("mirror", "rotate", "add") else {False})
    for text in told.values():
        assert text is not None
        assert not any(word in text.lower() for word in ("fail", "could not", "unable"))
        assert kind != "add" or "fig" in text


def _failed(answer: Edited) -> bool:
    return bool(answer.operation_failed) or answer.object_failure not in (None, "none")
