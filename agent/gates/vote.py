"""Several gates vote."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from turngate.agent.gates._members import Joint, MembersConfig
from turngate.part import PartConfig

__all__ = ["Vote", "VoteConfig"]


class VoteConfig(MembersConfig):
    """Who votes, and how many must accept."""

    at_least: Literal["majority"] | int = "majority"
    """Gates that must accept: a number, or `majority` (more than half)."""

    @field_validator("at_least")
    @classmethod
    def _can_be_reached(cls, votes: Literal["majority"] | int, info: ValidationInfo) -> Literal["majority"] | int:
        number = len(info.data.get("gates", ()))
        if number and votes != "majority" and not 1 <= votes <= number:
            raise ValueError(f"of {number} gates 1 to {number} can be needed")
        return votes


class Vote(Joint):
    """Accepts when enough of several gates accept: a majority, or k of n."""

    Config: ClassVar[type[PartConfig]] = VoteConfig

    def __init__(self, config: VoteConfig) -> None:
        super().__init__(config)
        self.needed = len(self.gates) // 2 + 1 if config.at_least == "majority" else config.at_least
