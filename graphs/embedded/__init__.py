"""The gate in somebody else's loop: a program makes the images, turngate scores, decides and records."""

from turngate.graphs.embedded.images import ImageLike, picture_of
from turngate.graphs.embedded.nodes import GateState, first_gate_state, gate_node, gate_route
from turngate.graphs.embedded.offered import NextStep, Offered
from turngate.graphs.embedded.opening import OpenRun, open_run

__all__ = [
    "GateState",
    "ImageLike",
    "NextStep",
    "Offered",
    "OpenRun",
    "first_gate_state",
    "gate_node",
    "gate_route",
    "open_run",
    "picture_of",
]
