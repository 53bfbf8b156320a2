"""The viewer's pages: the same as the reports, with addresses instead of data, and tools around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turngate.errors import UserError
from turngate.pages.report import Shot, as_data, data, edge_for, environment, scripts
from turngate.pages.report.run import Stop, images_of, run_content
from turngate.pages.report.study import study_content
from turngate.pages.viewer.comparing import compare_values
from turngate.pages.viewer.guard import POLICY, confined
from turngate.pages.viewer.index import Index, ListingPage
from turngate.pages.viewer.labelling import ViewerOptions, labelling_values
from turngate.pages.viewer.listing import ListedFolder, Stamp, stamp
from turngate.pages.viewer.notes import NO_NOTE
from turngate.pages.viewer.pictures import linked_shots
from turngate.pages.viewer.query import STATUSES, VERDICTS, Query
from turngate.traces.analysis.run import VERDICT_WORDS, RunView, standings
from turngate.traces.analysis.study import LoadedRun, StudyView, answer_study, load_study

__all__ = [
    "HERE",
    "PendingReview",
    "check_pending",
    "compare_page",
    "labelling_page",
    "list_page",
    "message_page",
    "pending_review",
    "run_page",
    "study_page",
    "study_stamp",
    "version_of",
]


# The attempt that waits for a person. It is in no table yet but that of the calls.


@dataclass(frozen=True)
class PendingReview:
    """What a person must decide about."""

    turn: int
    attempt: int
    reason: str
    candidate: str | None
    """SHA-256; None when the editor gave no image."""
    current: str
    """SHA-256 of the image that was edited."""
    reasoning: str
    size: str
    """Width x height of the candidate in pixels."""


def check_pending(view: RunView, turn: int, attempt: int) -> None:
    """Raise `UserError` when the run does not wait for a decision about this attempt."""
    pending = pending_review(view)
    if pending is None or (pending.turn, pending.attempt) != (turn, attempt):
        raise UserError("the run does not wait for this decision any more: load the page again")


def pending_review(view: RunView) -> PendingReview | None:
    """The attempt that the run waits for, or None."""
    ended = [event for event in view.events if event.kind == "ended"]
    if view.status != "waiting" or not ended or "turn" not in ended[-1].data:
        return None
    ending = ended[-1].data
    turn, attempt = int(ending["turn"]), int(ending["attempt"])
    ledger = view.folder.ledger()
    try:
        calls = [call for call in ledger.calls() if (call.kind, call.turn, call.attempt) == ("edit", turn, attempt)]
    finally:
        ledger.close()
    answer = calls[-1].answer if calls else {}
    origin = view.info.origin.image
    return PendingReview(
        turn=turn,
        attempt=attempt,
        reason=str(ending.get("reason") or ""),
        candidate=answer.get("image"),
        current=origin if view.config.history == "origin" else standings(view)[-1].image,
        reasoning=str(answer.get("reasoning") or ""),
        size=f"{answer.get('width')} x {answer.get('height')}",
    )


@dataclass(frozen=True)
class NowPicture:
    """One picture of a run that goes on."""

    title: str
    words: str
    shot: Shot


# What the scripts on the page of a run know about it.


def version_of(stamp: Stamp, status: str) -> str:
    """Changes whenever the page would be another one."""
    return f"{status}-{'-'.join(map(str, stamp))}"


def tools_of(
    key: str, view: RunView, version: str, pending: PendingReview | None, options: ViewerOptions
) -> dict[str, Any]:
    """Plain JSON for `viewer.js` and the template."""
    last = view.attempts[-1].row if view.attempts else None
    return {
        "key": key,
        "version": version,
        "status": view.status,
        "last": f"t{last.turn}a{last.attempt}" if last else "",
        "can_review": options.review is not None,
        "by": options.book.by if options.book is not None else "",
        "review": {"turn": pending.turn, "attempt": pending.attempt} if pending else None,
    }


HERE = Path(__file__).parent
_WHOLE = [*scripts(True)[:-1], "viewer.js", scripts(True)[-1]]
"""Charts too where there are none yet: they come while the run goes on."""
_NOTHING: Mapping[str, str] = {}
_FILES = ("run.json", "ledger.sqlite", "ledger.sqlite-wal", "scores.sqlite", "scores.sqlite-wal", "images")


def list_page(index: Index, found: ListingPage, query: Query, base: str) -> str:
    """The list of runs and studies."""
    return _page(
        "list.html.j2", base, ["list.js"], title=f"{index.root.name} - turngate view", found=found, query=query,
        root=str(index.root), statuses=STATUSES, verdicts=VERDICTS, verdict_words=VERDICT_WORDS,
    )  # fmt: skip


def message_page(base: str, title: str, text: str) -> str:
    """One line, where there is nothing else to show."""
    return _page("message.html.j2", base, ["viewer.js"], title=title, text=text)


def run_page(index: Index, one: ListedFolder, base: str, version: str, options: ViewerOptions) -> str:
    """A run as its report shows it, with what labelling and review need."""
    view = _load(index, one)
    pending = pending_review(view)
    images = images_of(view) | ({pending.candidate} if pending and pending.candidate else set())
    shots = linked_shots(view.folder.images, images, base, one.key, edge_for(len(images)))
    page = run_content(
        view, shots, options.reader, [_stop(pending, shots[pending.candidate])] if pending and pending.candidate else []
    )
    tools = tools_of(one.key, view, version, pending, options)
    given = {**page.values, "listed": one, "tools": tools, "tools_json": as_data(json.dumps(tools))}
    given |= {"pending": pending, "pictures": shots, "now": _now(view, shots), **_noted(one, options)}
    return _page("view_run.html.j2", base, _WHOLE, page.figures, page.shots, **given)


def _noted(one: ListedFolder, options: ViewerOptions) -> dict[str, Any]:
    book = options.notes
    return {"keeps_notes": book is not None, "note": NO_NOTE if book is None else book.all().get(one.place, NO_NOTE)}


_DECIDED = {"accept": "accepted", "accept_masked": "accepted in part", "reject": "rejected"}


def _now(view: RunView, shots: Mapping[str, Shot]) -> list[NowPicture]:
    """The image that stands, and the latest candidate where it is another; nothing of a run that is over."""
    if view.status not in ("running", "interrupted") or not view.attempts:
        return []
    stand, last = standings(view)[-1], view.attempts[-1]
    found = [NowPicture("Stands now", f"after turn {stand.turn} of {view.config.turns}", shots[stand.image])]
    if last.row.image is not None and last.row.image != stand.image:
        words = f"turn {last.row.turn}, attempt {last.row.attempt}: {_DECIDED[last.decision.verdict]}"
        found.append(NowPicture("Latest candidate", words, shots[last.row.image]))
    return found


def study_stamp(one: ListedFolder) -> object:
    """Changes whenever the page of the study would be another one."""
    study = StudyView.load(one.path)
    labels = study.labels.stat().st_mtime_ns if study.labels is not None and study.labels.exists() else 0
    return one.changed_ns, one.size, labels, tuple(stamp(run.path) for run in study.runs)


def _stop(pending: PendingReview, shot: Shot) -> Stop:
    return Stop("waiting", f"turn {pending.turn}: waits for you", shot.sha256, shot.href, pending.size)


def _load(index: Index, one: ListedFolder) -> RunView:
    for name in _FILES:
        if (one.path / name).is_symlink():
            confined(index.root, one.path / name)
    return RunView.load(one.path)


def labelling_page(index: Index, one: ListedFolder, base: str, options: ViewerOptions) -> str:
    """The images of a run, or of the runs of a study, one after the other, for a person to judge."""
    if one.kind == "run":
        runs = [(one.key, _load(index, one))]
    else:
        index.scan()
        keys = index.keys()
        inside, _ = _runs_inside(index, one)
        runs = [(keys[run.path.resolve()], run.load()) for run in inside.begun() if run.path.resolve() in keys]
    return _page(
        "label.html.j2", base, ["label.js"], title=f"Label {one.place} - turngate view", listed=one,
        **labelling_values(runs, options),
    )  # fmt: skip


def compare_page(index: Index, chosen: list[ListedFolder], base: str) -> str:
    """Some runs side by side; raises `UserError` for fewer than two or too many."""
    values = compare_values([(one.key, one.place, _load(index, one)) for one in chosen], base)
    shots = values.pop("shots")
    return _page("beside.html.j2", base, ["beside.js"], shots=shots, title="Side by side - turngate view", **values)


def _runs_inside(index: Index, one: ListedFolder) -> tuple[StudyView, int]:
    """A study with the runs that lie in the viewer's folder, and the number of the others."""
    whole = StudyView.load(one.path)
    inside = [run for run in whole.runs if run.path.resolve().is_relative_to(index.root)]
    return StudyView(whole.folder, whole.config, inside), len(whole.runs) - len(inside)


def study_page(index: Index, one: ListedFolder, base: str, options: ViewerOptions) -> str:
    """A study as its page shows it, with links to the viewer's pages of its runs."""
    inside, outside = _runs_inside(index, one)
    loaded = load_study(inside)
    index.scan()
    keys = index.keys()

    def key(run: LoadedRun) -> str:
        return keys.get(run.run.path.resolve(), "none")

    def pictures(run: LoadedRun, wanted: Iterable[str], edge: int) -> dict[str, Shot]:
        return linked_shots(run.images, wanted, base, key(run), edge)

    page = study_content(loaded, answer_study(loaded, options.reader), lambda run: f"{base}/run/{key(run)}", pictures)
    if outside:
        verb = "lies" if outside == 1 else "lie"
        page.values["notices"].append(f"{outside} of its runs {verb} outside of the folder that is viewed.")
    return _page(
        "view_study.html.j2", base, _WHOLE, page.figures, page.shots, **page.values, listed=one, **_noted(one, options)
    )


def _page(
    template: str, base: str, code: list[str], figures: Mapping[str, str] = _NOTHING, shots: Iterable[Shot] = (),
    **values: Any,
) -> str:  # fmt: skip
    sources = [f"{base}/static/{name}" for name in code]
    return environment(HERE).get_template(template).render(
        policy=POLICY.replace("; frame-ancestors 'none'", ""),  # a header alone may say it
        base=base, sources=sources, **data(figures, shots), **values,
    )  # fmt: skip
