"""What every part (editor, evaluator, gate, scenario) is to the registry and to the configuration."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, Self

from turngate.frozen import StrictModel

__all__ = ["ComponentClass", "ComponentConfig", "Direction", "missing_modules", "summary"]

Direction = Literal["higher", "lower"]
"""Which way a value is better."""


class ComponentConfig(StrictModel, allow_inf_nan=False):
    """Configuration of one part. Subclass it beside the part; unknown fields are errors.

    So are infinite values and NaN: JSON has neither, and run.json must be able to be run again. A subclass may list
    fields that are paths as `paths: ClassVar[tuple[str, ...]]`: they are relative to the file that the configuration
    stands in, as the origin is.
    """

    type: str
    """Registry name, entry-point name or dotted path (`package.module:Class`) of the part."""

    def pinned(self) -> Self:
        """The configuration with the hash of what it names on disk, for run.json; itself where it names nothing."""
        return self


class ComponentClass(Protocol):
    """A class that can be named in a configuration.

    It may also have `needs`: what it needs beside packages (a key, weights), in a few words, and `lacks()`: a class
    method that says in one line what of that is missing here, or None; `lacks_of(config)` says so for its settings.
    """

    Config: ClassVar[type[ComponentConfig]]
    """Its pydantic configuration class."""
    requires: ClassVar[Mapping[str, str]]
    """Importable module -> extra of turngate that installs it ("" for the core)."""

    def __init__(self, config: Any) -> None: ...


def missing_modules(component: type[ComponentClass]) -> dict[str, str]:
    """Modules that `component` needs and that are not installed, with the extra that installs each."""
    return {module: extra for module, extra in component.requires.items() if not _is_there(module)}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that should hold it is missing
        return False


def summary(component: type) -> str:
    """First line of a part's docstring, for listings."""
    return (component.__doc__ or "").strip().split("\n", 1)[0]
