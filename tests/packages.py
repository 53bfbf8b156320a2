"""Whether an optional package is here, found out without importing it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

__all__ = ["need_pyiqa"]


def need_pyiqa() -> None:
    """Skip a test, or the module that is being imported, without pyiqa.

    pyiqa keeps the cache of weights that it finds when it is imported, so the adapter must import it first.
    """
    if find_spec("pyiqa") is None:
        pytest.skip("pyiqa is not installed: pip install 'turngate[iqa]'", allow_module_level=True)
