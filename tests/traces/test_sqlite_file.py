"""Journals of our SQLite files: a write-ahead log where one machine has them, none where several may."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from turngate import sqlite_file
from turngate.sqlite_file import is_immutable, mounted_as
from turngate.traces.ledger import Ledger
from turngate.traces.records import EventRow

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:50 / /mnt/home rw,relatime - nfs4 server:/home rw,vers=4.2
41 40 0:51 / /mnt/home/a\\040b rw - tmpfs tmpfs rw
42 22 0:52 / /data rw - tmpfs tmpfs rw
43 22 0:53 /x /data rw,noatime - fuse.sshfs host: rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/x/y", "ext4"), ("/mnt/homes", "ext4"), ("/mnt/home/me/run", "nfs4"), ("/mnt/home/a b/run", "tmpfs"),
     ("/data/run", "fuse.sshfs")],
)  # fmt: skip
def test_the_nearest_and_latest_mount_counts(path: str, kind: str, tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert mounted_as(Path(path), table) == kind
    assert mounted_as(Path(path), tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("kind", "journal"),
    [("ext4", "wal"), ("", "wal"), ("fuse.fuse-overlayfs", "wal"), ("nfs", "delete"), ("nfs4", "delete"),
     ("cifs", "delete"), ("9p", "delete"), ("lustre", "delete"), ("fuse.sshfs", "delete")],
)  # fmt: skip
def test_where_machines_share_a_folder_there_is_no_write_ahead_log(
    kind: str, journal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ledger.sqlite"
    Ledger(file).close()  # written on a disk of its own, then moved there
    monkeypatch.setattr(sqlite_file, "mounted_as", lambda path: kind)
    writer = Ledger(file)
    writer.add_event("started", {})
    with sqlite3.connect(file) as link:
        assert link.execute("PRAGMA journal_mode").fetchone() == (journal,)
    link.close()
    reader = Ledger(file, read_only=True)
    assert [event.kind for event in reader.events()] == ["started"]
    writer.add_event("ended", {})  # a reader sees what is written while it reads
    assert [type(event) for event in reader.events()] == [EventRow, EventRow]
    reader.close()
    writer.close()
    assert is_immutable(file) == (journal == "wal")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]
