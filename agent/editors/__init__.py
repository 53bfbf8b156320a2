"""Editors by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.editor import Editor
from turngate.registry import Registry

__all__ = ["EDITORS"]

EDITORS: Registry[Editor] = Registry(
    "editor",
    "turngate.editors",
    {
        "codec": "turngate.agent.editors.codec:CodecEditor",
        "diffusers": "turngate.agent.editors.diffusers:DiffusersEditor",
        "external": "turngate.agent.editors.external:ExternalEditor",
        "gemini": "turngate.agent.editors.remote:GeminiEditor",
        "openai": "turngate.agent.editors.remote:OpenAIEditor",
        "replay": "turngate.agent.editors.replay:ReplayEditor",
        "scripted": "turngate.agent.editors.scripted:ScriptedEditor",
        "simulated": "turngate.agent.editors.simulated:SimulatedEditor",
        "span": "turngate.agent.editors.networks:SpanEditor",
        "style": "turngate.agent.editors.networks:StyleEditor",
        "vae": "turngate.agent.editors.networks:VaeEditor",
    },
    protocol=Editor,
)
