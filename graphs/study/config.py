"""A study as its file says it, and the control arms that it adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, SerializeAsAny, field_validator

from turngate.agent.reasoning import READERS
from turngate.component import ComponentConfig
from turngate.frozen import StrictModel

__all__ = ["AXES", "CONTROLS", "Control", "StudyConfig", "control_arm", "named_items"]

AXES = {"origins": "origin", "scenarios": "scenario", "editors": "editor"}
"""Fields of a study that make its grid -> the field of a run that each fills."""


# Control arms: what a result must be held against.

Control = Literal["no-gate", "always-reject", "oracle", "random", "codec-only", "branch"]
"""
- `no-gate`: every candidate is accepted: what the editor does by itself.
- `always-reject`: nothing is: independent edits of the origin, one per turn, none kept.
- `oracle`: a gate that sees the truth, the upper bound.
- `random`: a coin with the mean acceptance rate of the gated arms in the same cell.
- `codec-only`: no editor, only re-encoding as JPEG.
- `branch`: every turn edits the origin and is accepted: sampling noise without recursion.
"""

CONTROLS: tuple[Control, ...] = get_args(Control)
"""All of them, in the order of tables."""

_ARMS: dict[Control, dict[str, Any]] = {
    "no-gate": {"gate": {"type": "always_accept"}, "on_reject": {"attempts": 1}},
    "always-reject": {"gate": {"type": "always_reject"}, "on_reject": {"attempts": 1, "then": "skip"}},
    "oracle": {"gate": {"type": "oracle"}},
    "random": {"gate": {"type": "random", "like": "*"}},
    "codec-only": {
        "gate": {"type": "always_accept"},
        "on_reject": {"attempts": 1},
        "editor": {"type": "codec", "format": "jpeg", "quality": 90},
    },
    "branch": {"gate": {"type": "always_accept"}, "on_reject": {"attempts": 1}, "history": "origin"},
}


def control_arm(control: Control) -> dict[str, Any]:
    """Fields of a control arm, laid over those of the study."""
    return dict(_ARMS[control])


class StudyConfig(StrictModel):
    """One base configuration, the arms laid over it, and what each arm is run on."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Short name; the default folder is runs/NAME."""
    question: str
    """What the study asks, in one sentence; heads its page."""
    notes: str = ""
    """What a reader must know to judge the answer."""
    run: dict[str, Any]
    """Configuration that all runs share."""
    arms: dict[str, dict[str, Any]] = Field(min_length=1)
    """Arm -> fields that differ, laid over the rest. A random gate may say `like: ARM` instead of its rate."""
    origins: dict[str, Any] = {}
    """Name -> origin. A list is read as names made of the file names. The cluster of all intervals."""
    scenarios: dict[str, Any] = {}
    """Name -> scenario; a list of types is read as names equal to types."""
    editors: dict[str, Any] = {}
    """Name -> editor; a list of types is read as names equal to types. `per_origin` of an editor (origin -> fields)
    lays fields over its own on one origin, for instance the chain that was recorded from it."""
    repeats: int = Field(default=1, ge=1, le=1000)
    """Runs per cell of the grid, each with a seed of its own. All arms draw the same numbers."""
    controls: tuple[Control, ...] = ("no-gate", "always-reject", "oracle", "random")
    """Control arms that are added; `none` or an empty list refuses them. `oracle` needs a truth."""
    reader: SerializeAsAny[ComponentConfig] | None = None
    """Reads the reasoning summaries for the page, and for the reports of runs whose configuration names none;
    `lexicon` where it is left out."""
    labels: str | None = None
    """CSV of people's verdicts that lead the truths in the answer: a file relative to this one, in study.json relative
    to the study's folder or absolute."""
    sensitivity: list[float] = []
    """Further thresholds of `damaged`, in the truth's unit; the answer is given for each."""

    @field_validator("origins", "scenarios", "editors", mode="before")
    @classmethod
    def _named(cls, raw: Any) -> Any:
        return named_items(raw) if isinstance(raw, list) else raw

    @field_validator("reader", mode="before")
    @classmethod
    def _reader(cls, raw: Any) -> Any:
        return None if raw is None else READERS.configure(raw, "reader")

    @field_validator("controls", mode="before")
    @classmethod
    def _controls(cls, raw: Any) -> Any:
        if raw in ("none", False, None):
            return ()
        return tuple(CONTROLS) if raw == "all" else raw


def named_items(items: list[Any]) -> dict[str, Any]:
    """Items of a list by the names made of them; raises `ValueError` where two have one name."""
    named: dict[str, Any] = {}
    for item in items:
        name = _name_of(item)
        if name in named:
            raise ValueError(f"{name!r} is in the list twice: give names, as a mapping")
        named[name] = item
    return named


def _name_of(item: Any) -> str:
    if isinstance(item, dict):
        item = item.get("image") or item.get("type") or ""
    return Path(str(item).removeprefix("skimage:")).stem or "unnamed"
