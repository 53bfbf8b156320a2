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
        "cusum": "turngate.agent.gates.spc:Cusum",
        "ewma": "turngate.agent.gates.spc:Ewma",
        "k_sigma": "turngate.agent.gates.spc:KSigma",
        "label": "turngate.agent.gates.threshold:LabelGate",
        "mean": "turngate.agent.gates.presets:Mean",
        "oracle": "turngate.agent.gates.controls:Oracle",
        "page_hinkley": "turngate.agent.gates.spc:PageHinkley",
        "random": "turngate.agent.gates.controls:RandomGate",
        "relative": "turngate.agent.gates.threshold:Relative",
        "threshold": "turngate.agent.gates.threshold:Threshold",
        "veto": "turngate.agent.gates.presets:Veto",
        "vote": "turngate.agent.gates.composite:Vote",
    },
    protocol=Gate,
)
