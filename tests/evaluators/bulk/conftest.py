"""Score caches that are closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from turngate.evaluators.bulk import ScoreCache

__all__ = ["Open"]

Open = Callable[[Path], ScoreCache]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens caches, and closes them at the end."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(closing(ScoreCache(folder)))


@pytest.fixture
def cache(opened: Open, tmp_path: Path) -> ScoreCache:
    """An empty one."""
    return opened(tmp_path / "cache")
