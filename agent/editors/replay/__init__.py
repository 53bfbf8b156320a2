"""A recorded chain as an editor: runs, folders, manifests."""

from turngate.agent.editors.replay.chain import MOST_TURNS
from turngate.agent.editors.replay.editor import RecordedAs, ReplayConfig, ReplayEditor

__all__ = [
    "MOST_TURNS",
    "RecordedAs",
    "ReplayConfig",
    "ReplayEditor",
]
