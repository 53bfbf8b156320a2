"""A folder of runs, and the viewer of it as an application."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from tests.pages.browser import Visit, browser, visits
from tests.traces.runs import long_run, study_of

from turngate.errors import UserError
from turngate.pages.viewer import LabelBook, NoteBook, ReviewVerdict, ViewerOptions, make_app
from turngate.traces.run_folder import RunFolder

from ._viewing import Viewer, viewing

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

TOKEN = "t0ken-of-the-test"


@dataclass
class Viewed:
    """The viewer of one folder."""

    root: Path
    client: TestClient
    reviews: list[tuple[Path, ReviewVerdict]] = field(default_factory=list)
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
        from turngate.pages.viewer import walk

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

    def review(folder: Path, verdict: ReviewVerdict) -> None:
        if found[0].refuse:
            raise UserError(found[0].refuse)
        found[0].reviews.append((folder, verdict))

    options = ViewerOptions(LabelBook(root / "labels.csv", "me"), review, NoteBook(root / "notes.jsonl", "me"))
    app = make_app(root, TOKEN, options)
    found.append(Viewed(root, TestClient(app, base_url="http://127.0.0.1:8000")))
    return found[0]


def run_id(folder: Path) -> str:
    """Id of the run in `folder`."""
    return RunFolder(folder).info().run


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    with browser(tmp_path_factory.mktemp("profile"), offline=False) as found:
        yield found


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Visit]:
    with visits(context) as go:
        yield go


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one of them in a study."""
    folder = tmp_path_factory.mktemp("viewed") / "runs"
    long_run(folder / "first", 6, 2, 64)
    long_run(folder / "study" / "no-gate", 6, 1, 64, simulated=False)
    study_of(folder / "study", {"no-gate": folder / "study" / "no-gate"}, "Does it decay?")
    return folder


@pytest.fixture(scope="module")
def viewer(root: Path) -> Iterator[Viewer]:
    with viewing(root) as found:
        yield found
