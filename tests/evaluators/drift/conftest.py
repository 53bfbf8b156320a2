"""Photographs."""

from __future__ import annotations

import pytest

from ._images import PHOTOGRAPHS, Rgb


@pytest.fixture(params=PHOTOGRAPHS)
def photograph(request: pytest.FixtureRequest) -> Rgb:
    """Astronaut, coffee and cat."""
    return PHOTOGRAPHS[request.param]()
