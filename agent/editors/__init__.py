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
        "diffusers": f"{_HERE}.diffusers:DiffusersEditor",
        "gemini": f"{_HERE}.gemini:GeminiEditor",
        "openai": f"{_HERE}.openai:OpenAIEditor",
        "replay": f"{_HERE}.replay:ReplayEditor",
        "scripted": f"{_HERE}.scripted:ScriptedEditor",
        "simulated": f"{_HERE}.simulated:SimulatedEditor",
        "span": f"{_HERE}.span:SpanEditor",
        "style": f"{_HERE}.style:StyleEditor",
        "vae": f"{_HERE}.vae:VaeEditor",
    },
)
