"""A diffusers pipeline as an editor."""

from turngate.agent.editors.diffusers.editor import DiffusersConfig, DiffusersEditor

__all__ = [
    "DiffusersConfig",
    "DiffusersEditor",
]
