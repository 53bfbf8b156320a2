"""Recorded answers beyond the point of divergence: which attempts the editor would not have given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from turngate import RunView, parse_config, start_run
from turngate.errors import ConfigError
from turngate.graphs.runner import Ended
from turngate.picture import Picture

from ._recordings import ask, build, edited, gray, manifest, put

Config = Callable[..., Any]
Run = Callable[..., tuple[Ended, RunView]]


def at(threshold: float) -> dict[str, Any]:
    return {"type": "threshold", "evaluator": "gray", "at": threshold}


def scripted(*grays: float) -> dict[str, Any]:
    return {"type": "scripted", "size": 16, "script": {str(turn): value for turn, value in enumerate(grays, 1)}}


def again(source: RunView, take: str = "all") -> dict[str, Any]:
    return {"type": "replay", "source": str(source.folder.path), "take": take}


def beyond(view: RunView) -> list[tuple[int, int]]:
    """Turn and attempt of what lies beyond."""
    return [(one.row.turn, one.row.attempt) for one in view.attempts if one.row.beyond_divergence]


def test_after_a_rejection_all_that_follows_is_beyond(config: Config, run: Run) -> None:
    """Turn 6 was made from the image of turn 5, which is what the loop holds, but would not have been there."""
    _, source = run(config(turns=7, editor=scripted(0.2, 0.3, 0.4, 0.9, 0.3, 0.4, 0.5)), "source")
    _, view = run(config(turns=7, editor=again(source), gate=at(0.7)), "gated")
    assert [one.decision.action for one in view.attempts] == ["accept"] * 3 + ["skip"] + ["accept"] * 3
    assert view.attempts[5].row.input_image == source.attempts[5].row.input_image
    assert beyond(view) == [(5, 1), (6, 1), (7, 1)]
    assert all(one.row.flags == ["beyond_divergence"] for one in view.attempts[4:])


def test_a_gate_that_rejects_nothing_stays_on_the_record(config: Config, run: Run) -> None:
    _, source = run(config(turns=4, editor=scripted(0.2, 0.3, 0.4, 0.5)), "source")
    _, view = run(config(turns=4, editor=again(source), gate=at(0.7)), "gated")
    assert beyond(view) == []


def test_a_restart_leads_back_to_the_record(config: Config, run: Run) -> None:
    """The record restarts at turn 5, so its turn 6 was made from the origin."""
    policy = {"turns": 6, "on_reject": {"then": "restart"}}
    _, source = run(config(editor=scripted(0.2, 0.3, 0.6, 0.3, 0.9, 0.3), gate=at(0.7), **policy), "source")
    _, view = run(config(editor=again(source), gate=at(0.5), **policy), "gated")
    assert beyond(view) == [(4, 1), (5, 1)]


def test_a_rollback_leads_back_only_to_an_image_from_which_the_next_answer_was_made(config: Config, run: Run) -> None:
    grays = scripted(0.2, 0.3, 0.3, 0.6, 0.9, 0.3)
    far = {"turns": 6, "on_reject": {"then": "rollback", "rollback_turns": 3}}
    near = {"turns": 6, "on_reject": {"then": "rollback", "rollback_turns": 1}}
    _, source = run(config(editor=grays, gate=at(0.7), **far), "to turn 1")
    _, view = run(config(editor=again(source), gate=at(0.5), **near), "gated")
    assert beyond(view) == [(5, 1)], "turn 4 goes back to 2, turn 5 to 1, and turn 6 was made from 1"
    _, source = run(config(editor=grays, gate=at(0.7), **near), "to turn 3")
    _, view = run(config(editor=again(source), gate=at(0.5), **near), "gated too")
    assert beyond(view) == [(5, 1), (6, 1)]


def test_a_rollback_to_an_image_that_lies_beyond_is_no_way_back(config: Config, run: Run) -> None:
    policy = {"turns": 7, "on_reject": {"then": "rollback", "rollback_turns": 1}}
    _, source = run(config(editor=scripted(0.2, 0.3, 0.6, 0.3, 0.4, 0.9, 0.3), gate=at(0.7), **policy), "source")
    _, view = run(config(editor=again(source), gate=at(0.5), **policy), "gated")
    assert view.attempts[6].row.input_image == source.attempts[6].row.input_image == source.attempts[3].row.image
    assert beyond(view) == [(4, 1), (5, 1), (6, 1), (7, 1)]


def test_a_retry_that_is_not_on_record_lies_beyond(config: Config, run: Run) -> None:
    """Turn 2 was tried twice then, turn 3 once: its second attempt is nobody's answer, and so is what follows."""
    script = {"type": "scripted", "size": 16, "script": {"1": 0.2, "2.1": 0.9, "2.2": 0.3, "3": 0.6, "4": 0.3}}
    policy = {"turns": 4, "on_reject": {"attempts": 2, "then": "accept"}}
    _, source = run(config(editor=script, gate=at(0.7), **policy), "source")
    _, same = run(config(editor=again(source), gate=at(0.7), **policy), "same")
    assert beyond(same) == []
    _, view = run(config(editor=again(source), gate=at(0.5), **policy), "stricter")
    places = [(one.row.turn, one.row.attempt, one.row.why) for one in view.attempts]
    assert places == [(1, 1, None), (2, 1, None), (2, 2, None), (3, 1, None), (3, 2, "end_of_chain"), (4, 1, None)]
    assert view.attempts[5].row.input_image == source.attempts[4].row.input_image, "turn 3 was forced in"
    assert beyond(view) == [(3, 2), (4, 1)]


def test_a_missing_image_lies_beyond_as_well(config: Config, run: Run) -> None:
    script = {"type": "scripted", "size": 16, "script": {"1": 0.2, "2": 0.9, "3": "no_image:safety", "4": 0.3}}
    _, source = run(config(turns=4, editor=script), "source")
    _, same = run(config(turns=4, editor=again(source)), "same")
    assert beyond(same) == []
    _, view = run(config(turns=4, editor=again(source), gate=at(0.7)), "gated")
    assert view.attempts[2].row.why == "safety"
    assert beyond(view) == [(3, 1), (4, 1)]


def test_where_every_attempt_edits_the_origin_nothing_lies_beyond(config: Config, run: Run) -> None:
    shared = {"turns": 4, "history": "origin"}
    _, source = run(config(editor=scripted(0.2, 0.9, 0.3, 0.4), **shared), "source")
    _, view = run(config(editor=again(source), gate=at(0.7), **shared), "gated")
    assert beyond(view) == []
    _, chain = run(config(turns=4, editor=scripted(0.2, 0.9, 0.3, 0.4)), "chain")
    _, star = run(config(editor=again(chain), **shared), "star")
    assert beyond(star) == [(2, 1), (3, 1), (4, 1)], "only turn 1 of a chain was made from the origin"


def test_a_resumed_run_is_as_far_beyond_as_an_uninterrupted_one(config: Config, run: Run) -> None:
    _, source = run(config(turns=6, editor=scripted(0.2, 0.9, 0.3, 0.4, 0.5, 0.6)), "source")
    shared = {"turns": 6, "editor": again(source), "gate": at(0.7)}
    _, whole = run(config(**shared), "whole")
    for attempts in (3, 4, 6):
        _, parts = run(config(**shared, budgets={"attempts": attempts}), "parts")
    assert [one.row.flags for one in parts.attempts] == [one.row.flags for one in whole.attempts]
    assert beyond(parts) == [(3, 1), (4, 1), (5, 1), (6, 1)]


def test_what_lies_beyond_in_a_recorded_replay_stays_there(config: Config, run: Run) -> None:
    _, source = run(config(turns=4, editor=scripted(0.2, 0.9, 0.3, 0.4)), "source")
    _, gated = run(config(turns=4, editor=again(source), gate=at(0.7)), "gated")
    _, view = run(config(turns=4, editor=again(gated), gate=at(0.7)), "again")
    assert beyond(gated) == beyond(view) == [(3, 1), (4, 1)]


def test_a_folder_of_frames(config: Config, run: Run, tmp_path: Path) -> None:
    folder = put(tmp_path / "frames", **{str(turn): level for turn, level in enumerate((40, 50, 60, 240, 70, 80))})
    shared = {"turns": 5, "origin": str(folder / "0.png"), "editor": {"type": "replay", "source": str(folder)}}
    assert beyond(run(config(**shared), "open")[1]) == []
    assert beyond(run(config(**shared, gate=at(0.7)), "gated")[1]) == [(4, 1), (5, 1)]


def test_one_of_several_images_is_not_for_sure_the_input(tmp_path: Path) -> None:
    put(tmp_path, o=1, a=2, b=3, c=4)
    editor = build(manifest(tmp_path, "turn,path,attempt\n0,o.png\n1,a.png,1\n1,b.png,2\n2,c.png,1\n"))
    for level in (2, 3):
        assert edited(ask(editor, 2, gray(level))).flags == ("replay_input_uncertain",)
    assert edited(ask(editor, 2, gray(1))).flags == ("beyond_divergence",)


# The origin of a chain.


def test_a_run_from_another_picture_is_an_error(config: Config, run: Run, tmp_path: Path) -> None:
    folder = put(tmp_path / "frames", **{"0": 40, "1": 50})
    put(tmp_path, other=41)
    editor = {"type": "replay", "source": str(folder)}
    with pytest.raises(ConfigError, match=r"origin: the chain .*frames was recorded from another picture.*0\.png"):
        run(config(turns=1, origin=str(tmp_path / "other.png"), editor=editor))
    assert not (tmp_path / "run" / "run.json").exists()
    _, source = run(config(turns=1), "source")
    with pytest.raises(ConfigError, match="was recorded from another picture"):
        run(config(turns=1, origin="skimage:coffee", editor=again(source)), "foreign")


def test_the_same_picture_in_another_file_is_the_origin(config: Config, run: Run, tmp_path: Path) -> None:
    folder = put(tmp_path / "frames", **{"0": 40, "1": 50, "2": 60})
    Image.fromarray(gray(40).rgb).save(tmp_path / "same.tiff")
    assert Picture.from_file(tmp_path / "same.tiff").sha256 != gray(40).sha256
    editor = {"type": "replay", "source": str(folder)}
    _, view = run(config(turns=2, origin=str(tmp_path / "same.tiff"), editor=editor))
    assert [one.row.flags for one in view.attempts] == [[], []]


def test_a_chain_that_does_not_know_its_origin_says_so(config: Config, run: Run, tmp_path: Path) -> None:
    folder = put(tmp_path / "frames", **{"1": 50, "2": 60})
    _, view = run(config(turns=2, editor={"type": "replay", "source": str(folder)}))
    assert "replay_origin_unknown" in view.attempts[0].row.flags
    assert beyond(view) == []


def test_two_origins_are_a_mistake(tmp_path: Path) -> None:
    folder = put(tmp_path / "x", **{"0": 10, "img_00": 20, "1": 30})
    with pytest.raises(ConfigError, match=r"has turn 0, the origin, twice: 0\.png and img_00\.png"):
        build(folder)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=2, max_size=7), st.sampled_from([0.2, 0.6, 1.0]))
def test_beyond_begins_right_after_the_first_rejection(
    tmp_path_factory: pytest.TempPathFactory, grays: list[float], threshold: float
) -> None:
    """Of a chain that accepted everything, replayed with a gate that skips."""
    folder = tmp_path_factory.mktemp("runs")
    base: dict[str, Any] = {
        "origin": "skimage:astronaut", "scenario": "replicate", "turns": len(grays), "driver": "loop",
        "evaluators": {"gray": {"type": "scripted"}}, "telemetry": {"exporter": "none"},
    }  # fmt: skip
    start_run(parse_config({**base, "editor": scripted(*grays), "gate": "always_accept"}, "t"), folder / "source")
    editor = {"type": "replay", "source": str(folder / "source")}
    start_run(parse_config({**base, "editor": editor, "gate": at(threshold)}, "t"), folder / "gated")
    view = RunView.load(folder / "gated")
    turns = [one.row.turn for one in view.attempts if one.decision.action != "accept"]
    first = min(turns, default=len(grays))
    assert beyond(view) == [(turn, 1) for turn in range(first + 1, len(grays) + 1)]
