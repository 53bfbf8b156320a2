"""Control arms: what a result must be held against."""

from __future__ import annotations

from typing import Any, Literal, get_args

__all__ = ["CONTROLS", "Control", "control_arm"]

Control = Literal["no-gate", "always-reject", "oracle", "random", "codec-only", "branch"]
"""
- `no-gate`: every candidate is accepted: what the editor does by itself.
- `always-reject`: nothing is: independent edits of the origin, one per turn, none kept.
- `oracle`: a gate that sees the truth, the upper bound.
- `random`: a coin with the mean acceptance rate of the gated arms in the same cell.
- `codec-only`: no editor, only re-encoding as JPEG.
- `branch`: every turn edits the origin and is accepted: sampling noise without recursion.
"""

CONTROLS: tuple[Control, ...] = get_args(Control)
"""All of them, in the order of tables."""

_ARMS: dict[Control, dict[str, Any]] = {
    "no-gate": {"gate": {"type": "always_accept"}, "on_reject": {"attempts": 1}},
    "always-reject": {"gate": {"type": "always_reject"}, "on_reject": {"attempts": 1, "then": "skip"}},
    "oracle": {"gate": {"type": "oracle"}},
    "random": {"gate": {"type": "random", "like": "*"}},
    "codec-only": {
        "gate": {"type": "always_accept"},
        "on_reject": {"attempts": 1},
        "editor": {"type": "codec", "format": "jpeg", "quality": 90},
    },
    "branch": {"gate": {"type": "always_accept"}, "on_reject": {"attempts": 1}, "history": "origin"},
}


def control_arm(control: Control) -> dict[str, Any]:
    """Fields of a control arm, laid over those of the study."""
    return dict(_ARMS[control])
