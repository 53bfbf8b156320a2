"""Vision-language models on this machine through transformers, and the judge that asks one."""

from __future__ import annotations

import importlib
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from PIL import Image
from pydantic import Field, model_validator

from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MachineError, MissingWeights, one_line
from turngate.evaluators.evaluator import FactsOnly
from turngate.evaluators.judges.config import JudgeConfig, VisionModelConfig
from turngate.evaluators.judges.judge import Judge
from turngate.evaluators.judges.question import Ask, ModelReply, Question
from turngate.evaluators.result import EvaluationUsage, Unscored
from turngate.picture import Picture
from turngate.weights.hub import MODEL_HOLDS, missing_model
from turngate.weights.torch_device import out_of_memory, resolve_device
from turngate.weights.version import folder_version

__all__ = ["TransformersJudge", "TransformersJudgeConfig", "VisionModel"]


class VisionModel:
    """Answers a message of texts and images. The chat template is the model's own."""

    def __init__(self, config: VisionModelConfig) -> None:
        """Load the model; raises `MissingWeights` when it is not here, `ConfigError` when it cannot be used."""
        self._config = config
        self._lock = threading.Lock()
        folder = config.place()
        self._model, self._processor = _load(config, folder)
        self.name = folder_version(folder)
        """`organisation/name@commit` of a repository, `folder@fingerprint` of any other folder; 12 hex digits."""
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        added = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        self._special = sorted(added | set(tokenizer.all_special_tokens), key=len, reverse=True)

    def reply(
        self, parts: Sequence[str | Image.Image], temperature: float = 0.0, seed: int | None = None, top_k: int = 0
    ) -> ModelReply | Unscored:
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
                return Unscored("undefined", f"the model's processor does not take this: {one_line(error, 200)}")
            try:
                with torch.inference_mode():
                    made = self._model.generate(**inputs, max_new_tokens=self._config.max_new_tokens, **drawn)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                raise MachineError(
                    f"{self._config.type}: out of memory on {device}: take a smaller model, dtype or max_side"
                ) from error
        sent = int(inputs["input_ids"].shape[1])
        words = made[0, sent:].tolist()
        cut = len(words) >= self._config.max_new_tokens and words[-1] not in self._ends()
        text = self._processor.decode(words, skip_special_tokens=True)
        usage = EvaluationUsage(1, sent, len(words), 0.0)
        detail = f"no end after {len(words)} tokens" if cut else ""
        return ModelReply(text, "truncated" if cut else "complete", self.name, usage, detail)

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
    transformers: Any = importlib.import_module("transformers")  # much of it is not typed
    device = resolve_device(config.device, config.type, auto=("cuda", "cpu"))
    transformers.utils.logging.disable_progress_bar()
    try:
        processor = transformers.AutoProcessor.from_pretrained(folder)
        model = transformers.AutoModelForImageTextToText.from_pretrained(
            folder, dtype=config.dtype, use_safetensors=True
        )
        return model.eval().to(device), processor
    except OSError as error:
        how = "the folder must hold what save_pretrained of a model and of its processor writes"
        raise MissingWeights(f"{config.type}: no whole model in {folder}: {how} ({one_line(error, 200)})") from error
    except (ValueError, KeyError, ImportError, RuntimeError, MemoryError) as error:
        if out_of_memory(error):
            how = "take a smaller model, or dtype: bfloat16"
            raise MachineError(f"{config.type}: {folder} does not fit into the memory of {device}: {how}") from error
        raise ConfigError(f"{config.type}.model: transformers cannot load {folder}: {one_line(error, 200)}") from error


# A judge on this machine: any image-text-to-text model of transformers.


class TransformersJudgeConfig(JudgeConfig, VisionModelConfig):
    """Which model judges, and how."""

    paths: ClassVar[tuple[str, ...]] = ("folder", "prompt")
    """Fields that are paths relative to the configuration file."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    """0 takes the most likely words; above, words are drawn from `seed`."""

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.model is not None and self.folder is not None:
            raise ConfigError("folder: give it or `model`, not both")
        return self


class TransformersJudge(Judge):
    """An image-text-to-text model on this machine (Qwen2.5-VL, InternVL, ...) as a judge."""

    Config: ClassVar[type[ComponentConfig]] = TransformersJudgeConfig
    requires: ClassVar[Mapping[str, str]] = {"transformers": "judges", "torch": "judges"}

    def __init__(self, config: TransformersJudgeConfig) -> None:
        """Load the model; raises `MissingWeights` when it is not here, `ConfigError` when it cannot be used."""
        self.config = config
        self._vision = VisionModel(config)
        # One image set at a time: a batch cannot change a value.
        repeatable = config.temperature == 0 or config.seed is not None
        super().__init__(
            config, self._vision.name, weights=self._vision.name.rpartition("@")[2][:8], deterministic=repeatable
        )

    @classmethod
    def outline(cls, config: TransformersJudgeConfig) -> FactsOnly:
        """Its facts, without the model."""
        made = cls.__new__(cls)
        repeatable = config.temperature == 0 or config.seed is not None
        Judge.__init__(made, config, str(config.folder or config.model), deterministic=repeatable)
        return FactsOnly(made.facts)

    @classmethod
    def missing(cls, config: TransformersJudgeConfig | None) -> str | None:
        """A model in a folder, or on the hub."""
        return missing_model(config.model, config.revision, config.folder, config.type, MODEL_HOLDS) if config else None

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Ask]:
        async def ask(question: Question) -> ModelReply | Unscored:
            parts: list[str | Image.Image] = []
            for number, image in enumerate(question.images, start=1):
                parts += [f"Image {number}:", Image.fromarray(Picture.from_bytes(image.data).rgb)]
            return self._vision.reply([*parts, question.text], self.config.temperature, self.config.seed)

        yield ask
