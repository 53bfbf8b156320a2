"""A recorded chain as an editor: runs, folders, manifests."""

from turngate.agent.editors.replay.editor import RecordedAs, ReplayConfig, ReplayEditor

__all__ = [
    "RecordedAs",
    "ReplayConfig",
    "ReplayEditor",
]
