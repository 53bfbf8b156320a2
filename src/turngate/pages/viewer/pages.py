"""The viewer's pages: the same as the reports, with addresses instead of data, and tools around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from turngate.pages.report.page import as_data, data, environment, scripts
from turngate.pages.report.run.page import run_content
from turngate.pages.report.run.turns import Stop, images_of
from turngate.pages.report.study.page import study_content
from turngate.pages.report.thumbnails import Shot, edge_for
from turngate.pages.viewer.entries import Spot
from turngate.pages.viewer.guard import POLICY
from turngate.pages.viewer.index import Found, Index
from turngate.pages.viewer.labelling import Means
from turngate.pages.viewer.pictures import linked_shots
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.study.answer import answer_study
from turngate.traces.analysis.study.loaded import LoadedRun
from turngate.traces.analysis.study.study_view import StudyView
from turngate.traces.viewer.confine import confined
from turngate.traces.viewer.glance import stamp
from turngate.traces.viewer.query import DAMAGE, STATUSES, Query
from turngate.traces.viewer.tools import tools_of
from turngate.traces.viewer.waiting import Waiting, waiting_in

__all__ = ["HERE", "list_page", "message_page", "run_page", "study_page", "study_stamp"]

HERE = Path(__file__).parent
_WHOLE = [*scripts(True)[:-1], "viewer.js", scripts(True)[-1]]
"""Charts too where there are none yet: they come while the run goes on."""
_NOTHING: Mapping[str, str] = {}
_FILES = ("run.json", "ledger.sqlite", "ledger.sqlite-wal", "scores.sqlite", "scores.sqlite-wal", "images")


def list_page(index: Index, found: Found, query: Query, base: str) -> str:
    """The list of runs and studies."""
    return _page(
        "list.html.j2", base, ["list.js"], title=f"{index.root.name} - turngate view", found=found, query=query,
        root=str(index.root), statuses=STATUSES, damage=DAMAGE,
    )  # fmt: skip


def message_page(base: str, title: str, text: str) -> str:
    """One line, where there is nothing else to show."""
    return _page("message.html.j2", base, ["viewer.js"], title=title, text=text)


def run_page(index: Index, one: Spot, base: str, version: str, means: Means) -> str:
    """A run as its report shows it, with what labelling and review need."""
    view = _load(index, one)
    held = waiting_in(view)
    images = images_of(view) | ({held.candidate} if held and held.candidate else set())
    shots = linked_shots(view.folder.images, images, base, one.key, edge_for(len(images)))
    page = run_content(
        view, shots, means.reader, [_stop(held, shots[held.candidate])] if held and held.candidate else []
    )
    tools = tools_of(one.key, view, version, held, means)
    given = {**page.values, "entry": one, "tools": tools, "tools_json": as_data(json.dumps(tools))}
    given |= {"waiting": held, "pictures": shots}
    return _page("view_run.html.j2", base, _WHOLE, page.figures, page.shots, **given)


def study_stamp(one: Spot) -> object:
    """Changes whenever the page of the study would be another one."""
    return one.changed_ns, one.size, tuple(stamp(run.path) for run in StudyView.load(one.path).runs)


def _stop(held: Waiting, shot: Shot) -> Stop:
    return Stop("waiting", f"turn {held.turn}: waits for you", shot.sha256, shot.href, held.size)


def _load(index: Index, one: Spot) -> RunView:
    for name in _FILES:
        if (one.path / name).is_symlink():
            confined(index.root, one.path / name)
    return RunView.load(one.path)


def study_page(index: Index, one: Spot, base: str, means: Means) -> str:
    """A study as its page shows it, with links to the viewer's pages of its runs."""
    whole = StudyView.load(one.path)
    inside = [run for run in whole.runs if run.path.resolve().is_relative_to(index.root)]
    study = StudyView(whole.folder, whole.config, inside)
    index.scan()
    keys = index.keys()

    def key(run: LoadedRun) -> str:
        return keys.get(run.run.path.resolve(), "none")

    def pictures(run: LoadedRun, wanted: Iterable[str], edge: int) -> dict[str, Shot]:
        return linked_shots(run.images, wanted, base, key(run), edge)

    page = study_content(study, answer_study(study, means.reader), lambda run: f"{base}/run/{key(run)}", pictures)
    outside = len(whole.runs) - len(inside)
    if outside:
        verb = "lies" if outside == 1 else "lie"
        page.values["notices"].append(f"{outside} of its runs {verb} outside of the folder that is viewed.")
    return _page("view_study.html.j2", base, _WHOLE, page.figures, page.shots, **page.values, entry=one)


def _page(
    template: str, base: str, code: list[str], figures: Mapping[str, str] = _NOTHING, shots: Iterable[Shot] = (),
    **values: Any,
) -> str:  # fmt: skip
    sources = [f"{base}/static/{name}" for name in code]
    return environment(HERE).get_template(template).render(
        policy=POLICY.replace("; frame-ancestors 'none'", ""),  # a header alone may say it
        base=base, sources=sources, **data(figures, shots), **values,
    )  # fmt: skip
