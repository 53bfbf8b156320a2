"""Which pipeline class edits with a model, and which settings its call takes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from turngate.agent.editors.networks.torch_talk import hushed
from turngate.errors import ConfigError
from turngate.registry import nearest

__all__ = ["SETTINGS", "check_arguments", "check_settings", "default_of", "parameters", "pipeline_class"]

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
