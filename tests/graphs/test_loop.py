"""The loop: budgets, policies, what is recorded. Scenario ids (C1, ...) name the situation a test stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, summarise
from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.scripted import ScriptedEditor
from turngate.errors import InternalError, UserError
from turngate.graphs.config import RunConfig
from turngate.graphs.machine import step_limit
from turngate.graphs.runner import Ended, continue_run, fork_run, start_run
from turngate.graphs.work import Review

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Ended, RunView]]

REJECT = {"type": "always_reject"}
GATE = {"type": "threshold", "evaluator": "gray", "at": 0.6}


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_every_attempt_rejected_then_skip(config: Config, run: Run, driver: str) -> None:
    """C1: 100 turns closed as rejected, exactly 300 attempts, no recursion error."""
    settings = config(turns=100, gate=REJECT, on_reject={"attempts": 3, "then": "skip"}, driver=driver)
    ended, view = run(settings)
    numbers = summarise(view)
    assert (ended.status, numbers.turns, numbers.rejected, numbers.attempts) == ("complete", 100, 100, 300)
    assert {attempt.row.input_image for attempt in view.attempts} == {view.info.origin.image}


def test_every_attempt_rejected_then_stop(config: Config, run: Run) -> None:
    """C1: three attempts, status attempts_exhausted; a finished run is left alone."""
    settings = config(turns=100, gate=REJECT, on_reject={"attempts": 3, "then": "stop"})
    ended, view = run(settings)
    assert (ended.status, len(view.attempts), view.status) == ("attempts_exhausted", 3, "attempts_exhausted")
    again, view = run(settings)
    assert (again.worked, again.status, len(view.attempts)) == (False, "attempts_exhausted", 3)


@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_attempt_budget(config: Config, run: Run, driver: str) -> None:
    """C1: a total budget of 50 gives 50 attempts, and a larger one goes on in the same turn."""
    policy = {"attempts": 3, "then": "skip"}
    settings = config(turns=100, gate=REJECT, on_reject=policy, budgets={"attempts": 50}, driver=driver)
    ended, view = run(settings)
    assert (ended.status, view.status, len(view.attempts)) == ("budget_exhausted", "budget_exhausted", 50)
    assert "attempts is used up: 50 of 50" in (ended.reason or "")
    assert run(settings)[0].status == "budget_exhausted"
    larger = config(turns=100, gate=REJECT, on_reject=policy, budgets={"attempts": 60}, driver=driver)
    _, view = run(larger)
    keys = [(attempt.row.turn, attempt.row.attempt) for attempt in view.attempts]
    assert keys == [(turn, attempt) for turn in range(1, 21) for attempt in (1, 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_all_accepted(config: Config, run: Run, driver: str) -> None:
    """C2: exactly 100 accepted turns, each edits the image before it (C7)."""
    ended, view = run(config(turns=100, driver=driver))
    numbers = summarise(view)
    assert (ended.status, numbers.accepted, numbers.attempts, numbers.turns) == ("complete", 100, 100, 100)
    current = view.info.origin.image
    for attempt in view.attempts:
        assert attempt.row.input_image == current
        current = attempt.decision.image_after


def test_the_step_limit_is_exact(config: Config, tmp_path: Path) -> None:
    """C2: the computed limit suffices, and one super-step less does not."""
    from langgraph.errors import GraphRecursionError

    import turngate.graphs.machine as machine
    from turngate.graphs.components import build_components
    from turngate.graphs.machine import first_state
    from turngate.graphs.session import LoopContext, Session
    from turngate.traces.run_folder import RunFolder

    settings = config(turns=7)
    start_run(config(turns=7, budgets={"attempts": 1}), tmp_path / "run")  # makes the folder
    for limit, enough in ((step_limit(7, 1) - 3, True), (step_limit(7, 1) - 4, False)):  # one attempt is done
        folder = RunFolder(fork_run(tmp_path / "run", 1, tmp_path / f"fork{limit}", settings))
        ledger, info = folder.ledger(read_only=False), folder.info()
        from turngate.picture import Picture

        origin = Picture.from_bytes(folder.images.get(info.origin.image))
        session = Session(settings, build_components(settings), folder, info, ledger, origin)
        start, context = first_state(session.progress), LoopContext(session)
        try:
            end = machine.build_machine().invoke(start, {"recursion_limit": limit}, context=context)
            assert enough and end["status"] == "complete"
        except GraphRecursionError:
            assert not enough
        finally:
            ledger.close()


def test_the_step_limit_knows_retries_and_budgets() -> None:
    assert step_limit(100, 3) == 901
    assert step_limit(100, 3, 50) == 151


@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_a_gate_that_raises(config: Config, tmp_path: Path, driver: str) -> None:
    """C3: turn 7 is decided again after the gate is mended, turns 8 to 10 run, nothing is skipped."""
    folder, settings = tmp_path / "run", config(turns=10, driver=driver)
    good = _gate_that_breaks(0)
    broken = _gate_that_breaks(7)
    with pytest.raises(InternalError, match=r"turn 7.*KeyError"):
        _with_gate(broken, lambda: start_run(settings, folder))
    view = RunView.load(folder)
    assert (view.status, len(view.attempts)) == ("failed", 6)
    _with_gate(good, lambda: continue_run(folder, settings))
    view = RunView.load(folder)
    assert [attempt.row.turn for attempt in view.attempts] == list(range(1, 11))
    assert view.status == "complete"


def _gate_that_breaks(turn: int) -> Any:
    from turngate.agent.gate import Decision, Past, Readings

    def decide(self: Any, scores: Readings, past: Past) -> Decision:
        if past.turn == turn:
            raise KeyError("missing metric")
        return Decision("accept", "fine")

    return decide


def _with_gate(decide: Any, act: Callable[[], Any]) -> Any:
    from turngate.agent.gates.controls import AlwaysAccept

    patch = pytest.MonkeyPatch()
    patch.setattr(AlwaysAccept, "decide", decide)
    try:
        return act()
    finally:
        patch.undo()


UNSCORED = {"gray": {"type": "scripted", "rule": "sequence", "values": ["unscored:parse"]}}


@pytest.mark.parametrize(
    ("policy", "verdict", "action", "status"),
    [
        ("reject", "reject", "skip", "complete"),
        ("accept", "accept", "accept", "complete"),
        ("retry_evaluator", "reject", "skip", "complete"),
        ("stop", "reject", "stop", "stopped"),
    ],
)
def test_unscored_policies(config: Config, run: Run, policy: str, verdict: str, action: str, status: str) -> None:
    """C4: the policy chosen by name is applied and recorded as the rule."""
    settings = config(turns=2, evaluators=UNSCORED, gate=GATE, on_unscored=policy)
    ended, view = run(settings)
    first = view.attempts[0]
    assert (first.decision.verdict, first.decision.action, ended.status) == (verdict, action, status)
    assert first.decision.rule == f"on_unscored:{policy}"
    assert "gray unscored (parse)" in first.decision.reason
    assert first.scores["gray"].value is None
    assert first.scores["gray"].tries == (3 if policy == "retry_evaluator" else 1)


def test_retry_evaluator_takes_the_first_score(config: Config, run: Run) -> None:
    values = ["unscored:parse", "failed:provider", 0.9]
    evaluators = {"gray": {"type": "scripted", "rule": "sequence", "values": values, "direction": "higher"}}
    settings = config(
        turns=1,
        evaluators=evaluators,
        gate=GATE,
        on_unscored="retry_evaluator",
        score_origin=False,
        allow_unstable_scores=True,
    )
    _, view = run(settings)
    score = view.attempts[0].scores["gray"]
    assert (score.status, score.value, score.tries) == ("scored", 0.9, 3)
    assert view.attempts[0].decision.rule == "gate"


@pytest.mark.parametrize(("accept", "action"), [(True, "accept"), (False, "skip")])
def test_ask_human(config: Config, run: Run, accept: bool, action: str) -> None:
    """C4: the run waits, the editor is not called again, the person's word is the rule."""
    settings = config(turns=1, evaluators=UNSCORED, gate=GATE, on_unscored="ask_human")
    ended, view = run(settings)
    assert (ended.status, view.status, view.attempts) == ("waiting", "waiting", [])
    assert "gray unscored (parse)" in (ended.reason or "")
    assert run(settings)[0].status == "waiting"
    ended, view = run(settings, review=Review(accept, "looks right"))
    decision = view.attempts[0].decision
    assert (ended.status, decision.rule, decision.action) == ("complete", "human", action)
    assert "looks right" in decision.reason


def test_ask_human_about_a_rejected_turn(config: Config, run: Run) -> None:
    settings = config(turns=2, gate=REJECT, on_reject={"attempts": 2, "then": "ask_human"})
    ended, view = run(settings)
    assert (ended.status, len(view.attempts)) == ("waiting", 1)
    ended, view = run(settings, review=Review(True))
    assert (ended.status, view.attempts[1].decision.rule) == ("waiting", "human")
    assert view.attempts[1].taken


def test_a_review_without_a_question_is_refused(config: Config, run: Run) -> None:
    settings = config(turns=1, budgets={"attempts": 1}, gate=REJECT, on_reject={"attempts": 2})
    assert run(settings)[0].status == "budget_exhausted"
    with pytest.raises(UserError, match="does not wait"):
        run(settings, review=Review(True))


def test_a_decision_counts_for_what_the_person_saw(config: Config, run: Run) -> None:
    """Two people decide: the second one's word is not taken for the candidate after it."""
    settings = config(turns=2, gate=REJECT, on_reject={"attempts": 1, "then": "ask_human"})
    assert run(settings)[0].status == "waiting"
    assert run(settings, review=Review(True, at=(1, 1)))[0].status == "waiting"
    with pytest.raises(UserError, match="does not wait for this decision any more"):
        run(settings, review=Review(True, at=(1, 1)))
    assert run(settings, review=Review(True, at=(2, 1)))[0].status == "complete"
    with pytest.raises(UserError, match="does not wait for a person"):
        run(settings, review=Review(True, at=(2, 1)))


@pytest.mark.parametrize(("policy", "rule"), [("decide", "gate"), ("reject", "on_no_change:reject")])
def test_an_editor_that_does_nothing(config: Config, run: Run, policy: str, rule: str) -> None:
    """C5: recorded as no_change, the policy is applied, never counted as an accepted edit."""
    editor = {"type": "scripted", "script": {"2": "same"}}
    _, view = run(config(turns=3, editor=editor, on_no_change=policy))
    second = view.attempts[1]
    assert (second.row.outcome, second.decision.rule) == ("no_change", rule)
    numbers = summarise(view)
    assert numbers.accepted == 2
    assert (numbers.no_change, numbers.rejected) == ((1, 0) if policy == "decide" else (0, 1))


def test_money_runs_out_in_the_middle_of_a_turn(config: Config, run: Run) -> None:
    """C6: totals equal the calls' costs, and a larger limit goes on in the same turn."""
    editor = {"type": "scripted", "cost_usd": 0.134, "paid": True}
    policy = {"attempts": 3, "then": "skip"}
    ended, view = run(config(gate=REJECT, on_reject=policy, editor=editor, budgets={"usd": 0.6}))
    assert ended.status == "budget_exhausted"
    assert summarise(view).cost_usd == pytest.approx(5 * 0.134)
    assert (view.attempts[-1].row.turn, view.attempts[-1].row.attempt) == (2, 2)
    _, view = run(config(gate=REJECT, on_reject=policy, editor=editor, budgets={"usd": 0.7}))
    assert (view.attempts[5].row.turn, view.attempts[5].row.attempt) == (2, 3)
    assert summarise(view).cost_usd == pytest.approx(6 * 0.134)


def test_a_retry_edits_the_accepted_image(config: Config, run: Run) -> None:
    """C7: after a rejection the input is the last accepted image, never the rejected candidate."""
    editor = {"type": "scripted", "script": {"1": 0.9, "2.1": 0.1, "2.2": 0.2, "2.3": 0.9}}
    evaluators = {"gray": {"type": "scripted", "rule": "mean_gray", "direction": "higher"}}
    settings = config(turns=2, editor=editor, evaluators=evaluators, gate=GATE, on_reject={"attempts": 3})
    _, view = run(settings)
    first, *second = view.attempts
    assert [attempt.decision.verdict for attempt in second] == ["reject", "reject", "accept"]
    assert {attempt.row.input_image for attempt in second} == {first.row.image}
    assert len({attempt.row.seed for attempt in second}) == 3


@pytest.mark.parametrize(
    ("policy", "images"),
    [
        ({"then": "accept"}, [1, 2, 3]),
        ({"then": "keep_best", "best_by": "gray", "attempts": 2}, [1, 2, 3]),
        ({"then": "skip"}, [1, 1, 1]),
        ({"then": "restart"}, [1, 0, 0]),
        ({"then": "rollback"}, [1, 0, 0]),
    ],
)
def test_endings_of_rejected_turns(config: Config, run: Run, policy: dict[str, Any], images: list[int]) -> None:
    editor = {"type": "scripted", "script": {"1": 0.9, "2.1": 0.3, "2.2": 0.2, "3.1": 0.1, "3.2": 0.3}}
    evaluators = {"gray": {"type": "scripted", "rule": "mean_gray", "direction": "higher"}}
    _, view = run(config(turns=3, editor=editor, evaluators=evaluators, gate=GATE, on_reject=policy))
    closing = [attempt for attempt in view.attempts if attempt.decision.closes_turn]
    assert [attempt.decision.image_turn_after for attempt in closing] == images
    if policy["then"] == "keep_best":
        assert [attempt.decision.taken_attempt for attempt in closing] == [1, 1, 2]
        assert summarise(view).forced == 2


@pytest.mark.parametrize("why", ["safety", "no_image", "timeout"])
def test_no_image_is_never_the_old_image(config: Config, run: Run, why: str) -> None:
    """C20: a typed outcome; the turn is retried, then skipped."""
    editor = {"type": "scripted", "script": {"2": f"no_image:{why}"}}
    _, view = run(config(turns=3, editor=editor, on_reject={"attempts": 2}))
    failed = view.attempts[1]
    assert (failed.row.outcome, failed.row.why, failed.row.image) == ("no_image", why, None)
    assert failed.scores["gray"].status == "skipped"
    assert [attempt.decision.action for attempt in view.attempts] == ["accept", "retry", "skip", "accept"]
    assert summarise(view).counts["gray"].skipped == 2


def test_no_image_may_stop_the_run(config: Config, run: Run) -> None:
    editor = {"type": "scripted", "script": {"2": "no_image:safety"}}
    ended, view = run(config(editor=editor, on_no_image="stop"))
    assert (ended.status, len(view.attempts), view.attempts[-1].decision.rule) == ("stopped", 2, "on_no_image:stop")


def test_a_blocked_request_is_not_repeated(config: Config, run: Run) -> None:
    editor = {"type": "scripted", "script": {"1": "blocked:blocked_prompt"}}
    _, view = run(config(turns=1, editor=editor, on_reject={"attempts": 5}))
    assert [attempt.decision.action for attempt in view.attempts] == ["skip"]


def test_a_broken_editor_does_not_run_through_all_turns(config: Config, run: Run) -> None:
    ended, view = run(config(turns=100, editor={"type": "scripted", "default": "raise"}))
    assert (ended.status, len(view.attempts)) == ("budget_exhausted", 10)
    assert view.attempts[0].row.detail == "RuntimeError: the script says so"


def test_a_wrong_field_of_an_answer_costs_one_attempt(
    config: Config, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ScriptedEditor.edit

    def edit(self: ScriptedEditor, request: EditRequest) -> Edited | NoImage:
        answer: Any = honest(self, request)
        wrong: Edited = replace(answer, object_failure="exploded") if request.turn == 1 else answer
        return wrong

    monkeypatch.setattr(ScriptedEditor, "edit", edit)
    _, view = run(config(turns=2))
    assert [attempt.row.outcome for attempt in view.attempts] == ["no_image", "edited"]
    row = view.attempts[0].row
    assert (row.why, row.retryable) == ("error", False)
    assert row.detail.startswith("the editor's answer has a wrong object_failure: Input should be 'none'")


@pytest.mark.parametrize("answer", ["garbage", "empty"])
def test_bytes_that_are_no_image(config: Config, run: Run, answer: str) -> None:
    _, view = run(config(turns=2, editor={"type": "scripted", "script": {"1": answer}}))
    row = view.attempts[0].row
    assert (row.outcome, row.why, row.image) == ("no_image", "undecodable", None)
    assert [extra["role"] for extra in row.extras] == (["undecodable"] if answer == "garbage" else [])


def fates(view: RunView) -> dict[str | None, int]:
    """Candidates by what happened to them."""
    return dict(Counter(attempt.outcome for attempt in view.attempts))


def test_the_oracle_and_the_outcomes(config: Config, run: Run) -> None:
    """The oracle lets nothing damaged through; the same images without a gate are all propagated."""
    truth = {"measure": "psnr", "damaged_at": 8}
    editor = {"type": "scripted", "script": {"1": 0.45, "2": 1.0, "3": 0.45, "4": 1.0, "5": 1.0}}
    _, view = run(config(editor=editor, gate={"type": "oracle"}, truth=truth), "oracle")
    numbers = summarise(view)
    assert fates(view) == {"caught": 3, "passed": 2}
    assert (numbers.answer.first_damage_turn, numbers.answer.collapse_turn, numbers.final_damaged) == (
        None,
        None,
        False,
    )
    assert numbers.answer.episodes.propagated == 0
    _, view = run(config(editor=editor, truth=truth), "ungated")
    numbers = summarise(view)
    assert fates(view) == {"propagated": 3, "passed": 2}
    assert (numbers.answer.first_damage_turn, numbers.answer.collapse_turn, numbers.final_damaged) == (2, 5, True)


def test_two_instances_of_one_evaluator_stand_side_by_side(config: Config, run: Run) -> None:
    """C36: other parameters, other scores, other name."""
    evaluators = {"plain": "psnr", "aligned": {"type": "psnr", "align": "shift"}}
    editor = {"type": "codec", "format": "jpeg", "quality": 50}
    _, view = run(config(turns=1, editor=editor, evaluators=evaluators))
    scores = view.attempts[0].scores
    assert set(scores) == {"plain", "aligned"}
    assert view.info.config["evaluators"]["aligned"]["align"] == "shift"
