"""A simulated editor: damage written by hand, marked as simulated everywhere."""

from turngate.agent.editors.simulated.editor import SimulatedEditor
from turngate.agent.editors.simulated.objects import FAILS, FAILURES, RADIUS
from turngate.agent.editors.simulated.signatures import SIGNATURES

__all__ = [
    "FAILS",
    "FAILURES",
    "RADIUS",
    "SIGNATURES",
    "SimulatedEditor",
]
