"""Scenarios by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.scenario import Scenario
from turngate.registry import Registry

__all__ = ["SCENARIOS"]

_HERE = "turngate.agent.scenarios"

SCENARIOS: Registry[Scenario] = Registry(
    "scenario",
    "turngate.scenarios",
    {
        "add_apple": f"{_HERE}.add_apple:AddApple",
        "add_fruits": f"{_HERE}.add_fruits:AddFruits",
        "custom": f"{_HERE}.custom:Custom",
        "decolorise_recolorise": f"{_HERE}.decolorise_recolorise:DecoloriseRecolorise",
        "denoise": f"{_HERE}.denoise:Denoise",
        "mirror_twice": f"{_HERE}.mirror_twice:MirrorTwice",
        "replicate": f"{_HERE}.replicate:Replicate",
        "rotate_four_times": f"{_HERE}.rotate_four_times:RotateFourTimes",
    },
)
