"""Settings that all judges share."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, SerializeAsAny, field_validator

from turngate.evaluators.judges.form import Form
from turngate.evaluators.judges.forms import read_form
from turngate.evaluators.judges.prompt import WordsFromFile
from turngate.part import PartConfig
from turngate.providers.calling import RetryConfig
from turngate.providers.prices import Prices

__all__ = ["JudgeConfig", "RemoteJudgeConfig"]


class JudgeConfig(PartConfig):
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
