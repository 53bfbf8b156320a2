"""A pipeline in memory: number format, device, offloading, and what went wrong while loading."""

from __future__ import annotations

from typing import Any, Literal

from turngate.agent.editors._diffusers_source import Source
from turngate.agent.editors.networks.torch_talk import hushed, invented_weights
from turngate.errors import ConfigError, MachineError, MissingWeights, TurngateError
from turngate.weights.torch_device import out_of_memory

__all__ = ["SMALLER", "Dtype", "Offload", "multiple_of", "open_pipeline", "takes_several_images"]

Dtype = Literal["auto", "float32", "float16", "bfloat16"]
Offload = Literal["none", "model", "sequential"]

SMALLER = "use offload: model or sequential, dtype: bfloat16, or smaller images"
"""Advice when memory runs out."""

_SEVERAL = (
    "Flux2Pipeline", "Flux2KleinPipeline", "Flux2KleinKVPipeline", "QwenImageEditPlusPipeline", "QwenImage21Pipeline",
    "ZImageOmniPipeline",
)  # fmt: skip
"""Pipelines that read a list of images as one request; the others take it for a batch of separate requests."""


def open_pipeline(
    pipeline: type[Any], source: Source, variant: str | None, pickle: bool, dtype: Dtype, device: str, offload: Offload
) -> Any:
    """Load the weights; `auto` is bfloat16 on CUDA and float32 elsewhere.

    Raises `MissingWeights` when files are missing or broken, `ConfigError` for settings that cannot work together,
    `MachineError` when memory runs out.
    """
    import torch

    if offload != "none" and device == "cpu":
        raise ConfigError(f"editor.offload: {offload} moves weights between a GPU and the CPU, and device is cpu")
    number = ("bfloat16" if device == "cuda" else "float32") if dtype == "auto" else dtype
    try:
        with hushed() as said:
            opened = pipeline.from_pretrained(
                source.folder,
                variant=variant,
                use_safetensors=None if pickle else True,
                dtype=getattr(torch, number),
                local_files_only=True,
            )
            if invented := invented_weights(said):
                raise ValueError(f"weights are missing, {invented} for one")
            match offload:
                case "none":
                    opened.to(device)
                case "model":
                    opened.enable_model_cpu_offload(device=device)
                case "sequential":
                    opened.enable_sequential_cpu_offload(device=device)
            opened.set_progress_bar_config(disable=True)
    except Exception as error:
        raise _problem(error, source, device) from error
    return opened


def _problem(error: Exception, source: Source, device: str) -> TurngateError:
    what = " ".join(str(error).split())[:200]
    if out_of_memory(error):
        return MachineError(f"{source.version} does not fit into the memory of {device}: {SMALLER}")
    if "variant=" in what:
        return ConfigError(f"editor.variant: {source.version} has no weights of that variant: leave it out")
    return MissingWeights(f"{source.version} does not load ({type(error).__name__}: {what}): fetch the model again")


def takes_several_images(opened: Any) -> bool:
    """Whether a list of images is one request."""
    return type(opened).__name__ in _SEVERAL


def multiple_of(opened: Any) -> int:
    """Width and height that the pipeline can make are multiples of this many pixels."""
    processor = getattr(opened, "image_processor", None)
    factor: Any = getattr(getattr(processor, "config", None), "vae_scale_factor", None)
    return int(factor or getattr(opened, "vae_scale_factor", 8))
