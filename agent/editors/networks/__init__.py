"""Real networks on a CPU as editors: SPAN, style transfer, a tiny VAE."""

from turngate.agent.editors.networks.span import SpanEditor
from turngate.agent.editors.networks.style import StyleEditor
from turngate.agent.editors.networks.torch_talk import hushed, invented_weights
from turngate.agent.editors.networks.vae import VaeConfig, VaeEditor

__all__ = [
    "SpanEditor",
    "StyleEditor",
    "VaeConfig",
    "VaeEditor",
    "hushed",
    "invented_weights",
]
