"""Which pipeline class edits with a model, where its files are, and how it is opened in memory."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from turngate.agent.editors.networks import hushed, invented_weights
from turngate.errors import ConfigError, MachineError, MissingWeights, TurngateError, one_line
from turngate.registry import nearest
from turngate.weights.hub import check_repository, hub_problem, offline
from turngate.weights.torch_device import out_of_memory
from turngate.weights.version import fingerprint, snapshot_version

__all__ = [
    "SETTINGS",
    "SMALLER",
    "Dtype",
    "Offload",
    "Source",
    "check_arguments",
    "check_settings",
    "default_of",
    "download",
    "multiple_of",
    "open_pipeline",
    "parameters",
    "pipeline_class",
    "takes_several_images",
]


SETTINGS = {
    "steps": "num_inference_steps",
    "guidance_scale": "guidance_scale",
    "true_cfg_scale": "true_cfg_scale",
    "image_guidance_scale": "image_guidance_scale",
    "strength": "strength",
    "negative_prompt": "negative_prompt",
}
"""Fields of the configuration and what they are called in a pipeline's call."""

OURS = frozenset(
    {"prompt", "image", "generator", "output_type", "return_dict", "height", "width", "num_images_per_prompt"}
)
"""Arguments that the editor sets itself."""

_NOT_GIVEN = ("mask_image", "control_image")


def pipeline_class(index: Mapping[str, Any], version: str) -> type[Any]:
    """The class named in model_index.json, or what diffusers' AutoPipelineForImage2Image takes in its place.

    Raises `ConfigError` for a class that diffusers does not have or that cannot edit an image by instruction.
    """
    named = index.get("_class_name")
    with hushed():
        import diffusers
        from diffusers.pipelines import auto_pipeline

        try:
            own = getattr(diffusers, named) if isinstance(named, str) else None
        except (AttributeError, ImportError, RuntimeError):
            own = None
        if own is None:
            raise ConfigError(
                f"editor.model: {version} wants the pipeline {named}, which diffusers {diffusers.__version__} does not "
                "have (code from a model's folder is never run): upgrade diffusers, or use another model"
            )
        from_image = auto_pipeline.AUTO_IMAGE2IMAGE_PIPELINES_MAPPING
        from_text = auto_pipeline.AUTO_TEXT2IMAGE_PIPELINES_MAPPING
        kinds = [kind for kind, text_class in from_text.items() if text_class is own]
        chosen: type[Any] = own
        if kinds and own not in from_image.values():
            chosen = from_image.get(kinds[0], own)
    takes = parameters(chosen)
    unmet = [name for name in _NOT_GIVEN if name in takes]
    if not {"image", "prompt"} <= set(takes) or unmet:
        why = f"needs a {unmet[0]} as well" if unmet else "does not take an image and an instruction"
        raise ConfigError(f"editor.model: {version} is a {chosen.__name__}, which {why}: use a model that edits images")
    return chosen


def parameters(pipeline: type[Any]) -> Mapping[str, inspect.Parameter]:
    """What a pipeline's call takes."""
    return inspect.signature(pipeline.__call__).parameters


def default_of(pipeline: type[Any], name: str) -> Any:
    """Default of one argument; None where it has none."""
    default = parameters(pipeline)[name].default
    return None if default is inspect.Parameter.empty else default


def check_settings(pipeline: type[Any], asked: Iterable[str]) -> None:
    """Raise `ConfigError` for the first setting that the pipeline's call does not take."""
    takes = parameters(pipeline)
    for setting in asked:
        if SETTINGS[setting] not in takes:
            known = ", ".join(name for name, argument in SETTINGS.items() if argument in takes)
            raise ConfigError(f"editor.{setting}: {pipeline.__name__} takes no {setting}; it takes {known}")


def check_arguments(pipeline: type[Any], names: Iterable[str]) -> None:
    """Raise `ConfigError` for the first extra argument that is not the user's to set or that the call does not take."""
    takes = parameters(pipeline)
    for name in names:
        if name in OURS:
            raise ConfigError(f"editor.arguments.{name}: turngate sets it itself: leave it out")
        if name in SETTINGS.values():
            field = next(field for field, argument in SETTINGS.items() if argument == name)
            raise ConfigError(f"editor.arguments.{name}: write it as editor.{field}")
        if name not in takes:
            hint = nearest(name, [known for known in takes if known not in (*OURS, "self")])
            raise ConfigError(f"editor.arguments.{name}: {pipeline.__name__} takes no such argument{hint}")


# The folder that holds a pipeline: the user's own, or the hub's snapshot of a repository.

_PICKLES = (".bin", ".ckpt", ".pt", ".pth")


@dataclass(frozen=True)
class Source:
    """A pipeline on this disk."""

    folder: Path
    version: str
    """`organisation/name@commit` of a snapshot, else `folder@fingerprint`; 12 hex digits."""
    fingerprint: str
    """Of model_index.json and every file of the pipeline's components."""
    index: dict[str, Any]
    """model_index.json: the pipeline's class and its components."""
    components: tuple[Path, ...]

    @classmethod
    def read(cls, folder: Path) -> Source:
        """Raises `MissingWeights` when the folder holds no pipeline."""
        try:
            index = json.loads((folder / "model_index.json").read_text(encoding="utf-8"))
            components = tuple(folder / name for name in index if (folder / name).is_dir())
        except (FileNotFoundError, NotADirectoryError):
            raise MissingWeights(
                f"{folder} has no model_index.json: give a folder as save_pretrained of a pipeline writes it"
            ) from None
        except (OSError, ValueError, TypeError):
            raise MissingWeights(f"{folder}/model_index.json cannot be read: fetch the model again") from None
        inside = [file for component in components for file in component.rglob("*") if file.is_file()]
        found = fingerprint(
            {file.relative_to(folder).as_posix(): file for file in (folder / "model_index.json", *inside)}
        )
        version = snapshot_version(folder) or f"{folder.resolve().name}@{found}"
        return cls(folder, version, found, index, components)

    def refuse_pickles(self) -> None:
        """Raise `MissingWeights` for a component that has pickle files and no safetensors."""
        for component in self.components:
            suffixes = {file.suffix for file in component.iterdir()}
            if ".safetensors" not in suffixes and suffixes.intersection(_PICKLES):
                raise MissingWeights(_only_pickles(str(component)))


def download(model: str, revision: str | None, variant: str | None, pickle: bool, local_only: bool) -> Path:
    """The snapshot of a repository; fetches what its pipeline needs unless it is in the hub's cache or `local_only`.

    Raises `MissingWeights` when it cannot be had, or only as pickle files and `pickle` is not allowed.
    """
    check_repository(model, "editor")
    with hushed(bars=True):
        from diffusers import DiffusionPipeline

        try:
            return Path(
                DiffusionPipeline.download(
                    model,
                    revision=revision,
                    variant=variant,
                    use_safetensors=None if pickle else True,
                    local_files_only=local_only or offline(),
                )
            )
        except (OSError, ValueError) as error:
            if "`safetensors` weights" in str(error):
                raise MissingWeights(_only_pickles(model)) from None
            raise hub_problem(error, model, revision, local_only, "editor") from None


def _only_pickles(where: str) -> str:
    return (
        f"{where} has no safetensors weights, only pickle files, which can run code: convert them, "
        "or set allow_pickle: true if you trust them"
    )


# A pipeline in memory: number format, device, offloading, and what went wrong while loading.

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
    what = one_line(error, 200)
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
