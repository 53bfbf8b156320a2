"""API keys come from the environment and stay there."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import StringConstraints

from turngate.errors import MissingKey

__all__ = ["KeyName", "missing_key", "read_key"]

KeyName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]*(KEY|TOKEN|SECRET)[A-Za-z0-9_]*$")]
"""Name of an environment variable that holds a key. What a variable of such a name holds is redacted everywhere."""


def read_key(names: tuple[str, ...], wanted_by: str, optional: bool = False) -> str:
    """The first of the variables that is set; raises `MissingKey` when none is.

    With `optional` (a server of one's own) a missing key is the word `none`: client libraries insist on one.
    """
    found = next((os.environ[name].strip() for name in names if os.environ.get(name, "").strip()), None)
    if found:
        return found
    if optional:
        return "none"
    raise MissingKey(f"{wanted_by} needs an API key: export {names[0]}=...")


def missing_key(names: tuple[str, ...]) -> str | None:
    """What to do when none of the variables is set, in one line, or None."""
    return None if any(os.environ.get(name, "").strip() for name in names) else f"export {names[0]}=..."
