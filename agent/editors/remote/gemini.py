"""Gemini image models: Nano Banana Pro and its relatives, called directly through google-genai."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, NoImage, Served
from turngate.agent.editors.remote.base import RemoteConfig, no_answer
from turngate.agent.editors.remote.gemini_wire import contents, result
from turngate.component import ComponentConfig
from turngate.providers import gemini
from turngate.providers.calling import Called, KeyName, call, missing_key, read_key, run_blocking
from turngate.providers.prices import known_prices

if TYPE_CHECKING:
    from google.genai.types import GenerateContentConfig, GenerateContentResponse

__all__ = ["GeminiConfig", "GeminiEditor"]


class GeminiConfig(RemoteConfig):
    """Which model is called, and how."""

    model: str = Field(default="gemini-3-pro-image", min_length=1)
    """`gemini-3-pro-image` (Nano Banana Pro), `gemini-nano-banana-2.1`, or any other model that returns images."""
    thoughts: bool = True
    """Ask for thought summaries; they become the reasoning summary."""
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    """How much the model thinks; its own default where left out. Not every model knows every level."""
    aspect_ratio: str | None = Field(default=None, pattern=r"^\d{1,2}:\d{1,2}$")
    """For instance `16:9`; where left out the output follows the input's shape."""
    image_size: Literal["1K", "2K", "4K"] | None = None
    """Size of the output; the model's default is 1K."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Google advises the default, 1.0, for Gemini 3: lower values may loop or degrade."""
    send: Literal["raw", "png"] = "raw"
    """Feed the model's bytes back as they came, or as a PNG of the decoded pixels: part of the loop, so recorded."""
    window: int | None = Field(default=None, ge=2)
    """With history `chat`: keep the first exchange and the latest ones, this many in all; None for the whole of it."""
    api_key_env: KeyName = "GEMINI_API_KEY"
    """Environment variable that holds the key; GOOGLE_API_KEY is looked at too."""


class GeminiEditor:
    """Gemini image models (Nano Banana Pro and others) through google-genai; thought summaries are the reasoning."""

    Config: ClassVar[type[ComponentConfig]] = GeminiConfig
    requires: ClassVar[Mapping[str, str]] = {"google.genai": ""}
    converses: ClassVar[bool] = True
    provider: ClassVar[str] = gemini.PROVIDER
    stochastic = True
    simulated = False
    paid = True

    def __init__(self, config: GeminiConfig) -> None:
        """Raises `MissingKey` when Google's own server is meant and no key is set."""
        self.config = config
        self.model = config.model
        self.base_url = gemini.url_of(config.base_url)
        self.prices = config.prices or known_prices(config.model)
        # Tokens of an output image, from the published prices per image and per token: 1120 for 1K and 2K, 2000 for 4K.
        tokens = 2000 if config.image_size == "4K" else 1120
        self.typical_usd = self.prices.image_output * tokens / 1e6 if self.prices else None
        self._key = read_key((config.api_key_env, "GOOGLE_API_KEY"), "editor gemini", config.base_url is not None)

    @classmethod
    def missing(cls, config: GeminiConfig | None) -> str | None:
        """An API key in GEMINI_API_KEY."""
        if config is not None and config.base_url is not None:
            return None
        return missing_key((config.api_key_env if config else "GEMINI_API_KEY", "GOOGLE_API_KEY"))

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """One edit; tries again as `retry` says. Raises what no later call can mend, see `turngate.errors`."""
        return run_blocking(self.edit_async(request))

    async def edit_async(self, request: EditRequest) -> Edited | NoImage:
        """The same for code that is asynchronous."""
        said, flags = contents(request, self.config.send == "png", self.config.window)
        settings = self._settings(request)
        client = gemini.client(self._key, self.config.base_url, self.config.retry.deadline_seconds)
        async with client.aio as service:
            called: Called[GenerateContentResponse] = await call(
                lambda: service.models.generate_content(model=self.model, contents=list(said), config=settings),
                gemini.classify,
                self.config.retry,
                request.seed,
            )
        if called.answer is None:
            where = self.config.base_url or "the Gemini API"
            return no_answer(called, self.model, where, self.config.api_key_env, self.provider)
        served = Served(self.provider, tries=called.tries)
        return result(called.answer, served, self.prices, called.waited, flags)

    def _settings(self, request: EditRequest) -> GenerateContentConfig:
        from google.genai import types

        config = self.config
        level = types.ThinkingLevel(config.thinking_level.upper()) if config.thinking_level else None
        thinking = types.ThinkingConfig(include_thoughts=config.thoughts or None, thinking_level=level)
        image = types.ImageConfig(aspect_ratio=config.aspect_ratio, image_size=config.image_size)
        return types.GenerateContentConfig(
            response_modalities=["TEXT", "IMAGE"],
            thinking_config=thinking if config.thoughts or level else None,
            image_config=image if config.aspect_ratio or config.image_size else None,
            temperature=config.temperature,
            seed=request.seed if request.send_seed else None,
            http_options=types.HttpOptions(headers=dict(request.headers)) if request.headers else None,
        )
