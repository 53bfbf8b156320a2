"""Pipelines of diffusers with a few thousand random weights, written to a folder as a user's model would be."""

from __future__ import annotations

import importlib
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEVER, ALWAYS = 2.0, -2.0
"""Thresholds of a safety checker that blanks no picture, or every one: cosines lie between -1 and 1."""


def save(make: Callable[..., Any], folder: Path, **settings: Any) -> Path:
    """Build with fixed random weights and write; deprecations between the libraries are not ours to mend."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.random.fork_rng():
            torch.manual_seed(0)
            make(**settings).save_pretrained(folder)
    return folder


class Models:
    """Folders of tiny pipelines, each written when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: dict[str, Path] = {}

    def __call__(self, make: Callable[..., Any], **settings: Any) -> Path:
        key = f"{make.__name__} {settings}"
        if key not in self._made:
            self._made[key] = save(make, self._root / str(len(self._made)) / make.__name__, **settings)
        return self._made[key]


def spoil(file: Path, name: str, value: float) -> None:
    """Set one tensor of a safetensors file; the file keeps its size."""
    from safetensors.torch import load_file, save_file

    weights = load_file(file)
    weights[name] = weights[name] * 0 + value
    save_file(weights, file, {"format": "pt"})


def drop(file: Path, name: str) -> None:
    """Take one tensor out of a safetensors file."""
    from safetensors.torch import load_file, save_file

    weights = load_file(file)
    del weights[name]
    save_file(weights, file, {"format": "pt"})


def autoencoder() -> Any:
    """AutoencoderTiny: its blocks are 64 channels wide, as in every published one.

    Weights twice as large as usual: with fresh ones the result hardly depends on the input.
    """
    import torch

    network = _module("diffusers").AutoencoderTiny()
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(2)
    return network


def other_autoencoder() -> Any:
    """AutoencoderKL."""
    return _module("diffusers").AutoencoderKL(block_out_channels=(4,), norm_num_groups=2)


def write_whole(folder: Path, file: Path) -> None:
    """The weights of an autoencoder's folder as a single file without configuration."""
    file.parent.mkdir()
    shutil.copy(folder / "diffusion_pytorch_model.safetensors", file)


def write_pair(folder: Path, target: Path, name: str, pool: float | None = None) -> None:
    """The same in the original format: two state dicts, layers numbered from 0, the decoder's first being a clamp.

    With `pool` the three inner blocks of each half get a branch with random weights, its output scaled by `pool`.
    """
    import torch
    from safetensors.torch import load_file

    weights = load_file(folder / "diffusion_pytorch_model.safetensors")
    target.mkdir()
    for half, shift, inner in (("encoder", 0, (11, 12, 13)), ("decoder", 1, (3, 4, 5))):
        state = {}
        for key, value in weights.items():
            if key.startswith(half):
                _, _, number, rest = key.split(".", 3)
                state[f"{int(number) + shift}.{rest}"] = value
        if pool is not None:
            for index in inner:
                state[f"{index}.pool.0.weight"] = torch.randn(256, 64, 1, 1)
                state[f"{index}.pool.1.weight"], state[f"{index}.pool.1.bias"] = torch.ones(256), torch.zeros(256)
                state[f"{index}.pool.3.weight"] = pool * torch.randn(64, 256, 1, 1)
        torch.save(state, target / f"{name}_{half}.pth")


def text_to_image(checker: float | None = None, **unet: Any) -> Any:
    """StableDiffusionPipeline: it takes no image, its image-to-image sibling does."""
    diffusers = _module("diffusers")

    return diffusers.StableDiffusionPipeline(**_stable_diffusion(4, checker, unet))


def instruct() -> Any:
    """StableDiffusionInstructPix2PixPipeline: the input image is a second half of the network's channels."""
    diffusers = _module("diffusers")

    return diffusers.StableDiffusionInstructPix2PixPipeline(**_stable_diffusion(8, None, {}))


def inpaint() -> Any:
    """StableDiffusionInpaintPipeline: needs a mask."""
    diffusers = _module("diffusers")

    return diffusers.StableDiffusionInpaintPipeline(**_stable_diffusion(9, None, {}))


def flux(guidance_input: bool) -> Any:
    """FluxPipeline: a flow model with (`dev`) or without (`schnell`) the input for distilled guidance."""
    diffusers = _module("diffusers")

    return diffusers.FluxPipeline(**_flux(guidance_input))


def kontext() -> Any:
    """FluxKontextPipeline: edits by instruction."""
    diffusers = _module("diffusers")

    return diffusers.FluxKontextPipeline(**_flux(True))


def klein(distilled: bool) -> Any:
    """Flux2KleinPipeline: edits by instruction, takes several images, and ignores guidance when distilled."""
    diffusers = _module("diffusers")
    transformers = _module("transformers")

    tokenizer = _chat_tokenizer()
    return diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKLFlux2(
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            block_out_channels=(4, 4),
            layers_per_block=1,
            latent_channels=1,
            norm_num_groups=1,
            use_quant_conv=False,
            use_post_quant_conv=False,
        ),
        text_encoder=transformers.Qwen3ForCausalLM(
            transformers.Qwen3Config(
                vocab_size=len(tokenizer),
                hidden_size=16,
                intermediate_size=16,
                num_hidden_layers=28,  # the pipeline reads layers 9, 18 and 27
                num_attention_heads=2,
                num_key_value_heads=2,
                head_dim=8,
            )
        ),
        tokenizer=tokenizer,
        transformer=diffusers.Flux2Transformer2DModel(
            patch_size=1,
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=48,
            timestep_guidance_channels=256,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        ),
        is_distilled=distilled,
    )


def _module(name: str) -> Any:
    """Both libraries are typed in part only."""
    return importlib.import_module(name)


def _stable_diffusion(channels: int, checker: float | None, unet: dict[str, Any]) -> dict[str, Any]:
    diffusers = _module("diffusers")

    encoder, tokenizer = _clip()
    return {
        "vae": diffusers.AutoencoderKL(
            block_out_channels=(4, 8, 8, 8),
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            norm_num_groups=2,
        ),
        "text_encoder": encoder,
        "tokenizer": tokenizer,
        "unet": diffusers.UNet2DConditionModel(
            block_out_channels=(8, 16),
            layers_per_block=1,
            sample_size=16,
            in_channels=channels,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
            attention_head_dim=2,
            norm_num_groups=2,
            **unet,
        ),
        "scheduler": diffusers.DDIMScheduler(clip_sample=False, set_alpha_to_one=False, steps_offset=1),
        "safety_checker": None if checker is None else _checker(checker),
        "feature_extractor": None if checker is None else _feature_extractor(),
        "requires_safety_checker": checker is not None,
    }


def _flux(guidance_input: bool) -> dict[str, Any]:
    diffusers = _module("diffusers")
    transformers = _module("transformers")

    encoder, tokenizer = _clip()
    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in LETTERS)]
    sentences = transformers.T5Tokenizer(vocab=words, extra_ids=0)
    return {
        "scheduler": diffusers.FlowMatchEulerDiscreteScheduler(),
        "text_encoder": encoder,
        "tokenizer": tokenizer,
        "text_encoder_2": transformers.T5EncoderModel(
            transformers.T5Config(vocab_size=len(sentences), d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4)
        ),
        "tokenizer_2": sentences,
        "transformer": diffusers.FluxTransformer2DModel(
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
            guidance_embeds=guidance_input,
        ),
        "vae": diffusers.AutoencoderKL(
            block_out_channels=(4, 4),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            latent_channels=1,
            norm_num_groups=1,
            use_quant_conv=False,
            use_post_quant_conv=False,
            shift_factor=0.06,
            scaling_factor=1.5,
        ),
    }


def _clip() -> tuple[Any, Any]:
    transformers = _module("transformers")

    ends = ["<|startoftext|>", "<|endoftext|>"]
    tokens = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), ".</w>", *ends]
    tokenizer = transformers.CLIPTokenizer(
        vocab={token: n for n, token in enumerate(tokens)}, merges=[], model_max_length=77
    )
    encoder = transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=4,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    return encoder, tokenizer


def _chat_tokenizer() -> Any:
    transformers = _module("transformers")

    tokens = [*LETTERS, ".", "Ġ", "<|endoftext|>"]
    tokenizer = transformers.Qwen2Tokenizer(vocab={token: n for n, token in enumerate(tokens)}, merges=[])
    tokenizer.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    return tokenizer


def _checker(threshold: float) -> Any:
    import torch

    transformers = _module("transformers")

    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    vision = {**small, "image_size": 32, "patch_size": 16}
    safety = _module("diffusers.pipelines.stable_diffusion.safety_checker")
    checker = safety.StableDiffusionSafetyChecker(
        transformers.CLIPConfig(vision_config=vision, text_config=small, projection_dim=8)
    )
    for thresholds in (checker.concept_embeds_weights, checker.special_care_embeds_weights):
        torch.nn.init.constant_(thresholds, threshold)
    return checker


def _feature_extractor() -> Any:
    transformers = _module("transformers")

    return transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
