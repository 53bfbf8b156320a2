"""The forms of a question by name, and the presets that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import ValidationError

from turngate.errors import ConfigError
from turngate.evaluators.judges.form import Form
from turngate.evaluators.judges.pairwise import Pairwise
from turngate.evaluators.judges.pointwise import Pointwise
from turngate.evaluators.judges.rubric import Rubric
from turngate.registry import explain, nearest

__all__ = ["presets", "read_form"]

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
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


def _names() -> list[str]:
    return [*_FORMS, *presets()]
