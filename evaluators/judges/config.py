"""Settings that judges share, those of a provider and of a model on this machine; forms and presets by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, SerializeAsAny, ValidationError, ValidationInfo, field_validator, model_validator

from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators.judges.form import Form
from turngate.evaluators.judges.pairwise import Pairwise
from turngate.evaluators.judges.pointwise import Pointwise
from turngate.evaluators.judges.prompt import WordsFromFile
from turngate.evaluators.judges.rubric import Rubric
from turngate.evaluators.result import EvaluationUsage, Failed, Unscored
from turngate.providers.calling import Called, RetryConfig, raise_if_fatal
from turngate.providers.prices import Prices, Tokens, cost
from turngate.registry import explain, nearest
from turngate.weights.hub import MODEL_FILES, check_repository, fetch
from turngate.weights.version import check_same, fingerprint, folder_files
from turngate.yaml_text import parse_yaml

__all__ = ["JudgeConfig", "RemoteJudgeConfig", "VisionModelConfig", "no_answer", "presets", "read_form", "text_cost"]


# The forms of a question by name, and the presets that are made of them.

_FORMS: Mapping[str, type[Form]] = {"pointwise": Pointwise, "pairwise": Pairwise, "rubric": Rubric}


def read_form(raw: Any, where: str) -> Form:
    """A form from a preset's name, a form's name, or a mapping with `form` or `preset` and settings.

    Raises `ConfigError` that starts with `where`.
    """
    if isinstance(raw, Form):
        return raw
    if isinstance(raw, str):
        raw = {"form" if raw in _FORMS else "preset": raw}
    if not isinstance(raw, Mapping):
        raise ConfigError(
            f"{where}: name a preset or a form, for instance `ask: edit`; there are: {', '.join(_names())}"
        )
    given = dict(raw)
    preset = given.get("preset")
    if preset is not None:
        if preset not in presets():
            raise ConfigError(f"{where}: no preset or form is called {preset!r}{nearest(str(preset), _names())}")
        given = {**presets()[preset], **given}
    form = _FORMS.get(str(given.get("form")))
    if form is None:
        raise ConfigError(f"{where}.form: one of {', '.join(_FORMS)}, not {given.get('form')!r}")
    try:
        return form.model_validate(given)
    except ValidationError as error:
        raise ConfigError(explain(error, form, where)) from None


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Settings of every preset."""
    text = resources.files("turngate.evaluators.judges").joinpath("presets.yaml").read_text("utf-8")
    found: dict[str, dict[str, Any]] = parse_yaml(text, "presets.yaml")
    return found


def _names() -> list[str]:
    return [*_FORMS, *presets()]


class JudgeConfig(ComponentConfig):
    """What is asked, and how the images are sent."""

    paths: ClassVar[tuple[str, ...]] = ("prompt",)
    """Fields that are paths relative to the configuration file."""

    ask: SerializeAsAny[Form] = Field(default="edit", validate_default=True)
    """A preset by name, a form by name (`pointwise`, `pairwise`, `rubric`), or a mapping with `form` or `preset` and
    settings, see docs/judges.md."""
    prompt: WordsFromFile | None = None
    """A text file with words of your own, instead of those that ship for the form; run.json holds the words."""
    max_side: int | None = Field(default=None, ge=16)
    """Shrink images until the longest side has this many pixels; None sends them as they are."""
    seed: int | None = Field(default=0, ge=0, lt=2**31)
    """Sent with every question; None sends none."""

    @field_validator("ask", mode="before")
    @classmethod
    def _form(cls, raw: Any) -> Form:
        return read_form(raw, "ask")


class RemoteJudgeConfig(JudgeConfig):
    """Settings of judges that call a provider."""

    base_url: str | None = Field(default=None, pattern=r"^https?://")
    """Another server that speaks the same protocol; a proxy, one's own, `turngate fake-server`. Needs no key."""
    retry: RetryConfig = RetryConfig()
    prices: Prices | None = None
    """US dollars per million tokens; the shipped table where it is left out."""
    structured: Literal["json_schema", "json_object", "text"] = "json_schema"
    """Send the schema of the answer, ask for some JSON, or only say so in the prompt: for servers that know less. The
    answer is checked anyway."""
    max_tokens: int = Field(default=4096, ge=16)
    """Longest answer, thoughts included. An answer that is cut there gives no score."""
    parallel: int = Field(default=4, ge=1, le=64)
    """Questions in flight at a time when a batch is scored."""


# What a failed call to a provider means for a judge.


def no_answer(called: Called[Any], config: RemoteJudgeConfig, model: str, where: str, key: str) -> Unscored | Failed:
    """The result of a call that failed for good.

    Raises what no later call can mend, see `turngate.providers.calling`.
    """
    failure = called.failure
    assert failure is not None
    raise_if_fatal(failure, model, where, key, f"{config.type}.model")
    usage = EvaluationUsage(waited_seconds=called.waited)
    if failure.kind == "moderation":
        return Unscored("filtered", failure.message, usage=usage)
    count = len(called.tries)
    detail = failure.message if count == 1 else f"{failure.message} ({count} tries)"
    if failure.kind == "bad_request" and config.structured == "json_schema":
        detail += "; for a server that takes no schema set `structured: json_object` or `text`"
    return Failed("provider", failure.kind, detail, usage=usage)


def text_cost(sent: int | None, images: int | None, answered: int | None, prices: Prices | None) -> float | None:
    """US dollars of a call that answers with text.

    `sent` are all tokens that went out, `images` those of images among them: they need not be known where both cost
    the same.
    """
    if images is None and prices is not None and prices.text_input == prices.image_input:
        images = 0
    return cost(Tokens.split(sent, images, answered, 0), prices)


# Where a vision-language model on this machine is, and how it runs.


class VisionModelConfig(ComponentConfig):
    """The model's place, its device, and how long it may talk."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)
    """Fields that are paths relative to the configuration file."""

    model: str | None = None
    """Repository on the hub, for instance `Qwen/Qwen2.5-VL-7B-Instruct`. Only safetensors are read: they cannot run
    code."""
    revision: str | None = None
    """Branch, tag or commit of the repository; name a commit for runs that are to be repeated."""
    folder: Path | None = None
    """In place of `model`: a folder that holds what `save_pretrained` of a model and of its processor writes."""
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$", validate_default=True)
    """Taken from the folder where it is left out, and so set in run.json: the folder must still hold these files."""
    local_files_only: bool = False
    """Never download: the model must be in the hub's cache already."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    """`auto` is CUDA where there is one, otherwise the CPU."""
    dtype: str = Field(default="auto", pattern=r"^(auto|float32|float16|bfloat16)$")
    """Type of the weights; `auto` is what they were saved as."""
    max_new_tokens: int = Field(default=1024, ge=1)
    """Longest answer. One that is cut there gives no score."""

    @field_validator("fingerprint")
    @classmethod
    def _of_the_folder(cls, given: str | None, info: ValidationInfo) -> str | None:
        """A resumed run so refuses another model in the same place."""
        folder = info.data.get("folder")
        if given is not None or folder is None or not folder.is_dir():
            return given
        return fingerprint(folder_files(folder))

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.model is None and self.folder is None:
            raise ConfigError("model: say where the model is: `model` (a repository) or `folder`")
        if self.folder is not None and self.revision is not None:
            raise ConfigError("revision: it is for a repository: a folder has none")
        return self

    def place(self) -> Path:
        """The model on this disk, fetched where that is needed and allowed.

        Raises `MissingWeights` when it cannot be had, `ConfigError` when the folder holds another one by now.
        """
        if self.folder is None:
            assert self.model is not None  # see _one_place
            check_repository(self.model, self.type)
            return fetch(self.model, self.revision, self.local_files_only, MODEL_FILES, self.type)
        if not self.folder.is_dir():
            raise MissingWeights(f"there is no folder {self.folder}: check {self.type}.folder")
        check_same(self.fingerprint, fingerprint(folder_files(self.folder)), self.type, self.folder)
        return self.folder
