"""Editors by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.editor import Editor
from turngate.registry import Registry

__all__ = ["EDITORS"]

_HERE = "turngate.agent.editors"

EDITORS: Registry[Editor] = Registry(
    "editor",
    "turngate.editors",
    {
        "codec": f"{_HERE}.codec:CodecEditor",
        "scripted": f"{_HERE}.scripted:ScriptedEditor",
        "simulated": f"{_HERE}.simulated:SimulatedEditor",
        "span": f"{_HERE}.span:SpanEditor",
    },
)
