"""The one way that YAML (and JSON, which is YAML) is read: a key that is there twice is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from turngate.errors import ConfigError

__all__ = ["parse_yaml", "read_yaml"]


def parse_yaml(text: str | bytes, source: str, *, only_text: bool = False) -> Any:
    """What `text` says, by YAML 1.1; raises `ConfigError` in one line that begins with `source` and names the line.

    With `only_text` every value is a string: `no` stays a word. YAML itself lets the last of two equal keys win without
    a word, so that half of a configuration can be lost; here such a key is named with both of its lines.
    """
    loader = _Texts if only_text else _Values
    try:
        return yaml.load(text, loader)  # noqa: S506 - both classes build plain values only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", "not valid YAML")
        if isinstance(error, _TwiceError):
            raise ConfigError(f"{source}{where}: {problem}") from None
        raise ConfigError(f"{source}{where}: not valid YAML: {problem}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{source}: not a text in UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{source}: nested too deeply") from None
    except ValueError as error:  # a date that no calendar has
        raise ConfigError(f"{source}: not valid YAML: {error}") from None


def read_yaml(path: Path, **how: Any) -> Any:
    """What the file says, see `parse_yaml`; raises `ConfigError` also when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or a NUL in the path
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    return parse_yaml(text, str(path), **how)


class _TwiceError(yaml.MarkedYAMLError):
    """A mapping has a key twice."""


class _UniqueKeys(yaml.composer.Composer):
    """Looks at keys before anchors and merges are resolved: what `<<` brings in may be replaced."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            value = key.value if key.tag in _NO_VALUES else self.construct_object(key)  # type: ignore[attr-defined]
            if value in lines:
                here, line = key.start_mark.line, lines[value]
                first = "in this line already" if line == here else f"first in line {line + 1}"
                problem = f"the key {key.value!r} is there twice, {first}: keep one"
                raise _TwiceError(problem=problem, problem_mark=key.start_mark)
            lines[value] = key.start_mark.line
        return node


_NO_VALUES = ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value")
"""Tags of keys that no constructor knows: `<<` and `=`."""


class _Values(_UniqueKeys, yaml.SafeLoader):
    """Plain values."""


class _Texts(_UniqueKeys, yaml.BaseLoader):
    """Texts only."""
