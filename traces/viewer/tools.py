"""What the scripts on the page of a run know about it."""

from __future__ import annotations

from typing import Any

from turngate.errors import UserError
from turngate.pages.viewer.labelling import Means
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.taxonomy import FAILURES
from turngate.traces.viewer.glance import Stamp
from turngate.traces.viewer.waiting import Waiting

__all__ = ["tools_of", "version_of"]


def version_of(stamp: Stamp, status: str) -> str:
    """Changes whenever the page would be another one."""
    return f"{status}-{'-'.join(map(str, stamp))}"


def tools_of(key: str, view: RunView, version: str, waiting: Waiting | None, means: Means) -> dict[str, Any]:
    """Plain JSON for `viewer.js` and the template."""
    edited = [attempt.row for attempt in view.attempts if attempt.row.image is not None]
    last = view.attempts[-1].row if view.attempts else None
    given, problem = {}, "labels are not kept here"
    if means.book is not None:
        try:
            given, problem = means.book.of(view), ""
        except UserError as error:
            problem = str(error)
    return {
        "key": key,
        "version": version,
        "status": view.status,
        "candidates": [f"t{row.turn}a{row.attempt}" for row in edited],
        "last": f"t{last.turn}a{last.attempt}" if last else "",
        "given": {f"t{turn}a{attempt}": _plain(one) for (turn, attempt), one in given.items()},
        "failures": [{"name": name, "what": kind.what} for name, kind in FAILURES.items()],
        "no_labels": problem,
        "can_review": means.review is not None,
        "review": {"turn": waiting.turn, "attempt": waiting.attempt} if waiting else None,
    }


def _plain(given: Any) -> dict[str, Any]:
    return {"damaged": given.damaged, "labels": list(given.labels), "failure": given.failure}
