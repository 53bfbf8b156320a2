"""Which evaluators score, as named on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from turngate.errors import ConfigError, TurngateError, UserError
from turngate.evaluators import EVALUATORS, EvaluatorInput
from turngate.evaluators.bulk import NamedEvaluator
from turngate.evaluators.suites import expanded
from turngate.yaml_text import parse_yaml

__all__ = ["Choice", "choose", "evaluator_configs"]

_HOW = "name evaluators, suites (`suite:classic`), or settings (`{type: psnr, align: crop}`); named: `mine=psnr`"


_NAME = re.compile(r"[^\s,={}][^,={}]{0,63}")


@dataclass(frozen=True)
class Choice:
    """Evaluators that can score."""

    evaluators: tuple[NamedEvaluator, ...]
    left_out: dict[str, str]
    """Name -> why it cannot, where that was allowed."""


def evaluator_configs(words: Iterable[str]) -> dict[str, Any]:
    """Name -> configuration from words: `brisque`, `mine=psnr`, `suite:classic`, `{type: ...}`, `mine={type: ...}`.

    Raises `ConfigError` for a word that is none of these, and for two evaluators of one name.
    """
    found: dict[str, Any] = {}
    for word in words:
        for name, raw in _read(word):
            if found.setdefault(name, raw) != raw:
                raise ConfigError(f"--with: two evaluators are called {name}: name one, as in other=psnr")
    if not found:
        raise UserError(f"--with: {_HOW}")
    return found


def choose(words: Sequence[str], offers: frozenset[EvaluatorInput], skip_missing: bool) -> Choice:
    """Build the evaluators; `offers` is what images can be compared with.

    Raises what building raises, and `ConfigError` for one that needs more than `offers`; with `skip_missing` those are
    left out, and it is an error only when none is left.
    """
    built: list[NamedEvaluator] = []
    left_out: dict[str, str] = {}
    for name, raw in evaluator_configs(words).items():
        try:
            config = EVALUATORS.configure(raw, f"--with {name}")
            evaluator = NamedEvaluator(name, config, EVALUATORS.build(config))
            _check(evaluator, offers)
        except TurngateError as error:
            if not skip_missing:
                raise
            left_out[name] = str(error)
        else:
            built.append(evaluator)
    if not built:
        raise UserError(f"none of these evaluators can score here: {'; '.join(left_out.values())}")
    return Choice(tuple(built), left_out)


def _read(word: str) -> list[tuple[str, Any]]:
    named, equals, rest = word.partition("=")
    if word.lstrip().startswith("{"):
        settings = _settings(word, word)
        return [(settings["type"], settings)]
    if equals and rest.lstrip().startswith("{"):
        return [(_own_name(named, word), _settings(rest, word))]
    found: list[tuple[str, Any]] = []
    for part in filter(None, map(str.strip, word.split(","))):
        name, equals, type_ = map(str.strip, part.partition("="))
        types: list[str] = expanded([type_ if equals else name])
        if equals and (not type_ or len(types) != 1 or types != [type_]):
            raise ConfigError(f"--with {word}: a name of its own is for one evaluator, as in mine=psnr")
        found += [(_own_name(name, word) if equals else one, {"type": one}) for one in types]
    return found


def _settings(text: str, word: str) -> dict[str, Any]:
    settings = parse_yaml(text, f"--with {word}")
    if not isinstance(settings, dict) or not isinstance(settings.get("type"), str):
        raise ConfigError(f"--with {word}: {_HOW}")
    return settings


def _own_name(text: str, word: str) -> str:
    name = text.strip()
    if not _NAME.fullmatch(name):
        raise ConfigError(f"--with {word}: {name!r} is no name: up to 64 characters, no comma, '=' or brace")
    return name


def _check(named: NamedEvaluator, offers: frozenset[EvaluatorInput]) -> None:
    missing = sorted(named.facts.inputs - offers)
    if not missing:
        return
    if "history" in missing:
        how = "a run has that, or a manifest with the columns chain and turn, or a column history"
    elif missing == ["origin"]:
        how = "give --origin FILE, or a manifest with a column origin"
    else:
        how = f"give a manifest with a column {' and one '.join(missing)}"
    raise ConfigError(
        f"{named.name} needs the {' and the '.join(missing)}: {how}; --skip-missing leaves out what cannot score"
    )
