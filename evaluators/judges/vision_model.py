"""A vision-language model on this machine, loaded by transformers from a folder or from the hub."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from PIL import Image
from pydantic import Field, model_validator

from turngate.errors import ConfigError, MachineError, MissingWeights
from turngate.evaluators.judges._snapshot import download, existing, version_of
from turngate.evaluators.judges.question import Reply
from turngate.evaluators.result import Unscored
from turngate.evaluators.usage import Usage
from turngate.part import PartConfig

__all__ = ["VisionModel", "VisionModelConfig"]


class VisionModelConfig(PartConfig):
    """Where the model is and how it runs."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)
    """Fields that are paths relative to the configuration file."""

    model: str | None = None
    """Repository on the hub, for instance `Qwen/Qwen2.5-VL-7B-Instruct`. Only safetensors are read: they cannot run
    code."""
    revision: str | None = None
    """Branch, tag or commit of the repository; name a commit for runs that are to be repeated."""
    folder: Path | None = None
    """In place of `model`: a folder that holds what `save_pretrained` of a model and of its processor writes."""
    local_files_only: bool = False
    """Never download: the model must be in the hub's cache already."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    """`auto` is CUDA where there is one, otherwise the CPU."""
    dtype: str = Field(default="auto", pattern=r"^(auto|float32|float16|bfloat16)$")
    """Type of the weights; `auto` is what they were saved as."""
    max_new_tokens: int = Field(default=1024, ge=1)
    """Longest answer. One that is cut there gives no score."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.model is None and self.folder is None:
            raise ConfigError("model: say where the model is: `model` (a repository) or `folder`")
        if self.folder is not None and self.revision is not None:
            raise ConfigError("revision: it is for a repository: a folder has none")
        return self


class VisionModel:
    """Answers a message of texts and images. The chat template is the model's own."""

    def __init__(self, config: VisionModelConfig) -> None:
        """Load the model; raises `MissingWeights` when it is not here, `ConfigError` when it cannot be used."""
        self._config = config
        self._lock = threading.Lock()
        if config.folder is not None:
            folder = existing(config.folder, config.type)
        else:
            assert config.model is not None  # see _one_place
            folder = download(config.model, config.revision, config.local_files_only, config.type)
        self._model, self._processor = _load(config, folder)
        self.name = version_of(folder)
        """`organisation/name@commit` of a repository, `folder@fingerprint` of any other folder; 12 hex digits."""
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        added = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        self._special = sorted(added | set(tokenizer.all_special_tokens), key=len, reverse=True)

    def reply(
        self, parts: Sequence[str | Image.Image], temperature: float = 0.0, seed: int | None = None, top_k: int = 0
    ) -> Reply | Unscored:
        """One answer: the most likely words at temperature 0, otherwise drawn (from `seed`, if there is one).

        `Unscored("undefined")` for an image that the model's processor does not take (1 x 400 pixels, say). Raises
        `MachineError` when memory does not suffice.
        """
        import torch

        drawn: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if temperature > 0:
            drawn = {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": top_k}
        device = self._model.device
        # The lock: torch draws from one generator per process.
        with self._lock, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            if seed is not None:
                torch.manual_seed(seed)
            try:
                inputs = self._inputs(parts).to(device)
            except ValueError as error:
                return Unscored("undefined", f"the model's processor does not take this: {_line(error)}")
            try:
                with torch.inference_mode():
                    made = self._model.generate(**inputs, max_new_tokens=self._config.max_new_tokens, **drawn)
            except (torch.OutOfMemoryError, MemoryError) as error:
                raise MachineError(
                    f"{self._config.type}: out of memory on {device}: take a smaller model, dtype or max_side"
                ) from error
        sent = int(inputs["input_ids"].shape[1])
        words = made[0, sent:].tolist()
        cut = len(words) >= self._config.max_new_tokens and words[-1] not in self._ends()
        text = self._processor.decode(words, skip_special_tokens=True)
        usage = Usage(1, sent, len(words), 0.0)
        detail = f"no end after {len(words)} tokens" if cut else ""
        return Reply(text, "truncated" if cut else "complete", self.name, usage, detail)

    def _inputs(self, parts: Sequence[str | Image.Image]) -> Any:
        content = [
            {"type": "text", "text": self._inert(part)} if isinstance(part, str) else {"type": "image", "image": part}
            for part in parts
        ]
        return self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )

    def _inert(self, text: str) -> str:
        """Break what the tokenizer would read as a turn's end or an image: text is data."""
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def _ends(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list | tuple) else {ends}


def _load(config: VisionModelConfig, folder: Path) -> tuple[Any, Any]:
    import torch

    transformers: Any = importlib.import_module("transformers")  # much of it is not typed
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ConfigError(f"{config.type}.device: torch {torch.__version__} finds no {device} here: use auto or cpu")
    transformers.utils.logging.disable_progress_bar()
    try:
        processor = transformers.AutoProcessor.from_pretrained(folder)
        model = transformers.AutoModelForImageTextToText.from_pretrained(
            folder, dtype=config.dtype, use_safetensors=True
        )
    except OSError as error:
        how = "the folder must hold what save_pretrained of a model and of its processor writes"
        raise MissingWeights(f"{config.type}: no whole model in {folder}: {how} ({_line(error)})") from error
    except (ValueError, KeyError, ImportError, RuntimeError) as error:
        raise ConfigError(f"{config.type}.model: transformers cannot load {folder}: {_line(error)}") from error
    return model.eval().to(device), processor


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
