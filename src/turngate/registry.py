"""Finds components by registry name, entry point or dotted path, without importing the others."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, cast, get_args

from pydantic import ValidationError
from typing_extensions import get_protocol_members

from turngate.component import ComponentClass, ComponentConfig, ObjectConfig, missing_modules
from turngate.errors import ConfigError, InternalError, MissingExtra, UnknownComponent, one_line

__all__ = ["Registry", "explain", "is_from", "look_beside", "nearest"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Components of one kind. `T` is the kind's Protocol."""

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, str],
        former: Mapping[str, str] | None = None,
        *,
        protocol: type[Any],
    ) -> None:
        """`builtin` maps a name to `module:Class`; a name that ends in `:` is a family (`pyiqa:musiq`).

        `former` maps a name of an earlier version to today's: old configurations and run folders stay readable.
        `protocol` is what an object must have that a program gives instead of a name.
        """
        self.kind = kind
        self.protocol = protocol
        self.group = group
        self.builtin = dict(builtin)
        self.former = dict(former or {})

    def names(self) -> list[str]:
        """Built-in and plug-in names, sorted; a family shows as `pyiqa:<name>`."""
        shown = [name + "<name>" if name.endswith(":") else name for name in self.builtin]
        return sorted({*shown, *(point.name for point in entry_points(group=self.group))})

    def find(self, type_: str) -> type[ComponentClass]:
        """Class of the component called `type_`; raises `UnknownComponent` with the nearest name."""
        type_ = self.former.get(type_, type_)
        family = type_.partition(":")[0] + ":"
        target = self.builtin.get(type_) or self.builtin.get(family)
        if target is None:
            points = entry_points(group=self.group, name=type_)
            if points:
                target = next(iter(points)).value
            elif "." in type_ or ":" in type_:
                target = type_
            else:
                raise UnknownComponent(f"no {self.kind} is called {type_!r}{nearest(type_, self.names())}")
        return self._load(target, type_)

    def configure(self, raw: Any, where: str) -> ComponentConfig:
        """Check the mapping `raw` (or a bare name) against the configuration class of the component it names.

        `raw` may also be a configuration that was checked before, or the component itself, made by a program. A name
        of an earlier version becomes today's. Raises `ConfigError` that starts with `where` (a field path) and names
        the nearest right field.
        """
        if isinstance(raw, ComponentConfig):
            return raw
        if isinstance(raw, str):
            raw = {"type": raw}
        if not isinstance(raw, Mapping | type) and isinstance(raw, self.protocol):
            return self._named(raw) or ObjectConfig.of(raw)
        if not isinstance(raw, Mapping) or not isinstance(raw.get("type"), str):
            raise ConfigError(f"{where}: {self._no_name(raw)}")
        if raw["type"].startswith(ObjectConfig.PREFIX):
            return ObjectConfig.model_validate(raw)
        raw = {**raw, "type": self.former.get(raw["type"], raw["type"])}
        try:
            component = self.find(raw["type"])
        except UnknownComponent as error:
            raise UnknownComponent(f"{where}.type: {error}") from None
        try:
            return component.Config.model_validate(raw)
        except ValidationError as error:
            raise ConfigError(explain(error, component.Config, where)) from None
        except ConfigError as error:  # of a component inside this one
            raise type(error)(f"{where}.{error}") from None

    def _named(self, given: object) -> ComponentConfig | None:
        """The configuration of an object that can be made again from it, as the registry makes it; else None."""
        config = getattr(given, "config", None)
        if not isinstance(config, ComponentConfig):
            return None
        try:
            return config if self.find(config.type) is type(given) else None
        except UnknownComponent:
            return None

    def _no_name(self, raw: Any) -> str:
        if isinstance(raw, Mapping | list | int | float | bool | None):
            return f"name a {self.kind}, for instance `type: {self.names()[0]}`"
        if isinstance(raw, type):
            return f"{raw.__name__} is a class: give an object of it, or its name `{raw.__module__}:{raw.__qualname__}`"
        needs = (name for name in get_protocol_members(self.protocol) if not hasattr(raw, name))
        return f"an object of {type(raw).__name__} is no {self.kind}: it lacks {', '.join(sorted(needs))}"

    def build(self, config: ComponentConfig) -> T:
        """Make the component, or take the object that a program gave.

        Raises `MissingExtra` when it needs packages that are not installed, `ConfigError` when it was an object of a
        program that is not this one.
        """
        if isinstance(config, ObjectConfig):
            if config.given is None:
                path = config.type.removeprefix(ObjectConfig.PREFIX)
                raise ConfigError(
                    f"the {self.kind} of this run was an object of a program, {path}: only a program that gives it "
                    "again can go on with the run (`turngate.open_run`, `start_run`)"
                )
            return cast(T, config.given)
        component = self.find(config.type)
        missing = missing_modules(component)
        if missing:
            extras = sorted({extra for extra in missing.values() if extra})
            how = (
                f"pip install 'turngate[{','.join(extras)}]'" if extras else f"pip install {' '.join(sorted(missing))}"
            )
            raise MissingExtra(f"{self.kind} {config.type!r} needs {', '.join(sorted(missing))}: {how}")
        return cast(T, component(config))

    def outline(self, config: ComponentConfig) -> Any:
        """What a run is checked by: the component, or in place of one that loads weights its `outline`.

        Raises as `build` does, but for what only loading the weights can tell.
        """
        if isinstance(config, ObjectConfig):
            return self.build(config)
        component: Any = self.find(config.type)
        if not hasattr(component, "outline") or missing_modules(component):
            return self.build(config)
        return component.outline(config)

    def _load(self, target: str, type_: str) -> type[ComponentClass]:
        module, colon, attribute = target.partition(":")
        if not colon:
            module, _, attribute = target.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except Exception as error:  # the module is the user's own, and may be broken in any way
            if type_ in self.builtin:
                raise InternalError(f"built-in {self.kind} {type_!r} does not load: {error}") from error
            what = one_line(error) if isinstance(error, ImportError) else one_line(f"{type(error).__name__}: {error}")
            raise UnknownComponent(
                f"{self.kind} {type_!r} cannot be imported: {what}; it was looked for among the installed packages, in "
                "PYTHONPATH and beside the configuration file"
            ) from None
        if not (isinstance(found, type) and hasattr(found, "Config") and hasattr(found, "requires")):
            raise UnknownComponent(
                f"{self.kind} {type_!r} is not a component: it needs `Config` and `requires` class attributes"
            )
        return cast("type[ComponentClass]", found)


# Components of the user's own, in files beside the configuration.


def look_beside(folder: Path) -> None:
    """Look for modules of dotted paths in `folder` too, after all other places: it hides no installed package.

    Holds for the whole process, and for those that it starts.
    """
    place = str(folder)
    if place not in sys.path and folder.is_dir():
        sys.path.append(place)


def is_from(type_: str, folder: Path) -> bool:
    """Whether the dotted path `type_` names a component in a file of `folder`, or deeper, that was imported."""
    name = type_.partition(":")[0] if ":" in type_ else type_.rpartition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(folder.resolve())


def nearest(name: str, names: list[str]) -> str:
    """`; did you mean 'x'?`, or `; there are: ...` when nothing is near."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(names)}"


def explain(error: ValidationError, model: type[Any], where: str = "") -> str:
    """First problem of a pydantic error in one line: field path, what is wrong, nearest right name."""
    problem = error.errors(include_url=False, include_context=False)[0]
    path = ".".join(str(step) for step in problem["loc"])
    field = ".".join(component for component in (where, path) if component) or "configuration"
    if problem["type"] == "extra_forbidden":
        return f"{field}: no such field{nearest(str(problem['loc'][-1]), _fields_at(model, problem['loc'][:-1]))}"
    if problem["type"] == "missing":
        return f"{field}: is missing"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{field}: {message[:1].lower()}{message[1:]}, not {problem['input']!r}"[:400]


def _fields_at(model: Any, path: tuple[int | str, ...]) -> list[str]:
    for step in path:
        field = getattr(model, "model_fields", {}).get(step)
        if field is not None:  # otherwise an index or a key: the model inside the container is found already
            model = _model_in(field.annotation)
    return sorted(getattr(model, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    if hasattr(annotation, "model_fields"):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner)) is not None), None)
