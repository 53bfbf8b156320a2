"""A folder of runs, and the viewer of it as an application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.traces._runs import long_run

from turngate.errors import UserError
from turngate.traces.run_folder import RunFolder
from turngate.traces.viewer.app import make_app
from turngate.traces.viewer.labelling import LabelBook, Means

TOKEN = "t0ken-of-the-test"


@dataclass
class Viewed:
    """The viewer of one folder."""

    root: Path
    client: TestClient
    reviews: list[tuple[Path, bool, str]] = field(default_factory=list)
    refuse: str = ""
    """Why the next review cannot be taken."""

    def get(self, path: str, **more: Any) -> Any:
        """GET below the token."""
        return self.client.get(f"/{TOKEN}{path}", **more)

    def post(self, path: str, body: Any, **more: Any) -> Any:
        """POST JSON below the token."""
        return self.client.post(f"/{TOKEN}{path}", json=body, **more)

    def key(self, name: str, kind: str = "run") -> str:
        """Key of what lies in this place."""
        from turngate.traces.viewer.entries import walk

        return next(spot.key for spot in walk(self.root.resolve()) if (spot.place, spot.kind) == (name, kind))

    def labels(self) -> list[str]:
        """Lines of the label file."""
        return (self.root / "labels.csv").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def viewed(tmp_path: Path) -> Viewed:
    """A viewer of a folder with one run of four turns, called `one`."""
    root = tmp_path / "runs"
    long_run(root / "one", 4, 1, 48)
    return view(root)


def view(root: Path) -> Viewed:
    """A viewer of `root`."""
    found: list[Viewed] = []

    def review(folder: Path, accept: bool, comment: str) -> None:
        if found[0].refuse:
            raise UserError(found[0].refuse)
        found[0].reviews.append((folder, accept, comment))

    app = make_app(root, TOKEN, Means(LabelBook(root / "labels.csv", "me"), review))
    found.append(Viewed(root, TestClient(app, base_url="http://127.0.0.1:8000")))
    return found[0]


Opener = Callable[[Path], Viewed]


def run_id(folder: Path) -> str:
    """Id of the run in `folder`."""
    return RunFolder(folder).info().run
