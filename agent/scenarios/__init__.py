"""Scenarios by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.scenario import Scenario
from turngate.registry import Registry

__all__ = ["SCENARIOS"]

SCENARIOS: Registry[Scenario] = Registry(
    "scenario",
    "turngate.scenarios",
    {
        "add_apple": "turngate.agent.scenarios.add_apple:AddApple",
        "add_fruits": "turngate.agent.scenarios.add_fruits:AddFruits",
        "custom": "turngate.agent.scenarios.custom:Custom",
        "decolorise_recolorise": "turngate.agent.scenarios.decolorise_recolorise:DecoloriseRecolorise",
        "denoise": "turngate.agent.scenarios.denoise:Denoise",
        "mirror_twice": "turngate.agent.scenarios.round_trips:MirrorTwice",
        "replicate": "turngate.agent.scenarios.replicate:Replicate",
        "rotate_four_times": "turngate.agent.scenarios.rotate_four_times:RotateFourTimes",
    },
)
