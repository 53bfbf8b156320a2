"""Studies and answers from Python, and what a notebook shows of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import turngate
from turngate import Decision, EvalInput, Facts, Past, Reading, RunView, Score, open_run, summarise
from turngate.errors import ConfigError
from turngate.graphs.study import parse_study

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


class Red:
    """Mean of the red channel."""

    facts = Facts("red", "1", "lower", (0, 255))

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Any]:
        return [Score(float(one.candidate.rgb[:, :, 0].mean())) for one in batch]


class Never:
    """A gate of the program."""

    reads = frozenset({"red"})
    reads_truth = False

    def decide(self, scores: dict[str, Reading], past: Past) -> Decision:
        return Decision("reject", "<never>")


STUDY: dict[str, Any] = {
    "name": "mine",
    "question": "Does <my> gate stop it?",
    "run": {
        "origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 12, "driver": "loop",
        "editor": {"type": "codec", "format": "jpeg", "quality": 30}, "evaluators": [Red()],
        "truth": {"measure": "psnr", "damaged_at": 40}, "telemetry": {"exporter": "none"},
    },
    "arms": {"never": {"gate": Never()}},
    "controls": ["no-gate"],
}  # fmt: skip


def test_a_study_in_three_lines_with_objects(tmp_path: Path) -> None:
    study = turngate.parse_study(STUDY)
    ended = turngate.run_study(study, tmp_path / "out")
    answer = turngate.read_answer(tmp_path / "out")
    assert [one.status for one in ended] == ["complete", "complete"]
    never, plain = answer.arms
    assert (never.arm, never.stalled) == ("never", 1)
    assert (plain.arm, plain.exposure.value) == ("no-gate", 1.0)
    assert "test_library:Never" in (tmp_path / "out" / "study.json").read_text()
    html = answer._repr_html_()
    assert "Does &lt;my&gt; gate stop it?" in html and "<my>" not in html
    assert all(arm.verdict.words in html for arm in answer.arms)
    assert html.count("<table>") >= 2


def test_a_study_that_is_wrong_says_where() -> None:
    wrong = {**STUDY, "run": {**STUDY["run"], "trun": 2}}
    with pytest.raises(ConfigError, match=r"study, arm never.*did you mean 'turns'"):
        parse_study(wrong)


def test_what_a_notebook_shows(tmp_path: Path) -> None:
    """Pictures of a run, its numbers, and a decision; what models and gates say is no HTML."""
    with open_run(tmp_path / "run", origin="skimage:astronaut", size=64, evaluators=[Red()], gate=Never()) as run:
        offered = run.offer(run.current.to_pil(), "<b>hat</b>")
    assert "&lt;never&gt;" in offered._repr_html_() and "<never>" not in offered._repr_html_()
    assert "&lt;never&gt;" in Decision("reject", "<never>")._repr_html_()
    view = RunView.load(tmp_path / "run")
    assert len(re.findall("<img src='data:image/jpeg;base64,", view._repr_html_())) == 2
    assert summarise(view).verdict.words in summarise(view)._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.name))
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    """As they are, in an empty folder; they are stored without outputs."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert not [cell for cell in notebook.cells if cell.get("outputs")], "stored outputs grow old"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [kind for cell in notebook.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())]
    assert "text/html" in shown


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
