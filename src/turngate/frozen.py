"""The two kinds of pydantic models: results that are computed, and what is read from files."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["FrozenModel", "StrictModel"]


class FrozenModel(BaseModel):
    """Base of results: cannot be changed, and each field is described by the text beneath it."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class StrictModel(FrozenModel):
    """Base of configurations and recorded rows: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")
