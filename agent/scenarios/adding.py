"""How the scenarios that add objects ask for one."""

from __future__ import annotations

from pydantic import Field

from turngate.agent.scenario import Step
from turngate.part import PartConfig

__all__ = ["AddingConfig", "addition"]


class AddingConfig(PartConfig):
    """Where the objects go."""

    place: str = Field(default="the picture", min_length=1, max_length=200)
    """Named in the instruction after "Add one apple to": `the table` for a picture that has one."""


def addition(name: str, place: str) -> Step:
    """Ask for one more object, and nothing else. Our wording: the paper's is not known."""
    text = f"Add one {name} to {place}. Keep everything that is there and change nothing else."
    return Step(text, {"kind": "add", "object": name})
