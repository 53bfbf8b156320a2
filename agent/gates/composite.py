"""Gates joined by and, or by or."""

from __future__ import annotations

from typing import ClassVar

from turngate.agent.gates._members import Joint, MembersConfig
from turngate.part import PartConfig

__all__ = ["AllOf", "AnyOf", "CombinedConfig"]


class CombinedConfig(MembersConfig):
    """The gates that are joined."""


class AllOf(Joint):
    """Accepts when every one of several gates accepts."""

    Config: ClassVar[type[PartConfig]] = CombinedConfig

    def __init__(self, config: CombinedConfig) -> None:
        super().__init__(config)
        self.needed = len(self.gates)


class AnyOf(Joint):
    """Accepts when at least one of several gates accepts."""

    Config: ClassVar[type[PartConfig]] = CombinedConfig
    needed = 1
