"""What every component (editor, evaluator, gate, scenario, reader) is to the registry and to the configuration."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import AfterValidator, PrivateAttr

from turngate.frozen import StrictModel

__all__ = [
    "BEYOND_DIVERGENCE",
    "FAKE_SERVER",
    "FAKE_SERVER_HEADER",
    "NOT_ON_RECORD",
    "SCORED_AT",
    "Box",
    "ComponentClass",
    "ComponentConfig",
    "Direction",
    "ObjectConfig",
    "ObjectFailure",
    "checked_box",
    "differences",
    "missing_here",
    "missing_modules",
    "summary",
]


Direction = Literal["higher", "lower"]
"""Which way a value is better."""

ObjectFailure = Literal["none", "nothing_added", "replaced", "row_too_many"]
"""What became of an object that a simulator was asked to add.

- `none`: it was added as asked.
- `nothing_added`: nothing new appears.
- `replaced`: the new object takes the place of an old one.
- `row_too_many`: a row of the same object comes along with it.
"""


BEYOND_DIVERGENCE = "beyond_divergence"
"""Flag of an attempt whose recorded answer the editor would not have given in this run.

The run has gone another way than the record: the answer was made from another image, or there is none on record.
"""

NOT_ON_RECORD = "not_on_record"
"""Flag of an attempt whose image a recorded chain lacks: a turn without a file, or a file that cannot be read.

There was an image, so what stood after that turn is not known; the chain goes on with the next recorded one.
"""


FAKE_SERVER = "fake_server"
"""Flag of an attempt or a score whose answer the shipped fake server gave: no model was asked."""

FAKE_SERVER_HEADER = "x-turngate-fake-server"
"""Header by which the shipped fake server says who it is, in every answer."""


SCORED_AT = "scored_at"
"""First word of the flag `scored_at:WIDTHxHEIGHT`: a value without a reference, of an image of another size than the
origin of the run. Such metrics depend on the size, so it compares less well with the others."""


def checked_box(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """The rectangle itself; raises `ValueError` for one without an area or beyond the picture."""
    left, top, right, bottom = box
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):  # NaN fails every comparison
        raise ValueError("a rectangle is [left, top, right, bottom] in shares 0..1 of width and height")
    return box


Box = Annotated[tuple[float, float, float, float], AfterValidator(checked_box)]
"""A rectangle of a picture: left, top, right, bottom as shares 0..1 of its width and height, from the top left."""


class ComponentConfig(StrictModel, allow_inf_nan=False):
    """Configuration of one component. Subclass it beside the component; unknown fields are errors.

    So are infinite values and NaN: JSON has neither, and run.json must be able to be run again. A subclass may list
    fields that are paths as `paths: ClassVar[tuple[str, ...]]`: they are relative to the configuration's file, as the
    origin is.
    """

    type: str
    """Registry name, entry-point name or dotted path (`package.module:Class`) of the component."""

    def pinned(self) -> Self:
        """The configuration with the hash of what it names on disk, for run.json; itself where it names nothing."""
        return self


class ObjectConfig(ComponentConfig):
    """A component that a program gave as an object, instead of naming one.

    It is recorded by what it is called and how it describes itself. Only a program that has such an object can go on
    with the run: the record cannot make it again.
    """

    PREFIX: ClassVar[str] = "object:"
    type: str
    """`object:` and where its class lies, `module:Class`."""
    described: str
    """`repr` of its configuration (`config`), or of the object itself; addresses in memory left out."""
    _given: Any = PrivateAttr(default=None)

    @classmethod
    def of(cls, given: object) -> ObjectConfig:
        """The configuration that stands for the object `given`."""
        kind = type(given)
        described = re.sub(" at 0x[0-9a-fA-F]+", "", repr(getattr(given, "config", given)))[:1000]
        made = cls(type=f"{cls.PREFIX}{kind.__module__}:{kind.__qualname__}", described=described)
        made._given = given
        return made

    @property
    def given(self) -> Any:
        """The object; None where the configuration was read from a record."""
        return self._given


class ComponentClass(Protocol):
    """A class that can be named in a configuration.

    One that needs more than packages (a key, weights, a program) also has a class method
    `missing(config: Config | None) -> str | None`: one line that says what of that is missing on this machine for these
    settings, or with default settings where `config` is None; None when nothing is. It builds, loads and downloads
    nothing, and is called only where the packages are installed. The first line of its docstring says in a few words
    what the component needs: listings show it.

    One that loads weights when it is made may have a class method `outline(config: Config)`: an object with what a run
    is checked by (an evaluator's `facts`, an editor's `stochastic`, `simulated`, `paid`), or the class itself where it
    has all that. It loads and fetches nothing, and raises as `__init__` does for settings that cannot be. It is called
    where `missing` says None, so that a study of many runs loads no weights before the first of them begins.
    """

    Config: ClassVar[type[ComponentConfig]]
    """Its pydantic configuration class."""
    requires: ClassVar[Mapping[str, str]]
    """Importable module -> extra of turngate that installs it ("" for the core)."""

    def __init__(self, config: Any) -> None: ...


def missing_modules(component: type[ComponentClass]) -> dict[str, str]:
    """Modules that `component` requires and that are not installed, with the extra that installs each."""
    return {module: extra for module, extra in component.requires.items() if not _is_there(module)}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that should hold it is missing
        return False


def missing_here(component: type[ComponentClass], config: ComponentConfig | None) -> str | None:
    """What `component.missing` says; None where it has no such method or its packages are not installed."""
    missing: Callable[[ComponentConfig | None], str | None] | None = getattr(component, "missing", None)
    return missing(config) if missing is not None and not missing_modules(component) else None


def summary(described: object) -> str:
    """First line of the docstring of a component or of a method, for listings; empty where there is none."""
    return (described.__doc__ or "").strip().split("\n", 1)[0]


# What differs between two mappings, field by field.


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], *, whole_components: bool = False, prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """Fields that differ, as (dotted path, old value, new value); None where a field is not there.

    With `whole_components` two components of different `type` differ as a whole, not in each of their settings.
    """
    found: list[tuple[str, Any, Any]] = []
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if (
            isinstance(before, Mapping)
            and isinstance(after, Mapping)
            and not (whole_components and before.get("type") != after.get("type"))
        ):
            found += differences(before, after, whole_components=whole_components, prefix=f"{prefix}{key}.")
        elif before != after:
            found.append((f"{prefix}{key}", before, after))
    return found
