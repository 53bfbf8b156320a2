"""Which recorded chain runs on which origin of a grid: a chain fits only the picture that it was recorded from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError, UserError
from turngate.graphs.config import OriginConfig, RunConfig
from turngate.graphs.origin import load_origin
from turngate.picture import Picture
from turngate.registry import nearest

__all__ = ["PER_ORIGIN", "RecordedChains", "editor_for"]

PER_ORIGIN = "per_origin"
"""Field of an editor in a study: name of an origin -> fields of the editor on that origin."""


def editor_for(raw: Any, origin: str, origins: Sequence[str], where: str) -> Any:
    """The editor `raw` on the origin of that name: its own fields with those of `per_origin` laid over them.

    None where `per_origin` lists other origins only. Raises `ConfigError` that starts with `where` (a field path) for
    names that are no origin of the study.
    """
    if not isinstance(raw, Mapping) or PER_ORIGIN not in raw:
        return raw
    listed = raw[PER_ORIGIN]
    if not isinstance(listed, Mapping) or not all(isinstance(fields, Mapping) for fields in listed.values()):
        raise ConfigError(f"{where}.{PER_ORIGIN}: name origins with their fields, for instance a: {{source: chains/a}}")
    for name in listed:
        if name not in origins:
            hint = nearest(str(name), list(origins)) if origins else ": give the study `origins`"
            raise ConfigError(f"{where}.{PER_ORIGIN}.{name}: no origin is called {name!r}{hint}")
    if origin not in listed:
        return None
    return {**{key: value for key, value in raw.items() if key != PER_ORIGIN}, **listed[origin]}


class RecordedChains:
    """The chains of a study's editors, each read once, and the origins that they are held against."""

    def __init__(self) -> None:
        self._editors: dict[str, Any] = {}
        self._misfits: dict[tuple[str, str], str | None] = {}
        self._latest: tuple[str, Picture] | None = None

    def misfit(self, config: RunConfig, where: str) -> str | None:
        """Why the editor of `config` was not recorded from its origin; None where it was, or is no recorded chain.

        Raises `UserError` that starts with `where` when the chain or the origin cannot be read.
        """
        try:
            editor = self._editor(config)
            return None if editor is None else self._checked(editor, config)
        except UserError as error:
            raise type(error)(f"{where}: {error}") from None

    def knows_origin(self, config: RunConfig) -> bool:
        """The editor is no recorded chain, or one whose record holds the picture before turn 1."""
        editor = self._editor(config)
        return editor is None or bool(editor.knows_origin)

    def _editor(self, config: RunConfig) -> Any:
        """The editor of `config`; None where it is none that serves a record."""
        if not hasattr(EDITORS.find(config.editor.type), "misfit"):
            return None
        key = config.editor.model_dump_json()
        if key not in self._editors:
            self._editors[key] = EDITORS.build(config.editor)
        return self._editors[key]

    def _checked(self, editor: Any, config: RunConfig) -> str | None:
        key = config.editor.model_dump_json(), config.origin.model_dump_json()
        if key not in self._misfits:
            self._misfits[key] = editor.misfit(self._picture(config.origin))
        return self._misfits[key]

    def _picture(self, origin: OriginConfig) -> Picture:
        """The decoded origin. Only the latest one is kept: the grid goes through origins one by one."""
        key = origin.model_dump_json()
        if self._latest is None or self._latest[0] != key:
            self._latest = key, load_origin(origin)
        return self._latest[1]
