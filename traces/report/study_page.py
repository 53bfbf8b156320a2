"""The page of a study: its arms side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from turngate.errors import UserError
from turngate.traces.redact import redact
from turngate.traces.report._arm_charts import arms_score_panel, arms_truth_panel
from turngate.traces.report._arms import contact_row, contact_turns, load_arm
from turngate.traces.report._page import write_page

__all__ = ["write_study_page"]


def write_study_page(folder: Path, title: str, question: str, arms: Mapping[str, Path], notes: str = "") -> Path:
    """Write `index.html` in `folder`, which compares `arms` (name -> run folder), and return its path.

    Links to the runs' reports and images are relative, so the study's folder can be moved as a whole. Raises
    `UserError` when there is no arm, `NoSuchRun` or `DamagedRun` when an arm cannot be read, `MachineError` when the
    page cannot be written.
    """
    if not arms:
        raise UserError(f"the study {title!r} has no arms: name at least one run to show")
    loaded = [load_arm(name, path, place, folder) for place, (name, path) in enumerate(arms.items())]
    turns = contact_turns(loaded)
    sheet = {arm.name: contact_row(arm, turns, folder) for arm in loaded}
    truth = arms_truth_panel(loaded)
    names = dict.fromkeys(name for arm in loaded for name in arm.run.info.config["evaluators"])
    panels = [arms_score_panel(loaded, name) for name in names]
    figures = {"truth": truth.figure} if truth else {}
    figures |= {f"score-{number}": panel.figure for number, panel in enumerate(panels, 1)}
    return write_page(
        folder / "index.html",
        "study.html.j2",
        figures,
        (cell.shot for row in sheet.values() for cell in row if cell.shot is not None),
        title=f"turngate study {redact(title)}",
        name=redact(title),
        question=redact(question),
        notes=redact(notes),
        arms=loaded,
        simulated=[arm.name for arm in loaded if arm.summary.simulated],
        turns=turns,
        sheet=sheet,
        truth_panel=truth,
        panels=panels,
    )
