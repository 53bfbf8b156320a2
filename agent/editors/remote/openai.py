"""The images-edit endpoint of OpenAI and of servers that speak its protocol."""

from __future__ import annotations

import base64
import binascii
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, EditUsage, ExtraImage, NoImage, Served
from turngate.agent.editors.remote.base import RemoteConfig, no_answer, sent
from turngate.component import FAKE_SERVER, ComponentConfig
from turngate.errors import shortened
from turngate.providers import openai
from turngate.providers.calling import Called, KeyName, call, missing_key, read_key, run_blocking
from turngate.providers.prices import Prices, Tokens, cost, known_prices
from turngate.providers.server import Answered, is_fake

if TYPE_CHECKING:
    from openai.types import ImagesResponse

__all__ = ["OpenAIConfig", "OpenAIEditor"]

_LONGEST_TEXT = 200_000
"""Characters of a prompt that the server revised that are kept."""
_ACCEPTED = frozenset({"image/png", "image/jpeg", "image/webp"})


class OpenAIConfig(RemoteConfig):
    """Which model is called, and how."""

    model: str = Field(min_length=1)
    """Name as the server knows it."""
    size: str | None = Field(default=None, pattern=r"^(auto|\d+x\d+)$")
    """For instance `1024x1024`; the server's default where left out. The output rarely has the input's size."""
    quality: Literal["auto", "low", "medium", "high", "standard"] | None = None
    """Quality, where the model knows it."""
    input_fidelity: Literal["low", "high"] | None = None
    """How closely the input is kept, where the model knows it."""
    response_format: Literal["b64_json"] | None = None
    """Ask for bytes; needed by servers that otherwise answer with an address, refused by the gpt-image models."""
    send_seed: bool = False
    """Send the field `seed`, which OpenAI's own server does not know and many others do."""
    send: Literal["raw", "png"] = "raw"
    """Feed the model's bytes back as they came, or as a PNG of the decoded pixels: part of the loop, so recorded."""
    api_key_env: KeyName = "OPENAI_API_KEY"
    """Environment variable that holds the key."""


class OpenAIEditor:
    """The images-edit endpoint of OpenAI or of any server that speaks its protocol (`base_url`)."""

    Config: ClassVar[type[ComponentConfig]] = OpenAIConfig
    requires: ClassVar[Mapping[str, str]] = {"openai": ""}
    provider: ClassVar[str] = openai.PROVIDER
    stochastic = True
    simulated = False
    paid = True

    def __init__(self, config: OpenAIConfig) -> None:
        """Raises `MissingKey` when OpenAI's own server is meant and no key is set."""
        self.config = config
        self.model = config.model
        self.base_url = openai.url_of(config.base_url)
        self.sends_seed = config.send_seed
        self.prices = config.prices or known_prices(config.model)
        self._key = read_key((config.api_key_env,), "editor openai", config.base_url is not None)

    @classmethod
    def missing(cls, config: OpenAIConfig | None) -> str | None:
        """An API key in OPENAI_API_KEY, or a server of one's own at `base_url`."""
        if config is not None and config.base_url is not None:
            return None
        return missing_key((config.api_key_env if config else "OPENAI_API_KEY",))

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """One edit; tries again as `retry` says. Raises what no later call can mend, see `turngate.errors`."""
        return run_blocking(self.edit_async(request))

    async def edit_async(self, request: EditRequest) -> Edited | NoImage:
        """The same for code that is asynchronous."""
        config = self.config
        pictures = [sent(picture, config.send == "png", _ACCEPTED) for picture in request.images]
        flags = tuple(dict.fromkeys(flag for _, _, remarks in pictures for flag in remarks))
        fields = self._fields(request)
        async with openai.client(self._key, config.base_url, config.retry.deadline_seconds) as service:

            async def ask() -> Answered[ImagesResponse]:
                files = [
                    (f"image{number}.{media_type.partition('/')[2]}", io.BytesIO(data), media_type)
                    for number, (data, media_type, _) in enumerate(pictures)
                ]
                heard = await service.images.with_raw_response.edit(
                    image=files if len(files) > 1 else files[0],
                    prompt=request.instruction,
                    model=self.model,
                    extra_headers=dict(request.headers) or None,
                    **fields,
                )
                answer: ImagesResponse = heard.parse()
                if not hasattr(answer, "data"):  # a page of a proxy comes back as a plain string
                    raise json.JSONDecodeError("the answer is no JSON object", str(answer)[:80], 0)
                return Answered(answer, is_fake(heard.headers))

            called: Called[Answered[ImagesResponse]] = await call(ask, openai.classify, config.retry, request.seed)
        if called.answer is None:
            where = config.base_url or "the OpenAI API"
            return no_answer(called, self.model, where, config.api_key_env, self.provider)
        if not request.send_seed or not config.send_seed:
            flags = (*flags, "seed_not_sent")
        if called.answer.fake:
            flags = (*flags, FAKE_SERVER)
        return _result(called.answer.answer, called, self.model, self.prices, flags)

    def _fields(self, request: EditRequest) -> dict[str, Any]:
        names = ("size", "quality", "input_fidelity", "response_format")
        fields: dict[str, Any] = {name: getattr(self.config, name) for name in names}
        fields = {name: value for name, value in fields.items() if value is not None}
        if self.config.send_seed and request.send_seed:
            fields["extra_body"] = {"seed": request.seed}
        return fields


def _result(
    answer: ImagesResponse,
    called: Called[Answered[ImagesResponse]],
    model: str,
    prices: Prices | None,
    flags: tuple[str, ...],
) -> Edited | NoImage:
    resolved = (answer.model_extra or {}).get("model") or model
    shared: dict[str, Any] = {
        "model": str(resolved),
        "usage": _usage(answer, prices, called.waited),
        "served": Served(openai.PROVIDER, getattr(answer, "_request_id", None), tries=called.tries),
    }
    images = [image for image in answer.data or [] if image.b64_json or image.url]
    if not images:
        return NoImage("no_image", "the answer holds no image", **shared)
    coded = [image.b64_json for image in images if image.b64_json]
    if not coded:
        why = "the server answered with an address, which is not fetched: set editor.response_format to b64_json"
        return NoImage("no_image", why, retryable=False, **shared)
    try:
        *others, data = [base64.b64decode(text.partition("base64,")[2] or text, validate=True) for text in coded]
    except (binascii.Error, ValueError) as error:
        return NoImage("error", f"the answer's image is not base64: {error}", **shared)
    revised = images[-1].revised_prompt
    metadata = {"revised_prompt": shortened(revised, _LONGEST_TEXT)} if revised else {}
    extras = tuple(ExtraImage(other, "interim") for other in others)
    return Edited(data, extras=extras, flags=flags, metadata=metadata, **shared)


def _usage(answer: ImagesResponse, prices: Prices | None, waited: float) -> EditUsage:
    used = answer.usage
    if used is None:
        return EditUsage(waited_seconds=waited)
    ins, outs = used.input_tokens_details, used.output_tokens_details
    text_out = getattr(outs, "text_tokens", None) or 0
    tokens = Tokens(
        text_input=getattr(ins, "text_tokens", None),
        image_input=getattr(ins, "image_tokens", None),
        text_output=text_out,
        image_output=used.output_tokens - text_out,
    )
    return EditUsage(used.input_tokens, used.output_tokens, None, cost(tokens, prices), waited)
