"""Scenarios by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.scenario import Scenario
from turngate.registry import Registry

__all__ = ["SCENARIOS"]

_HERE = "turngate.agent.scenarios"

SCENARIOS: Registry[Scenario] = Registry(
    "scenario",
    "turngate.scenarios",
    {
        "custom": f"{_HERE}.custom:Custom",
        "replicate": f"{_HERE}.replicate:Replicate",
    },
)
