"""Gates by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.gate import Gate
from turngate.registry import Registry

__all__ = ["GATES"]

_HERE = "turngate.agent.gates"

GATES: Registry[Gate] = Registry(
    "gate",
    "turngate.gates",
    {
        "always_accept": f"{_HERE}.always:AlwaysAccept",
        "always_reject": f"{_HERE}.always:AlwaysReject",
        "oracle": f"{_HERE}.oracle:Oracle",
        "random": f"{_HERE}.random:RandomGate",
        "relative": f"{_HERE}.relative:Relative",
        "threshold": f"{_HERE}.threshold:Threshold",
    },
)
