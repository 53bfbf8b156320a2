"""Gates by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.gate import Gate
from turngate.registry import Registry

__all__ = ["GATES"]

GATES: Registry[Gate] = Registry(
    "gate",
    "turngate.gates",
    {
        "all": "turngate.agent.gates.composite:AllOf",
        "always_accept": "turngate.agent.gates.controls:AlwaysAccept",
        "always_reject": "turngate.agent.gates.controls:AlwaysReject",
        "any": "turngate.agent.gates.composite:AnyOf",
        "conformal": "turngate.agent.gates.conformal:Conformal",
        "cusum": "turngate.agent.gates.cusum:Cusum",
        "ewma": "turngate.agent.gates.ewma:Ewma",
        "k_sigma": "turngate.agent.gates.k_sigma:KSigma",
        "label": "turngate.agent.gates.label:Label",
        "mean": "turngate.agent.gates.mean:Mean",
        "oracle": "turngate.agent.gates.oracle:Oracle",
        "page_hinkley": "turngate.agent.gates.page_hinkley:PageHinkley",
        "random": "turngate.agent.gates.random:RandomGate",
        "relative": "turngate.agent.gates.relative:Relative",
        "threshold": "turngate.agent.gates.threshold:Threshold",
        "veto": "turngate.agent.gates.veto:Veto",
        "vote": "turngate.agent.gates.vote:Vote",
    },
)
