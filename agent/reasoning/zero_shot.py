"""Reads reasoning summaries by a natural-language-inference model on this machine."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from turngate.agent.reasoning.lexicon import Splitter
from turngate.agent.reasoning.reading import ClaimLabel, Finding, ReaderResult, SummaryReading, Unread
from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MachineError, MissingWeights, one_line
from turngate.weights.hub import MODEL_FILES, MODEL_HOLDS, fetch, missing_model
from turngate.weights.torch_device import out_of_memory, resolve_device

__all__ = ["HYPOTHESES", "ZeroShotConfig", "ZeroShotReader"]

HYPOTHESES: Mapping[ClaimLabel, str] = {
    "claims_success": "The result is said to be a faithful copy, or done as asked.",
    "mentions_damage": "The image is said to show noise, a colour cast, blur or other damage.",
    "denies_damage": "The image is said to be free of noise and damage, or they were removed.",
    "hedges": "The writer is not certain.",
}
"""What is tested against each sentence. The wording is ours."""


class ZeroShotConfig(ComponentConfig):
    """Which model reads, and the probability from which it is believed."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)

    model: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
    """A repository of the hub, ORGANISATION/NAME: a sequence classifier with a label `entailment`."""
    revision: str | None = None
    """Version of the repository; the newest one where left out."""
    folder: str | None = Field(default=None, min_length=1)
    """Instead of `model`: a folder as save_pretrained of model and tokenizer writes it."""
    local_files_only: bool = False
    """Do not ask the hub for what is not on this machine."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """`auto` is CUDA where there is one, otherwise the CPU."""
    threshold: float = Field(default=0.5, ge=0, le=1)
    """A label is given where some sentence entails its hypothesis with at least this probability, against the
    probability that it contradicts it."""
    hypotheses: dict[ClaimLabel, str] = Field(default=dict(HYPOTHESES), min_length=1)
    """Label -> hypothesis; labels that are left out are never given."""

    @model_validator(mode="after")
    def _one_source(self) -> ZeroShotConfig:
        if (self.model is None) == (self.folder is None):
            raise ValueError("name either a model or a folder")
        return self


class ZeroShotReader:
    """A zero-shot classifier of transformers, sentence by sentence; it finds no counts and no kinds of damage."""

    Config: ClassVar[type[ComponentConfig]] = ZeroShotConfig
    requires: ClassVar[Mapping[str, str]] = {"transformers": "judges", "torch": "judges"}

    def __init__(self, config: ZeroShotConfig) -> None:
        """Load the model; raises `MissingWeights` when it is not here, `ConfigError` when it cannot be used."""
        self.config = config
        self._splitter = Splitter({}, {}, ())
        self._pipeline = _load(config)

    @classmethod
    def missing(cls, config: ZeroShotConfig | None) -> str | None:
        """A model in a folder, or on the hub."""
        return missing_model(config.model, config.revision, config.folder, config.type, MODEL_HOLDS) if config else None

    @classmethod
    def outline(cls, config: ZeroShotConfig) -> type[ZeroShotReader]:
        """The class: a run is checked by nothing of its reader."""
        return cls

    def read(self, texts: Sequence[str | None]) -> list[ReaderResult]:
        """One reading per text; raises `MachineError` when memory does not suffice."""
        return [self._read(text or "") for text in texts]

    def _read(self, text: str) -> ReaderResult:
        sentences = [sentence.text for sentence in self._splitter.split(text)]
        if not sentences:
            return Unread("empty", "no words")
        labels = {hypothesis: label for label, hypothesis in self.config.hypotheses.items()}
        findings = []
        for sentence, found in zip(sentences, self._entailed(sentences, list(labels)), strict=True):
            for hypothesis, probability in zip(found["labels"], found["scores"], strict=True):
                if probability >= self.config.threshold:
                    findings.append(Finding(labels[hypothesis], hypothesis, sentence))
        return SummaryReading.of(findings)

    def _entailed(self, sentences: list[str], hypotheses: list[str]) -> list[dict[str, Any]]:
        try:
            return list(self._pipeline(sentences, hypotheses, hypothesis_template="{}", multi_label=True))
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            raise MachineError(f"{self.config.type}: out of memory: take a smaller model or another device") from error


def _load(config: ZeroShotConfig) -> Any:
    transformers: Any = importlib.import_module("transformers")  # much of it is not typed
    device = resolve_device(config.device, config.type, auto=("cuda", "cpu"))
    source = _place(config)
    transformers.utils.logging.disable_progress_bar()
    try:
        model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(
            source, use_safetensors=True, output_loading_info=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    except OSError as error:
        raise MissingWeights(
            f"{config.type}: no whole model at {source}: it takes what save_pretrained of a sequence classifier and of "
            f"its tokenizer writes ({one_line(error, 200)})"
        ) from error
    except (ValueError, KeyError, ImportError, RuntimeError) as error:
        raise ConfigError(f"{config.type}: transformers cannot load {source}: {one_line(error, 200)}") from error
    if loading["missing_keys"]:
        # Random numbers would take their place.
        raise ConfigError(f"{config.type}: {source} lacks weights ({min(loading['missing_keys'])}): take a classifier")
    if not any(str(label).lower().startswith("entail") for label in model.config.label2id):
        known = ", ".join(map(str, model.config.label2id))
        raise ConfigError(f"{config.type}: {source} has no label `entailment` but {known}: take a model trained on NLI")
    return transformers.pipeline("zero-shot-classification", model=model.eval(), tokenizer=tokenizer, device=device)


def _place(config: ZeroShotConfig) -> Path:
    if config.folder is None:
        return fetch(str(config.model), config.revision, config.local_files_only, MODEL_FILES, config.type)
    if not Path(config.folder).is_dir():
        raise MissingWeights(f"{config.type}: there is no folder {config.folder}: check the path")
    return Path(config.folder)
