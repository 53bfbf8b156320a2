"""Scenarios by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.scenario import Scenario
from turngate.registry import Registry

__all__ = ["SCENARIOS"]

SCENARIOS: Registry[Scenario] = Registry(
    "scenario",
    "turngate.scenarios",
    {
        "add_apple": "turngate.agent.scenarios.adding:AddApple",
        "add_fruits": "turngate.agent.scenarios.adding:AddFruits",
        "custom": "turngate.agent.scenarios.custom:Custom",
        "decolorise_recolorise": "turngate.agent.scenarios.round_trips:DecoloriseRecolorise",
        "denoise": "turngate.agent.scenarios.replicate:Denoise",
        "external": "turngate.agent.scenarios.external:ExternalScenario",
        "mirror_twice": "turngate.agent.scenarios.round_trips:MirrorTwice",
        "replicate": "turngate.agent.scenarios.replicate:Replicate",
        "rotate_four_times": "turngate.agent.scenarios.round_trips:RotateFourTimes",
    },
    protocol=Scenario,
)
