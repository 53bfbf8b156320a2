"""The replay editor on recorded runs: what is served, and what is flagged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, continue_run
from turngate.agent.editor import NoImage
from turngate.errors import BadImage, ConfigError, DamagedRun
from turngate.graphs.runner import Ended
from turngate.picture import Picture

from ._recordings import ask, build, edited, gray

Config = Callable[..., Any]
Run = Callable[..., tuple[Ended, RunView]]
SIMULATED = {"type": "simulated", "severity": 2}


def accepted(view: RunView) -> list[str | None]:
    return [attempt.row.image for attempt in view.attempts if attempt.taken]


@pytest.mark.slow
def test_a_run_is_reproduced_exactly(config: Config, run: Run) -> None:
    """The source skips turns and retries; its accepted images come again, in order, and nothing else does."""
    gate = {"type": "random", "accept_rate": 0.5}
    settings = config(turns=12, editor=SIMULATED, gate=gate, on_reject={"attempts": 2, "then": "skip"})
    _, source = run(settings, "source")
    kept = accepted(source)
    assert 3 < len(kept) < 12
    replayed, view = run(config(turns=len(kept), editor={"type": "replay", "source": source.folder.path}), "again")
    assert replayed.status == "complete"
    assert accepted(view) == kept
    for old, new in zip([one for one in source.attempts if one.taken], view.attempts, strict=True):
        for field in ("reasoning", "model", "damage", "input_image", "width", "height", "simulated"):
            assert getattr(new.row, field) == getattr(old.row, field), field
        assert new.row.flags == []
        assert new.row.metadata["source_turn"] == old.row.turn
    assert view.info.resolved.simulated is True
    assert (view.info.resolved.editor.model or "").startswith("replay-")


def test_all_attempts_are_served_at_their_place(config: Config, run: Run) -> None:
    """Replayed with the source's own gate and policy, every row is the same: images, outcomes, decisions."""
    script = {"2.1": "no_image:safety", "3.1": 0.9, "4": "blocked:prohibited", "5": "as:jpeg", "6": "same"}
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.7}
    shared = {"turns": 7, "gate": gate, "on_reject": {"attempts": 3, "then": "skip"}}
    editor = {"type": "scripted", "script": script, "cost_usd": 0.1, "reasoning": "turn {turn}.{attempt}"}
    _, source = run(config(editor=editor, **shared), "source")
    again = {"type": "replay", "source": str(source.folder.path), "take": "all"}
    _, view = run(config(editor=again, **shared), "again")
    assert len(view.attempts) == len(source.attempts) > 8
    for old, new in zip(source.attempts, view.attempts, strict=True):
        for field in ("turn", "attempt", "outcome", "why", "retryable", "image", "input_image", "reasoning", "model"):
            assert getattr(new.row, field) == getattr(old.row, field), field
        assert (new.decision.action, new.decision.image_after) == (old.decision.action, old.decision.image_after)
        assert not [flag for flag in new.row.flags if "replay" in flag]
        assert new.row.cost_usd is None, "a replay costs nothing"


def test_a_gate_that_decides_otherwise_is_told_on(config: Config, run: Run) -> None:
    """From the first rejection on, candidates were not made from the image that the loop holds."""
    _, source = run(config(turns=6, editor=SIMULATED), "source")
    middle = source.attempts[2].row
    assert middle.damage is not None
    editor = {"type": "replay", "source": str(source.folder.path)}
    truth = {"measure": "simulator", "damaged_at": middle.damage}
    _, view = run(config(turns=6, editor=editor, gate="oracle", truth=truth), "gated")
    flagged = {attempt.row.turn: "beyond_divergence" in attempt.row.flags for attempt in view.attempts}
    assert flagged == {1: False, 2: False, 3: False, 4: True, 5: True, 6: True}
    assert [attempt.row.image for attempt in view.attempts] == accepted(source)
    assert view.attempts[5].row.damage == source.attempts[5].row.damage


@pytest.mark.parametrize(("then", "more"), [("rollback", {"rollback_turns": 2}), ("restart", {})])
def test_images_that_were_rolled_back_are_no_part_of_the_chain(
    config: Config, run: Run, then: str, more: dict[str, Any]
) -> None:
    script = {"4": 0.9}
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.7}
    settings = config(
        turns=6, editor={"type": "scripted", "script": script}, gate=gate, on_reject={"then": then, **more}
    )
    _, source = run(settings, "source")
    assert source.attempts[3].decision.action == then
    editor = build(source.folder.path)
    expected = [1, 5, 6] if then == "rollback" else [5, 6]
    current, turns = Picture.from_bytes(source.folder.images.get(source.info.origin.image)), []
    for turn in range(1, editor.length + 1):
        answer = edited(ask(editor, turn, current))
        assert answer.flags == ()
        turns.append(answer.metadata["source_turn"])
        current = Picture.from_bytes(answer.data)
    assert turns == expected


def test_turns_that_changed_nothing_are_part_of_the_chain(config: Config, run: Run) -> None:
    """A lossless codec returns its own output; the chain is as long as the run all the same."""
    _, source = run(config(turns=5, editor={"type": "codec", "format": "png"}), "source")
    _, view = run(config(turns=5, editor={"type": "replay", "source": str(source.folder.path)}), "again")
    assert accepted(view) == accepted(source)
    assert [attempt.row.outcome for attempt in view.attempts] == [attempt.row.outcome for attempt in source.attempts]
    assert view.info.resolved.simulated is False


def test_other_instructions_and_another_origin_are_flagged(config: Config, run: Run) -> None:
    _, source = run(config(turns=2), "source")
    origin = Picture.from_bytes(source.folder.images.get(source.info.origin.image))
    editor = build(source.folder.path)
    assert edited(ask(editor, 1, origin)).flags == ()
    assert edited(ask(editor, 1, origin, text="Add an apple.")).flags == ("replay_other_instruction",)
    assert edited(ask(editor, 1, gray(3))).flags == ("beyond_divergence",)


def test_a_replay_of_a_replay_is_the_same_chain(config: Config, run: Run) -> None:
    _, first = run(config(turns=3, editor=SIMULATED), "first")
    _, second = run(config(turns=3, editor={"type": "replay", "source": str(first.folder.path)}), "second")
    one, two = build(first.folder.path), build(second.folder.path / "run.json")
    assert one.model == two.model
    assert two.simulated


def test_a_fork_keeps_the_mark_of_its_simulated_parent(config: Config, run: Run, tmp_path: Path) -> None:
    """The child's own editor is real; its first turns are not."""
    from turngate import fork_run

    _, parent = run(config(turns=2, editor=SIMULATED), "parent")
    child = fork_run(parent.folder.path, 2, tmp_path / "child", config(turns=3, editor="codec"))
    continue_run(child)
    assert RunView.load(child).info.resolved.simulated is False
    assert build(child).simulated


def test_beyond_the_end(config: Config, run: Run) -> None:
    _, source = run(config(turns=2), "source")
    editor = build(source.folder.path)
    assert editor.length == 2
    for turn, attempt, told in (
        (3, 1, "the chain has 2 turns"),
        (1, 2, "turn 1 has no attempt 2 on record: the last is 1"),
    ):
        answer = ask(editor, turn, gray(1), attempt)
        assert isinstance(answer, NoImage)
        assert (answer.why, answer.retryable) == ("end_of_chain", False)
        assert told in answer.detail
    with pytest.raises(ConfigError, match="turns: editor 'replay' has images for 2 turns, not for 3"):
        run(config(turns=3, editor={"type": "replay", "source": str(source.folder.path)}), "longer")


def test_retries_need_recorded_attempts(config: Config, run: Run) -> None:
    _, source = run(config(turns=2), "source")
    settings = config(
        turns=2, editor={"type": "replay", "source": str(source.folder.path), "take": "all"}, on_reject={"attempts": 2}
    )
    with pytest.raises(ConfigError, match="is deterministic"):
        run(settings, "again")


THINKER = '''
from turngate import Edited, ComponentConfig
from turngate.agent.editor import EditUsage, ExtraImage


class Thinker:
    """Answers with half of the image, an interim one and tokens, as a remote model does."""

    Config = ComponentConfig
    requires = {}
    model = "thinker"
    stochastic = simulated = paid = False

    def __init__(self, config):
        pass

    def edit(self, request):
        from turngate import Picture

        half = Picture.from_rgb(request.image.rgb[::2, ::2])
        thought = ExtraImage(Picture.from_rgb(request.image.rgb[::4, ::4]).data, "interim")
        usage = EditUsage(100, 1120, 40, waited_seconds=3.0)
        flags = ("image_from_thought",)
        return Edited.of(half, usage=usage, extras=(thought,), flags=flags, metadata={"rule": "last"})
'''


def test_what_came_along_comes_along(config: Config, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interim images, tokens, flags and metadata; what the loop finds out by itself is not doubled."""
    (tmp_path / "thinking_editor.py").write_text(THINKER)
    monkeypatch.syspath_prepend(str(tmp_path))
    _, source = run(config(turns=2, editor="thinking_editor:Thinker"), "source")
    _, view = run(config(turns=2, editor={"type": "replay", "source": str(source.folder.path)}), "again")
    for old, new in zip(source.attempts, view.attempts, strict=True):
        for field in ("image", "extras", "flags", "input_tokens", "output_tokens", "reasoning_tokens"):
            assert getattr(new.row, field) == getattr(old.row, field), field
        assert new.row.metadata == {"rule": "last", "source_turn": old.row.turn, "source_attempt": 1}
        assert view.folder.images.get(new.row.extras[0]["image"])
        assert (old.row.waited_seconds, new.row.waited_seconds) == (3.0, 0.0)
    assert view.attempts[0].row.flags == ["image_from_thought", "size_changed:512x512->256x256"]


def test_a_run_without_an_accepted_image(config: Config, run: Run) -> None:
    _, source = run(config(turns=2, gate="always_reject"), "source")
    with pytest.raises(ConfigError, match="accepted nothing: replay its candidates with `take: all`"):
        build(source.folder.path)
    assert build(source.folder.path, take="all").length == 2


def test_a_damaged_source(config: Config, run: Run) -> None:
    _, source = run(config(turns=2), "source")
    picture = source.folder.images.path(str(source.attempts[1].row.image))
    editor = build(source.folder.path)
    picture.write_bytes(gray(9).data)
    with pytest.raises(BadImage, match="is not the recorded image any more"):
        ask(editor, 2, gray(1))
    picture.unlink()
    with pytest.raises(BadImage, match="no image at"):
        ask(editor, 2, gray(1))
    with pytest.raises(DamagedRun, match="is missing"):
        build(source.folder.path)
    source.folder.info_file.write_text("{}")
    with pytest.raises(DamagedRun):
        build(source.folder.path)
