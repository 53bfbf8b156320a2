"""What pyiqa finds in its cache of weights: a private folder, into which each file is linked when it is asked for.

Nothing inside pyiqa or torch is replaced. torch takes the folder of its hub from `TORCH_HOME`, pyiqa from torch when it
is imported, and Python reports every address to audit hooks (PEP 578) before it is opened. The folder is empty before
each build, so a metric asks for every file that it opens: the build ends there, the file is linked, and the metric is
built once more.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from turngate.errors import ConfigError, MachineError, MissingWeights
from turngate.evaluators.pyiqa.weights import Weights, file_name, forbidden_by, hub_folder

__all__ = ["Build"]

T = TypeVar("T")


class _FileWanted(BaseException):
    """Ends a build at the address that pyiqa was about to open."""


class Build:
    """One metric of pyiqa that is being built in this thread."""

    def __init__(self, name: str, weights: Weights, may_download: bool) -> None:
        self.cache = hub_folder()
        """torch's cache: what is downloaded is kept there."""
        self.url = ""
        """Address that pyiqa asked for last."""
        self.downloads = False
        """Something was not on this machine."""
        self.may_download = may_download
        self._name, self._weights = name, weights
        self._looked_for: set[str] = set()
        self._links: list[Path] = []

    @property
    def files(self) -> str:
        """Names of all files that it asked for, in one line."""
        return ", ".join(sorted(map(file_name, self._looked_for))) or "nothing"

    def run(self, make: Callable[[], T]) -> T:
        """What `make` builds; raises what it raises, and `MissingWeights` for a file that may not be downloaded."""
        with _private_hub(self._name, self._weights) as hub, self._hub_client():
            try:
                while True:
                    try:
                        made = self._heard(make)
                    except _FileWanted:
                        self._place(hub)
                    else:
                        self._keep(hub)
                        return made
            finally:
                for link in self._links:
                    link.unlink(missing_ok=True)

    def _heard(self, make: Callable[[], T]) -> T:
        _listener.build = self
        try:
            return make()
        finally:
            _listener.build = None

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An event of Python's in this thread: ends the build, refuses a connection, or lets it pass."""
        if event == "urllib.Request":
            self.url = str(arguments[0])
            if self.url not in self._looked_for:
                raise _FileWanted
        if not self.may_download and event in ("urllib.Request", "socket.getaddrinfo", "socket.connect"):
            raise ConnectionError(f"{forbidden_by()}, so nothing is downloaded")

    @contextmanager
    def _hub_client(self) -> Iterator[None]:
        """Ask for no repository that may not be downloaded: the client of the Hugging Face hub retries connections."""
        import huggingface_hub
        from huggingface_hub.errors import OfflineModeIsEnabled

        def refuse(request: object) -> None:
            if _listener.build is self:
                self.url = str(getattr(request, "url", ""))
                raise OfflineModeIsEnabled(f"{forbidden_by()}, so nothing is downloaded")

        client: Any = huggingface_hub.get_session()
        hooks = getattr(client, "event_hooks", None)  # since huggingface_hub 1.0
        if self.may_download or hooks is None:
            yield
            return
        client.event_hooks = {**hooks, "request": [*hooks["request"], refuse]}
        try:
            yield
        finally:
            client.event_hooks = hooks

    def _place(self, hub: Path) -> None:
        """Link the file that was asked for to where pyiqa looks; one that is not here pyiqa may download."""
        self._looked_for.add(self.url)
        file = file_name(self.url)
        found = self._weights.find(self.url, self.cache, hub.parent)
        if found is not None:
            folders = [hub / place for place in ("pyiqa", "checkpoints", "clip")]  # pyiqa's, torchvision's, CLIP's
            if not _private().is_pyiqas:
                folders.append(self.cache / "pyiqa")
            for folder in folders:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / file).symlink_to(found.resolve())
                self._links.append(folder / file)
        elif not self.may_download:
            raise MissingWeights(
                f"{self._name} needs {file}, and {forbidden_by()}, so nothing is downloaded: put it into "
                f"{self.cache / 'pyiqa'}, or give a folder that holds it as `weights`"
            )
        else:
            self.downloads = True

    def _keep(self, hub: Path) -> None:
        """Move what was downloaded to where it is found the next time: whole, for a metric was built with it."""
        names = {file_name(url) for url in self._looked_for}
        for file in hub.glob("*/*"):
            if file.name not in names or file.is_symlink():
                continue
            target = self.cache / file.parent.name / file.name
            part = target.with_name(f".{file.name}.{os.getpid()}.part")
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(file, part)
                part.replace(target)
            except OSError as error:
                raise MachineError(
                    f"cannot write {target}: {error.strerror or error}: is the disk full? TORCH_HOME moves it"
                ) from error


class _Listener(threading.local):
    """Who hears what Python reports in this thread."""

    build: Build | None = None


_listener = _Listener()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _listener.build is not None:
        _listener.build.hear(event, arguments)


@dataclass(frozen=True)
class _Private:
    """The private folder of this process: pyiqa keeps the one that it finds when it is imported."""

    home: Path
    is_pyiqas: bool
    """False when somebody else imported pyiqa before, which then has a cache of its own."""


@cache
def _private() -> _Private:
    home = Path(tempfile.mkdtemp(prefix="turngate-weights-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    sys.addaudithook(_hear)
    return _Private(home, "pyiqa" not in sys.modules)


@contextmanager
def _private_hub(name: str, weights: Weights) -> Iterator[Path]:
    """An empty hub for torch and pyiqa; emptied again at the end, and torch's own is put back."""
    import torch.hub

    if weights.is_folder and not _private().is_pyiqas:
        raise ConfigError(
            f"{name}: pyiqa was imported before and keeps its own cache, so a folder of `weights` comes too late: "
            "build this metric before anything else imports pyiqa"
        )
    home, before, chosen = _private().home, os.environ.get("TORCH_HOME"), torch.hub.get_dir()
    os.environ["TORCH_HOME"] = str(home)
    is_set = torch.hub.get_dir() == chosen  # by `torch.hub.set_dir`, which goes before the environment
    if is_set:
        torch.hub.set_dir(home / "hub")
    try:
        yield home / "hub"
    finally:
        if is_set:
            torch.hub.set_dir(chosen)
        if before is None:
            del os.environ["TORCH_HOME"]
        else:
            os.environ["TORCH_HOME"] = before
        shutil.rmtree(home / "hub", ignore_errors=True)
