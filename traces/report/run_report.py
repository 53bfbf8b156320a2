"""The page of one run: `report.html` in its folder."""

from __future__ import annotations

from pathlib import Path

from turngate.traces.analysis.run_view import RunView
from turngate.traces.analysis.summary import RunSummary, summarise
from turngate.traces.report._notices import notices
from turngate.traces.report._page import write_page
from turngate.traces.report._run_charts import score_panel, truth_panel
from turngate.traces.report._settings import as_yaml, made_with, models, settings
from turngate.traces.report._thumbnails import edge_for, shots
from turngate.traces.report._turns import TurnPage, images_of, turn_pages
from turngate.traces.report.headline import headline, second_line

__all__ = ["write_run_report"]


def write_run_report(run: Path) -> Path:
    """Write `report.html` of the run at `run` and return its path.

    One file that opens without network; full images are linked where they lie in the run folder. Raises `NoSuchRun`
    or `DamagedRun` when there is no run to read, `MachineError` when the page cannot be written.
    """
    view = RunView.load(run)
    summary = summarise(view)
    images = images_of(view)
    pictures = shots(view.folder.images, images, view.folder.path, edge_for(len(images)))
    turns = turn_pages(view, pictures)
    truth = truth_panel(view)
    panels = {name: score_panel(view, name) for name in view.info.config["evaluators"]}
    figures = {"truth": truth.figure} if truth else {}
    figures |= {f"score-{number}": panel.figure for number, panel in enumerate(panels.values(), 1)}
    return write_page(
        view.folder.report_file,
        "run.html.j2",
        figures if view.attempts else {},
        pictures.values(),
        title=f"turngate run {view.info.run}",
        run=view,
        summary=summary,
        headline=headline(summary),
        second_line=second_line(summary),
        notices=notices(view, summary, pictures),
        settings=settings(view, summary),
        made_with=made_with(view),
        models=models(view),
        facts=view.info.resolved.get("evaluators") or {},
        config=as_yaml(view.info.config),
        origin=pictures[str(view.info.origin["image"])],
        turns=turns,
        aspect=_aspect(view),
        without_score=_without_score(view),
        retries=any(len(turn.attempts) > 1 for turn in turns),
        telling=_telling(summary, turns),
        truth_panel=truth,
        panels=panels,
        took=_took(view),
    )


def _without_score(view: RunView) -> list[str]:
    """Kinds of results without a value that occur in the run."""
    rows = [*view.baseline.values(), *(score for attempt in view.attempts for score in attempt.scores.values())]
    return [kind for kind in ("unscored", "failed", "skipped") if any(row.status == kind for row in rows)]


def _aspect(view: RunView) -> str:
    """Width by height of the places for pictures in the filmstrip; very long images are letterboxed."""
    width, height = int(view.info.origin.get("width") or 1), int(view.info.origin.get("height") or 1)
    return f"{min(2.0, max(0.6, width / height)):.3f}"


def _telling(summary: RunSummary, turns: list[TurnPage]) -> str:
    """The attempt to show first: where the run collapsed, first let damage through, or ended."""
    wanted = summary.collapse_turn or summary.first_propagated_turn or summary.first_damaged_turn
    return next((turn.shown.key for turn in turns if turn.number == wanted), turns[-1].shown.key if turns else "")


def _took(view: RunView) -> int | None:
    """Nanoseconds from the first editor call to the last decision."""
    if not view.attempts:
        return None
    return view.attempts[-1].decision.at_ns - view.attempts[0].row.started_ns
