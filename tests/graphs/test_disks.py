"""A disk that fills up: nothing is bought without room for it, what was bought is kept. One that is read-only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.program import Done, environment, turngate

from turngate import RunView, continue_run, start_run
from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.scripted import ScriptedEditor
from turngate.errors import MachineError
from turngate.graphs.config import RunConfig
from turngate.picture import Picture
from turngate.traces.reserve import DiskReserve

__all__ = ["environment", "turngate"]

Config = Callable[..., RunConfig]
MB = 2**20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A real file system of so many MB."""
    made: list[Path] = []

    def mount(megabytes: int) -> Path:
        place = tmp_path / f"disk{len(made)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("a small file system cannot be mounted here")
        made.append(place)
        return place

    yield mount
    for place in made:
        subprocess.run(["umount", "-l", str(place)], check=False)


class Sold(ScriptedEditor):
    """Sells pictures of noise, 3 MB each, and counts them; while it works on turn `full_at` the disk fills up."""

    sold = 0
    full_at: int | None = None
    filler: Path | None = None

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.paid = True

    def edit(self, request: EditRequest) -> Edited | NoImage:
        type(self).sold += 1
        if request.turn == self.full_at and self.filler is not None and not self.filler.exists():
            fill(self.filler)
        noise = np.random.default_rng(request.turn).integers(0, 256, (1000, 1000, 3), dtype=np.uint8)
        return Edited.of(Picture.from_rgb(noise))


def fill(file: Path) -> None:
    """Leave no room on the file system of `file`."""
    try:
        with file.open("wb", buffering=0) as out:
            while True:
                out.write(bytes(MB // 4))
    except OSError:
        pass


def sold(config: Config, **fields: Any) -> RunConfig:
    Sold.sold, Sold.full_at, Sold.filler = 0, None, None
    editor = {"type": f"{__name__}:Sold"}
    return config(turns=3, editor=editor, evaluators=[], telemetry={"exporter": "none"}, score_origin=False, **fields)


def test_no_call_is_made_without_room_for_its_answer(config: Config, disk: Callable[[int], Path]) -> None:
    folder = disk(20) / "run"
    with pytest.raises(MachineError, match=r"no call was made, .* 32 MB are needed"):
        start_run(sold(config), folder)
    assert Sold.sold == 0
    assert not [*folder.glob("*.part")]
    view = RunView.load(folder)
    assert (view.status, view.attempts) == ("failed", [])


def test_an_answer_in_hand_is_stored_in_the_room_that_was_kept(config: Config, disk: Callable[[int], Path]) -> None:
    place = disk(48)
    settings = sold(config)
    Sold.full_at, Sold.filler = 2, place / "filler"
    with pytest.raises(MachineError, match=r"no call was made"):
        start_run(settings, place / "run")
    assert len(RunView.load(place / "run").attempts) == 2, "turn 2 was answered, turn 3 not asked"
    assert Sold.sold == 2
    (place / "filler").unlink()
    ended = continue_run(place / "run")
    assert (ended.status, Sold.sold) == ("complete", 3)
    assert not [*(place / "run").glob("*.part")]


def test_an_answer_that_fits_nowhere_is_kept_outside(
    config: Config, disk: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = disk(48)
    settings = sold(config)
    Sold.full_at, Sold.filler = 1, place / "filler"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    release = DiskReserve.release

    def released(self: DiskReserve) -> None:
        """Somebody else's process takes the room at once."""
        release(self)
        fill(place / "other")

    monkeypatch.setattr(DiskReserve, "release", released)
    with pytest.raises(MachineError, match=r"cannot store an image .* paid for, is kept in") as told:
        start_run(settings, place / "run")
    assert "\n" not in str(told.value)
    (kept,) = tmp_path.glob("turngate-turn-1-*.bin")
    assert Picture.from_file(kept).width == 1000
    assert not [*(place / "run").glob("images/*/.*.part")], "no half of a file is left"


def test_an_editor_that_costs_nothing_needs_no_room(config: Config, disk: Callable[[int], Path]) -> None:
    ended = start_run(config(turns=2, telemetry={"exporter": "none"}), disk(8) / "run")
    assert ended.status == "complete"
    assert not [*ended.folder.glob("*.part")]


# A folder that can only be read.


def test_a_finished_run_is_left_alone_and_reported_elsewhere(
    disk: Callable[[int], Path], config: Config, tmp_path: Path, turngate: Callable[..., Done]
) -> None:
    place = disk(64)
    settings = config(turns=2)
    start_run(settings, place / "run")
    (place / "run" / "report.html").unlink(missing_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    for ended in (start_run(settings, place / "run"), continue_run(place / "run")):
        assert (ended.status, ended.worked) == ("complete", False)
    again = turngate("resume", place / "run", "--json").json()
    assert (again["report"], again["worked"]) == (None, False)
    told = turngate("report", place / "run", "--out", tmp_path / "page.html")
    assert told.out.strip() == str(tmp_path / "page.html")
    (linked, *_) = re.findall(r'href="([^"]+/images/[^"]+)"', (tmp_path / "page.html").read_text())
    assert (tmp_path / linked).is_file()
    turngate("report", place / "run", "--out", tmp_path).refused(2, "give the file to write")
