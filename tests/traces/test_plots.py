"""Figures of a study for print: which are written, what they say, the same bytes twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from turngate.errors import MachineError, UserError
from turngate.traces.analysis.study_answer import answer_study
from turngate.traces.analysis.study_view import StudyView

from ._runs import Writer, long_run, study_of

pytest.importorskip("matplotlib")

from turngate.traces.plots.write import write_plots


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arms on two origins, 21 turns; one arm is called so that careless plotting would stumble."""
    root = tmp_path_factory.mktemp("plots") / "study"
    rows = []
    for arm, attempts in (("costs $5 & <b>_x^2", 2), ("no-gate", 1)):
        for origin in ("coffee", "astronaut"):
            path = long_run(root / f"a{attempts}" / origin, 21, attempts, 48, simulated=attempts == 2)
            rows.append({"arm": arm, "origin": origin, "control": arm == "no-gate", "path": path})
    return study_of(root, rows)


def plot(folder: Path, out: Path, kind: str = "svg") -> list[Path]:
    view = StudyView.load(folder)
    return write_plots(view, answer_study(view), out, "svg" if kind == "svg" else "png" if kind == "png" else "pdf")


def words(path: Path) -> str:
    """Text of a figure: matplotlib leaves it in comments beside the outlines."""
    return " ".join(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8")))


def test_every_figure_is_written_and_named(folder: Path, tmp_path: Path) -> None:
    written = plot(folder, tmp_path / "new" / "out")
    assert [path.stem for path in written] == ["truth", "survival", "delay", "cost", "roc", "deltas"]
    assert {path.name for path in (tmp_path / "new" / "out").iterdir()} == {path.name for path in written}
    shown = words(written[0])
    assert "damaged at 0.5" in shown and "no-gate" in shown and "truth: simulator (lower is better)" in shown
    assert "costs $5" in shown and "(simulated)" in shown
    assert "AUC" in words(written[4]) and "false-alarm rate" in words(written[4])
    assert "brisque: misses" in words(written[5])


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_study_gives_the_same_bytes(folder: Path, tmp_path: Path, kind: str) -> None:
    first, second = (plot(folder, tmp_path / name, kind) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    if kind == "png":
        with Image.open(first[0]) as image:
            assert image.width >= 1000, "one column at 300 dots per inch"


def test_what_the_study_has_no_data_for_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "study" / "a", size=48, turns=1, truth=False)
    writer.attempt(1, image=None, scores={}, verdict="reject", action="skip", status_after="complete")
    assert plot(study_of(tmp_path / "study", {"a": writer.close()}), tmp_path / "out") == []


def test_no_run_and_no_room_are_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no run yet"):
        plot(study_of(tmp_path / "none", {"a": tmp_path / "nowhere"}), tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot write"):
        plot(folder, tmp_path / "file")


def test_plotting_leaves_matplotlib_as_it_was(folder: Path, tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.rcParams["lines.linewidth"] = 7
    before = {name: value for name, value in mpl.rcParams.items() if name != "backend"}  # found out on first use
    plot(folder, tmp_path / "out")
    assert {name: mpl.rcParams[name] for name in before} == before
    mpl.rcdefaults()
