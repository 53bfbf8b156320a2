"""Gates by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""

from turngate.agent.gate import Gate
from turngate.registry import Registry

__all__ = ["GATES"]

_HERE = "turngate.agent.gates"

GATES: Registry[Gate] = Registry(
    "gate",
    "turngate.gates",
    {
        "all": f"{_HERE}.combined:AllOf",
        "always_accept": f"{_HERE}.always:AlwaysAccept",
        "always_reject": f"{_HERE}.always:AlwaysReject",
        "any": f"{_HERE}.combined:AnyOf",
        "conformal": f"{_HERE}.conformal:Conformal",
        "cusum": f"{_HERE}.cusum:Cusum",
        "ewma": f"{_HERE}.ewma:Ewma",
        "k_sigma": f"{_HERE}.k_sigma:KSigma",
        "label": f"{_HERE}.label:Label",
        "mean": f"{_HERE}.mean:Mean",
        "oracle": f"{_HERE}.oracle:Oracle",
        "page_hinkley": f"{_HERE}.page_hinkley:PageHinkley",
        "random": f"{_HERE}.random:RandomGate",
        "relative": f"{_HERE}.relative:Relative",
        "threshold": f"{_HERE}.threshold:Threshold",
        "veto": f"{_HERE}.veto:Veto",
        "vote": f"{_HERE}.vote:Vote",
    },
)
