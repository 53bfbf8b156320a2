"""A recorded chain as an editor: runs, folders, manifests."""

from turngate.agent.editors.replay.editor import ReplayConfig, ReplayEditor

__all__ = [
    "ReplayConfig",
    "ReplayEditor",
]
