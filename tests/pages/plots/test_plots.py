"""Figures of a study for print: which are written, what they say, that all of it is seen, the same bytes twice."""

from __future__ import annotations

import csv
import json
import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from click.testing import CliRunner
from PIL import Image
from tests.traces.runs import Writer, long_run, study_of

from turngate.cli.report import plot_command
from turngate.errors import MachineError, NoSuchRun, UserError
from turngate.traces.analysis.study import LoadedStudy, StudyAnswer, StudyView, answer_study, load_study

from ._studies import CONTROLS, arms_study

pytest.importorskip("matplotlib")

from turngate.pages.plots import Plot, Written, study_plots, write_plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = tuple(f"arm-{place:02d}-threshold-brisque-then-roll-back" for place in range(26))
EVALUATORS = {f"an-evaluator-with-a-long-name-{place:02d}": "higher" if place % 2 else "lower" for place in range(13)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arms on two origins, 21 turns; one arm is called so that careless plotting would stumble."""
    root = tmp_path_factory.mktemp("plots") / "study"
    rows = []
    for arm, attempts in (("costs $5 & <b>_x^2", 2), ("no-gate", 1)):
        for origin in ("coffee", "astronaut"):
            gate = (
                {"type": "always_accept"}
                if arm == "no-gate"
                else {"type": "threshold", "evaluator": "brisque", "at": 40}
            )
            folder = root / f"a{attempts}" / origin
            path = long_run(folder, 21, attempts, 48, simulated=attempts == 2, gate=gate)
            rows.append({"arm": arm, "origin": origin, "control": arm == "no-gate", "path": path})
    return study_of(root, rows)


def answer_of(folder: Path) -> tuple[LoadedStudy, StudyAnswer]:
    view = load_study(StudyView.load(folder))
    return view, answer_study(view)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedStudy, StudyAnswer]:
    """Nine gates, one of them rolling back, and the four controls, with thirteen evaluators."""
    names = [*(f"gate-{place}" for place in range(8)), "rollback", *CONTROLS]
    root = tmp_path_factory.mktemp("many")
    return answer_of(arms_study(root, names, rollback="rollback", turns=21, evaluators=EVALUATORS))


@pytest.fixture(scope="module")
def many_plots(many: tuple[LoadedStudy, StudyAnswer]) -> list[Plot]:
    return study_plots(*many).plots


def plot(folder: Path, out: Path, kind: Literal["svg", "png", "pdf"] = "svg") -> Written:
    return write_plots(*answer_of(folder), out, kind)


def words(path: Path) -> str:
    """Text of a figure."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)<", path.read_text(encoding="utf-8")))


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_sheet(figure: Figure) -> None:
    """Every letter lies on the sheet, is large enough, and panels, key and words do not touch each other."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    found = [(f"panel {axes.get_title(loc='left')!r}", axes.get_tightbbox()) for axes in figure.axes if axes.axison]
    blocks = [(name, box) for name, box in found if box is not None]
    assert len(blocks) == len(found) > 0
    blocks += [(text.get_text(), text.get_window_extent()) for text in figure.texts]
    blocks += [("key", legend.get_window_extent()) for legend in figure.legends]
    wide, high = figure.bbox.width, figure.bbox.height
    for name, box in blocks:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= wide and box.y1 <= high, f"{name} runs over the edge"
    for (name, box), (other, beside) in combinations(blocks, 2):
        over = min(box.x1, beside.x1) - max(box.x0, beside.x0), min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert min(over) <= 0, f"{name} lies on {other}"
    assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) >= 6.5
    assert figure.get_figwidth() in (3.5, 7.0) and figure.get_figheight() <= 9


def check_sheets(plots: list[Plot]) -> None:
    for one in plots:
        for figure in one.figures:
            check_sheet(figure)


@pytest.mark.slow
def test_every_figure_is_written_and_named(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    written = plot(folder, out)
    names = [
        "plane",
        "plane-equal-calls",
        "truth",
        "first-damage",
        "episodes",
        "auc",
        "roc",
        "gap",
        "score-brisque",
        "score-psnr",
    ]
    assert [path.name for path in written.figures] == [f"{name}.svg" for name in names]
    assert [path.name for path in written.tables] == [f"{name}.csv" for name in names]
    assert set(out.iterdir()) == {*written.figures, *written.tables, written.captions}
    shown = {path.stem: words(path) for path in written.figures}
    assert "damaged at 0.5 or more" in shown["truth"] and "no-gate" in shown["truth"]
    assert "Truth: simulator (lower is better)" in shown["truth"]
    assert "costs $5" in shown["plane"] and "SIMULATED in 2 of 4 runs" in shown["plane"]
    assert "n = 2 runs per arm, 1 origin" in shown["plane"], "both origins are one picture"
    assert "stalls" in shown["plane"] and "propagates" in shown["plane"]
    assert "AUC within a run" in shown["auc"] and "brisque" in shown["gap"] and "misses" in shown["gap"]
    assert written.captions is not None
    told = written.captions.read_text(encoding="utf-8")
    assert all(f"{name}\n" in told for name in names) and told.count("SIMULATED") >= 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_study_gives_the_same_bytes(folder: Path, tmp_path: Path, kind: Literal["svg", "png", "pdf"]) -> None:
    first, second = (plot(folder, tmp_path / name, kind) for name in ("a", "b"))
    for one, other in zip((*first.figures, *first.tables), (*second.figures, *second.tables), strict=True):
        assert one.read_bytes() == other.read_bytes()
    if kind == "png":
        with Image.open(first.figures[0]) as image:
            assert image.width == 1050, "one column at 300 dots per inch"
    if kind == "pdf":
        assert b"/FontFile2" in first.figures[0].read_bytes(), "TrueType, embedded"
        assert b"/Type3" not in first.figures[0].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [LONG[:1], LONG[:2], LONG[:4], LONG[:5], ("W" * 40, "M" * 40), ("W" * 40, *"abcd", "M" * 40, *CONTROLS), CONTROLS],
    ids=["1", "2", "4", "5", "wide", "10", "controls"],
)
def test_nothing_is_cut_off_or_covered(tmp_path: Path, names: tuple[str, ...]) -> None:
    check_sheets(study_plots(*answer_of(arms_study(tmp_path, names))).plots)


@pytest.mark.slow
def test_nothing_is_cut_off_with_thirteen_arms_and_evaluators(many_plots: list[Plot]) -> None:
    names = [one.name for one in many_plots]
    assert names[:7] == ["plane", "truth", "first-damage", "episodes", "auc", "roc", "gap"]
    assert len([name for name in names if name.startswith("score-")]) == 13
    check_sheets(many_plots)


@pytest.mark.slow
def test_thirty_arms_go_on_two_sheets(tmp_path: Path) -> None:
    plots = study_plots(*answer_of(arms_study(tmp_path, [*LONG, *CONTROLS]))).plots
    assert next(one for one in plots if one.name == "truth").stems() == ["truth-1", "truth-2"]
    check_sheets(plots)


def test_every_gate_has_a_panel_with_the_controls_behind_it(many_plots: list[Plot]) -> None:
    truth = next(one for one in many_plots if one.name == "truth").figures[0]
    titles = [axes.get_title(loc="left") for axes in truth.axes]
    assert titles == [*(f"gate-{place}" for place in range(8)), "rollback"]
    key = [text.get_text() for text in truth.legends[0].get_texts()]
    assert {*CONTROLS, "the arm of the panel", "its range over runs"} <= set(key) | {"always-reject"}


@pytest.mark.slow
def test_tables_hold_the_numbers_of_the_answer(many: tuple[LoadedStudy, StudyAnswer], tmp_path: Path) -> None:
    """As `turngate study --json` tells them, for every arm and every evaluator."""
    _, answer = many
    tables = {path.stem: table(path) for path in write_plots(*many, tmp_path, "svg").tables}
    for arm in answer.arms:
        mine = {name: [row for row in rows if row.get("arm") == arm.arm] for name, rows in tables.items()}
        point = next(row for row in mine["plane"] if row["origin"] == "")
        assert float(point["exposure_percent"]) == pytest.approx(100 * (arm.exposure.value or 0))
        assert float(point["progress_per_100"]) == pytest.approx(arm.progress.value)
        assert [int(row["turn"]) for row in mine["truth"]] == list(range(22))
        kept = {int(row["turn"]): float(row["share_without_damage"]) for row in mine["first-damage"]}
        steps = dict(zip(arm.first_damage.turns, arm.first_damage.share, strict=True))
        assert kept | steps == pytest.approx(kept)
        (ends,) = mine["episodes"]
        found = arm.episodes
        assert [int(ends[end]) for end in ("caught", "stalled", "propagated")] == [
            found.caught, found.stalled, found.propagated,
        ]  # fmt: skip
    for one in answer.evaluators:
        areas = [row for row in tables["auc"] if row["evaluator"] == one.evaluator and row["origin"] == ""]
        known = {editor.editor: editor.auc.value for editor in one.editors if editor.auc.value is not None}
        assert {row["editor"]: float(row["auc"]) for row in areas if row["auc"]} == pytest.approx(known)
        changes = [row for row in tables["gap"] if row["evaluator"] == one.evaluator]
        for step, values in one.gap.deltas.items():
            assert [float(row["change"]) for row in changes if row["turn"] == str(step)] == values


def test_one_origin_has_no_interval_and_says_so(tmp_path: Path) -> None:
    written = plot(arms_study(tmp_path / "study", ("a", "no-gate"), origins=("",)), tmp_path / "out")
    shown = words(written.figures[0])
    assert "1 origin" in shown and "no intervals" in shown and "95 %" not in shown
    plane = next(path for path in written.tables if path.stem == "plane")
    assert {row["exposure_low"] for row in table(plane)} == {""}
    reasons = {one.name: one.reason for one in written.left_out}
    assert "every arm has a single run" in reasons["first-damage"]


@pytest.mark.slow
def test_two_measures_of_truth_have_no_common_axis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = arms_study(tmp_path / "one", ("a",))
    as_simulator = Writer._truth

    def as_judge(self: Writer, *args: Any) -> Any:
        return as_simulator(self, *args).model_copy(update={"measure": "judge/b c"})

    monkeypatch.setattr(Writer, "_truth", as_judge)
    second = arms_study(tmp_path / "two", ("b",))
    rows = [
        {"arm": run.arm, "origin": run.origin, "path": run.path}
        for study in (first, second)
        for run in StudyView.load(study).runs
    ]
    written = plot(study_of(tmp_path / "both", rows), tmp_path / "out")
    tables = {path.name: path for path in written.tables}
    assert {"truth-simulator.csv", "truth-judge-b-c.csv"} <= tables.keys()
    assert {row["arm"] for row in table(tables["truth-simulator.csv"])} == {"a"}


def test_what_the_study_has_no_data_for_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "study" / "a", size=48, turns=1, truth=False, evaluators={})
    writer.attempt(1, image=None, scores={}, verdict="reject", action="skip", status_after="complete")
    study = study_of(tmp_path / "study", {"a": writer.close()})
    written = plot(study, tmp_path / "out")
    assert (written.figures, written.tables, written.captions) == ([], [], None)
    assert all(one.reason for one in written.left_out) and written.left_out
    assert not (tmp_path / "out").exists()
    answer = CliRunner().invoke(plot_command, [str(study), "--out", str(tmp_path / "out"), "--json"])
    told = json.loads(answer.stdout)
    assert (told["figures"], told["tables"], told["captions"]) == ([], [], [])


def test_a_run_without_a_closed_turn_is_no_obstacle(tmp_path: Path) -> None:
    path = Writer(tmp_path / "study" / "a", size=8).close("interrupted")
    found = study_plots(*answer_of(study_of(tmp_path / "study", {"a": path})))
    assert found.left_out
    check_sheets(found.plots)


def test_letters_that_the_font_lacks_are_told_by_their_number(tmp_path: Path) -> None:
    names = {"日本": "higher", "psnr\u202e": "lower"}
    written = plot(arms_study(tmp_path / "s", ("a", "no-gate"), evaluators=names), tmp_path / "o")
    shown = words(next(path for path in written.figures if path.stem == "roc"))
    assert "[U+65E5][U+672C]" in shown and "psnr[U+202E]" in shown


@pytest.mark.slow
def test_wrong_input_is_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no run yet"):
        plot(study_of(tmp_path / "none", {"a": tmp_path / "nowhere"}), tmp_path / "out")
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(UserError, match="file is a file, and figures go into a folder"):
            plot(folder, out)
    (tmp_path / "taken" / "plane.svg").mkdir(parents=True)
    with pytest.raises(MachineError, match="cannot write"):
        plot(folder, tmp_path / "taken")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["plane.svg"], "nothing half-written is left"
    with pytest.raises(NoSuchRun, match="no study in"):
        plot(tmp_path, tmp_path / "out")


@pytest.mark.slow
def test_plotting_leaves_matplotlib_as_it_was(folder: Path, tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.rcParams["lines.linewidth"] = 7
    before = {name: value for name, value in mpl.rcParams.items() if name != "backend"}  # found out on first use
    plot(folder, tmp_path / "out")
    assert {name: mpl.rcParams[name] for name in before} == before
    mpl.rcdefaults()
