"""Masked accepts: what is taken of a candidate, and that the loop records, resumes and forks it exactly."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turngate import RunView, summarise
from turngate.errors import ConfigError
from turngate.graphs.config import OriginConfig, RunConfig
from turngate.graphs.origin import load_origin
from turngate.graphs.runner import Ended, continue_run, fork_run
from turngate.graphs.validate import validate
from turngate.pages.report.run import write_run_report
from turngate.picture import Picture
from turngate.traces.analysis.run import AttemptView
from turngate.traces.records import CompositeRow, ScoreRow, TruthRow

from . import stamp

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Ended, RunView]]

STAMP, SAYS = f"{stamp.__name__}:Stamp", f"{stamp.__name__}:Says"
ORIGIN = {"image": "skimage:astronaut", "size": 128}
MASKED: dict[str, Any] = {
    "turns": 4,
    "origin": ORIGIN,
    "editor": {"type": STAMP},
    "evaluators": {"psnr": "psnr"},
    "gate": {"type": "always_reject"},
    "on_reject": {"then": "accept_masked"},
    "truth": {"measure": "psnr", "damaged_at": 30},
}


def rows(view: RunView) -> list[dict[str, Any]]:
    return [
        {
            **attempt.row.comparable(),
            **attempt.decision.comparable(),
            "composite": attempt.made.comparable() if attempt.made else None,
            "scores": [score.comparable() for score in attempt.scores.values()],
        }
        for attempt in view.attempts
    ]


def composite(attempt: AttemptView) -> CompositeRow:
    assert attempt.made is not None
    return attempt.made


def picture(view: RunView, sha256: str) -> Picture:
    return Picture.from_bytes(view.folder.images.get(sha256))


def psnr(one: Any, other: Any) -> float:
    return float(10 * np.log10(255**2 / np.mean((one.astype(float) - other) ** 2)))


@pytest.mark.parametrize("driver", ["graph", "loop"])
def test_the_edit_is_taken_and_the_harm_is_not(config: Config, run: Run, driver: str) -> None:
    _, view = run(config(**MASKED, driver=driver))
    ideal = load_origin(OriginConfig.model_validate(ORIGIN)).rgb
    current = view.info.origin.image
    for attempt in view.attempts:
        made, decision = composite(attempt), attempt.decision
        ideal = stamp.stamped(ideal, attempt.row.turn)
        assert (attempt.row.input_image, made.base, made.candidate) == (current, current, attempt.row.image)
        assert (decision.verdict, decision.action, decision.taken_attempt) == ("reject", "force_accept", 1)
        assert decision.image_after == made.image != attempt.row.image
        assert attempt.row.extras == [{"image": made.image, "role": "composite"}]
        assert made.changed == pytest.approx(stamp.SIDE**2 / 128**2, rel=0.5)
        current = decision.image_after
    last = picture(view, current)
    assert psnr(last.rgb, ideal) > psnr(picture(view, view.attempts[-1].row.image or "").rgb, ideal)
    untouched = np.s_[-60:, :]
    assert np.array_equal(last.rgb[untouched], ideal[untouched]), "far from every edit no pixel may change"
    assert summarise(view).forced == 4
    assert validate(view.folder.path).problems == []


def test_the_composite_has_scores_and_truth_of_its_own(config: Config, run: Run) -> None:
    """A gate that compares with the previous image compares with the composite, not with the candidate it came from."""
    gate = {"type": "relative", "evaluator": "psnr", "reference": "previous", "margin": 0}
    _, view = run(config(**{**MASKED, "gate": gate}))
    for before, after in zip(view.attempts, view.attempts[1:], strict=False):
        made = composite(before)
        (score,) = made.scores
        assert after.decision.evidence["reference"] == score.value
        assert made.truth is not None and score.value == made.truth.value != before.scores["psnr"].value
        assert before.truth is not None and before.truth.value == before.scores["psnr"].value


def test_both_drivers_write_the_same_rows(config: Config, run: Run) -> None:
    fields = {**MASKED, "gate": {"type": "random", "accept_rate": 0.4}, "turns": 8}
    fields["on_reject"] = {"attempts": 2, "then": "accept_masked"}
    made = [rows(run(config(**fields, driver=driver), driver)[1]) for driver in ("graph", "loop")]
    assert made[0] == made[1]
    assert {row["action"] for row in made[0]} == {"accept", "retry", "force_accept"}


@pytest.mark.parametrize("killed_after_the_answer", [False, True])
def test_resume_is_exact(config: Config, run: Run, killed_after_the_answer: bool) -> None:
    gate = {"type": "cusum", "evaluator": "psnr", "baseline": {"mean": 18, "sd": 1}, "h": 1}
    fields = {**MASKED, "turns": 6, "gate": gate}
    _, undisturbed = run(config(**fields), "undisturbed")
    _, cut = run(config(**fields, budgets={"attempts": 3}), "cut")
    if killed_after_the_answer:
        link = sqlite3.connect(cut.folder.ledger_file)
        for table in ("attempts", "scores", "truth", "decisions"):
            link.execute(f"DELETE FROM {table} WHERE turn = 3")
        link.commit()
        link.close()
    _, resumed = run(config(**fields, driver="graph"), "cut")
    assert rows(resumed) == rows(undisturbed)
    assert {row["action"] for row in rows(resumed)} == {"accept", "force_accept"}


def test_a_fork_goes_on_as_its_parent_did(config: Config, run: Run, tmp_path: Path) -> None:
    settings_ = config(**MASKED)
    _, parent = run(settings_, "parent")
    child = fork_run(parent.folder.path, 2, tmp_path / "child", settings_)
    continue_run(child)
    assert rows(RunView.load(child)) == rows(parent)
    assert validate(child).problems == []


def test_nothing_clearly_changed(config: Config, run: Run) -> None:
    """Noise is no edit: the turn is spent, the image stays, and the record says why."""
    _, view = run(config(**{**MASKED, "editor": {"type": "scripted", "default": "noise:16"}}))
    assert {attempt.decision.image_after for attempt in view.attempts} == {view.info.origin.image}
    assert [attempt.decision.action for attempt in view.attempts] == ["skip"] * 4
    assert composite(view.attempts[0]).changed == 0
    assert "no change of the candidate reaches masking.threshold" in view.attempts[0].decision.reason
    assert (summarise(view).rejected, summarise(view).answer.turns.propagated) == (4, 0)


def test_another_aspect_ratio_cannot_be_masked(config: Config, run: Run) -> None:
    editor = {"type": "scripted", "default": "size:30x20"}
    _, view = run(config(**{**MASKED, "editor": editor}))
    assert {attempt.decision.action for attempt in view.attempts} == {"skip"}
    assert "30x20" in (composite(view.attempts[0]).why or "")
    fields = {**MASKED, "gate": {"type": SAYS, "verdicts": ["accept_masked"]}, "editor": editor}
    _, view = run(config(**{**fields, "on_reject": {"attempts": 2}}), "gate")
    assert [attempt.decision.action for attempt in view.attempts][:2] == ["retry", "skip"]
    assert "cannot be masked: the candidate is 30x20" in view.attempts[0].decision.reason


def test_a_gate_may_say_it(config: Config, run: Run) -> None:
    fields = {**MASKED, "gate": {"type": SAYS, "verdicts": ["reject", "accept_masked"]}}
    _, view = run(config(**{**fields, "on_reject": {"attempts": 3}}))
    assert [attempt.decision.action for attempt in view.attempts] == ["retry", "accept"] * 4
    assert view.attempts[0].made is None
    assert composite(view.attempts[1]).image == view.attempts[1].decision.image_after
    assert (summarise(view).accepted, summarise(view).forced) == (4, 0)


def test_an_unchanged_image_stays_no_change(config: Config, run: Run) -> None:
    editor = {"type": "scripted", "default": "same"}
    _, view = run(config(**{**MASKED, "gate": {"type": SAYS, "verdicts": ["accept_masked"]}, "editor": editor}))
    assert (summarise(view).no_change, view.attempts[0].made) == (4, None)


def test_no_candidate_means_nothing_to_mask(config: Config, run: Run) -> None:
    _, view = run(config(**{**MASKED, "editor": {"type": "scripted", "default": "no_image:safety"}}))
    assert [attempt.decision.action for attempt in view.attempts] == ["skip"] * 4


def test_a_simulator_cannot_tell_the_truth_about_a_composite(config: Config, run: Run) -> None:
    truth = {"measure": "simulator", "damaged_at": 3}
    with pytest.raises(ConfigError, match=r"truth\.measure"):
        run(config(**{**MASKED, "truth": truth}))


def test_a_report_of_it_can_be_written(config: Config, run: Run) -> None:
    _, view = run(config(**MASKED))
    image = composite(view.attempts[-1]).image
    assert image is not None and image[:12] in write_run_report(view.folder.path).read_text()


@pytest.mark.parametrize(
    ("masking", "message"),
    [({"threshold": 0}, "threshold"), ({"feather": -1}, "feather"), ({"treshold": 3}, "did you mean 'threshold'")],
)
def test_wrong_settings_are_named(config: Config, masking: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(on_reject={"then": "accept_masked", "masking": masking})


def test_a_composite_is_a_row_of_its_own(config: Config, run: Run) -> None:
    _, view = run(config(**MASKED))
    link = sqlite3.connect(view.folder.ledger_file)
    stored = link.execute("SELECT turn, attempt, image, scores, truth FROM composites ORDER BY turn").fetchall()
    link.close()
    for (turn, attempt, image, scores, truth), each in zip(stored, view.attempts, strict=True):
        made = composite(each)
        assert (
            (turn, attempt, image)
            == (made.turn, made.attempt, made.image)
            == (each.row.turn, 1, each.decision.image_after)
        )
        assert [ScoreRow.model_validate(one) for one in json.loads(scores)] == made.scores
        assert TruthRow.model_validate_json(truth) == made.truth == each.standing


def test_a_composite_that_did_not_become_the_current_image_is_found(config: Config, run: Run) -> None:
    _, view = run(config(**{**MASKED, "turns": 1}))
    with sqlite3.connect(view.folder.ledger_file) as link:
        link.execute("UPDATE composites SET image = ?", ("0" * 64,))
    link.close()
    problem = f"turn 1, attempt 1: the composite {'0' * 12} did not become the current image"
    assert validate(view.folder.path).problems == [problem]


def test_a_composite_of_an_earlier_attempt_stands_for_that_candidate(config: Config, run: Run) -> None:
    """The last attempt gave no image: what was made belongs to its decision, and was taken of the attempt before."""
    editor = {"type": "scripted", "size": 128, "script": {"1.1": 0.2, "1.2": "no_image:safety"}}
    fields = {**MASKED, "turns": 1, "editor": editor, "on_reject": {"attempts": 2, "then": "accept_masked"}}
    _, view = run(config(**fields))
    first, second = view.attempts
    assert (first.made, second.composite) == (None, None)
    assert first.composite == second.made == composite(second)
    assert (first.taken, composite(second).candidate, composite(second).attempt) == (True, first.row.image, 2)
