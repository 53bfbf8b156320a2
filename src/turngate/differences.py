"""What differs between two mappings, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["differences"]


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
