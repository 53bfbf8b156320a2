"""A Qwen2.5-VL of 0.3 million parameters, written to a folder as a user's model would be.

Nothing in it is trained. With `says` its weights are set so that it answers any question with that text: the text is
one token of its vocabulary, which follows the prompt's last token and is followed by the end. Without, it is random.
"""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

_SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
]  # fmt: skip
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_vlm(folder: Path, says: str | None = None, ends: bool = True) -> Path:
    """Write the model; with `ends=False` it repeats `says` for ever."""
    import torch

    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")  # deprecations between the libraries are not ours to mend
        torch.manual_seed(0)
        processor = _processor(says)
        model = _model(processor.tokenizer)
        if says is not None:
            _teach(model, processor.tokenizer, says, ends)
        processor.save_pretrained(folder)
        model.save_pretrained(folder)
    return folder


def _processor(says: str | None) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    transformers: Any = importlib.import_module("transformers")  # much of it is not typed
    coder = Tokenizer(models.BPE())
    coder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    coder.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=_SPECIAL, initial_alphabet=letters)
    coder.train_from_iterator(["user", "assistant", "image"], trainer)
    if says is not None:
        coder.add_tokens([AddedToken(says, special=False, normalized=False)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=coder,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=[token for token in _SPECIAL if token not in ("<|im_end|>", "<|endoftext|>")],
    )
    sizes = {"min_pixels": 28 * 28, "max_pixels": 28 * 28 * 16}
    return transformers.Qwen2_5_VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**sizes),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(**sizes),
        chat_template=_TEMPLATE,
    )


def _model(tokenizer: Any) -> Any:
    transformers: Any = importlib.import_module("transformers")
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{name}|>") for name in ("image_pad", "video_pad", "vision_start")}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 4096,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
            "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": None,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "out_hidden_size": 64,
            "fullatt_block_indexes": [1],
        },
        image_token_id=ids["image_pad"],
        video_token_id=ids["video_pad"],
        vision_start_token_id=ids["vision_start"],
        tie_word_embeddings=False,
    )
    model = transformers.Qwen2_5_VLForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model


def _teach(model: Any, tokenizer: Any, says: str, ends: bool) -> None:
    """Let every token pass the layers unchanged, and let the head know what follows which token."""
    import torch

    newline, said = tokenizer.encode("\n")[-1], tokenizer.encode(says)[-1]
    follows = {said: [newline] if ends else [newline, said], tokenizer.eos_token_id: [said] if ends else []}
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        known = model.model.language_model.embed_tokens.weight
        known.copy_(torch.nn.functional.normalize(torch.randn_like(known), dim=1))
        model.lm_head.weight.zero_()
        for token, after in follows.items():
            for one in after:
                model.lm_head.weight[token] += 50 * known[one]
