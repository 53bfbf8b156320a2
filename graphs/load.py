"""From a YAML file (or run.json) and `--set` overrides to a checked configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.reasoning import READERS
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import ConfigError, NotReady, UnknownComponent
from turngate.evaluators import EVALUATORS
from turngate.graphs.config import RunConfig, component_configs
from turngate.registry import Registry, explain, is_from, look_beside
from turngate.yaml_text import parse_yaml, read_yaml

__all__ = ["apply_overrides", "merge", "parse_config", "read_config", "read_mapping", "with_absolute_paths"]


def read_config(path: str | Path, overrides: Sequence[str] = ()) -> RunConfig:
    """Read and check a configuration; raises `ConfigError` that names the file, the field and the nearest name."""
    path = Path(path)
    raw = read_mapping(path)
    if "config" in raw and "schema_version" in raw:  # a run.json: its configuration is complete
        raw = raw["config"]
    look_beside(path.parent.resolve())
    raw = with_absolute_paths(raw, path.parent)
    raw = with_absolute_paths(apply_overrides(raw, overrides), Path.cwd())
    return parse_config(raw, str(path), path.parent)


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML or JSON file that holds a mapping; raises `ConfigError` with file and line."""
    if not path.exists():
        raise ConfigError(f"no configuration at {path}: check the path, or write one with `turngate new`")
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a configuration is a mapping of fields, see `turngate new`")
    return raw


def parse_config(raw: Mapping[str, Any], source: str, beside: Path | None = None) -> RunConfig:
    """Check a raw mapping; `source`, where it is not empty, begins every error, or every line of a `NotReady`.

    Modules of dotted paths are also looked for in the folder `modules` of the configuration, or else in `beside`.
    """
    given = raw.get("modules")
    folder = Path(given) if isinstance(given, str) else beside
    if folder is not None:
        look_beside(folder.resolve())
    try:
        config = RunConfig.model_validate(dict(raw))
        if given is None and folder and any(is_from(one.type, folder) for one in component_configs(config)):
            return config.model_copy(update={"modules": str(folder.resolve())})
        return config
    except (ValidationError, ConfigError) as error:
        faults = list(_component_faults(raw))
        if len(faults) > 1:
            raise NotReady([_prefixed(source, str(fault)) for fault in faults]) from None
        if isinstance(error, ConfigError):
            raise type(error)(_prefixed(source, str(error))) from None
        raise ConfigError(_prefixed(source, explain(error, RunConfig))) from None


def _prefixed(source: str, message: str) -> str:
    return f"{source}: {message}" if source else message


def _component_faults(raw: Mapping[str, Any]) -> Iterator[ConfigError]:
    """What is wrong with the components of a configuration, each looked at by itself."""
    placed: list[tuple[str, Registry[Any], Any]] = [
        (name, _REGISTRIES[name], raw[name]) for name in ("editor", "gate", "scenario", "reader") if raw.get(name)
    ]
    evaluators = raw.get("evaluators")
    if isinstance(evaluators, Mapping):
        placed += [(f"evaluators.{name}", EVALUATORS, item) for name, item in evaluators.items()]
    elif isinstance(evaluators, list):
        named = [item for item in evaluators if isinstance(item, Mapping) and isinstance(item.get("type"), str)]
        placed += [(f"evaluators.{item['type']}", EVALUATORS, item) for item in named]
    for where, registry, item in placed:
        try:
            registry.configure(item, where)
        except ConfigError as error:
            yield error


def apply_overrides(raw: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Apply `a.b=value` overrides (values are YAML); raises `ConfigError` for a malformed one."""
    result: dict[str, Any] = _copy(raw)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {override}: write it as field=value, for instance --set turns=10")
        value = parse_yaml(text, f"--set {override}")
        target = result
        *path, last = key.strip().split(".")
        for step in path:
            inner = target.get(step)
            if isinstance(inner, str):  # `gate: always_accept` written short
                inner = {"image" if step == "origin" else "type": inner}
            if isinstance(inner, list):
                inner = {item if isinstance(item, str) else str(item.get("type")): item for item in inner}
            target[step] = inner if isinstance(inner, dict) else {}
            target = target[step]
        target[last] = merge(target.get(last), value)
    return result


def merge(base: Any, change: Any) -> Any:
    """`base` with the mapping `change` laid over it, field by field; a component with a `type` replaces the old one."""
    if not isinstance(base, Mapping) or not isinstance(change, Mapping) or "type" in change:
        return change
    return {**base, **{key: merge(base.get(key), value) for key, value in change.items()}}


def with_absolute_paths(raw: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """`raw` with paths made absolute, relative to `base`.

    They are the origin's, `modules`, and the fields that a component lists as `paths`. To know those of a component
    that is named by a dotted path its module is imported, so it is looked for in `modules` from here on.
    """
    result = dict(raw)
    origin = result.get("origin")
    image = origin.get("image") if isinstance(origin, Mapping) else origin
    if isinstance(image, str) and not image.startswith("skimage:") and not Path(image).is_absolute():
        absolute = _absolute(base, image)
        result["origin"] = {**origin, "image": absolute} if isinstance(origin, Mapping) else {"image": absolute}
    if isinstance(result.get("modules"), str):
        result["modules"] = _absolute(base, result["modules"])
        look_beside(Path(result["modules"]))
    for field, registry in _REGISTRIES.items():
        if field in result:
            result[field] = _with_absolute(result[field], registry, base)
    return result


_REGISTRIES: dict[str, Registry[Any]] = {
    "editor": EDITORS, "evaluators": EVALUATORS, "gate": GATES, "reader": READERS, "scenario": SCENARIOS,
    "truth": EVALUATORS, "more_truths": EVALUATORS,
}  # fmt: skip


def _with_absolute(value: Any, registry: Registry[Any], base: Path) -> Any:
    """A component with absolute paths, or all in a list or mapping (evaluators by name, members of an ensemble)."""
    if isinstance(value, list):
        return [_with_absolute(item, registry, base) for item in value]
    if not isinstance(value, Mapping):
        return value
    paths = _paths(value["type"], registry) if "type" in value else ()
    return {
        key: _absolute(base, item)
        if key in paths and isinstance(item, str | Path)
        else _with_absolute(item, registry, base)
        for key, item in value.items()
    }


def _absolute(base: Path, path: str | Path) -> str:
    try:
        return str((base / path).resolve())
    except (ValueError, OSError, RuntimeError):  # a NUL, a loop of links: reading the file reports it
        return str(path)


def _paths(kind: Any, registry: Registry[Any]) -> tuple[str, ...]:
    try:
        return getattr(registry.find(str(kind)).Config, "paths", ())
    except UnknownComponent:  # checking the configuration reports it
        return ()


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
