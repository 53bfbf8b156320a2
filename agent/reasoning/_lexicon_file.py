"""Where a lexicon is read from."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import ValidationError

from turngate.agent.reasoning.lexicon.data import Lexicon
from turngate.errors import ConfigError
from turngate.registry import explain, nearest

__all__ = ["read_lexicon"]


@cache
def read_lexicon(name: str) -> Lexicon:
    """A built-in lexicon by the code of its language, or one from a YAML file; raises `ConfigError`."""
    built_in = resources.files("turngate.agent.reasoning.lexicon").joinpath("lexicons")
    codes = sorted(file.name.removesuffix(".yaml") for file in built_in.iterdir() if file.name.endswith(".yaml"))
    where = built_in.joinpath(f"{name}.yaml") if name in codes else Path(name)
    try:
        # Everything is a string: a safe loader would make False of the word `no`.
        raw = yaml.BaseLoader(where.read_text(encoding="utf-8")).get_single_data()
    except FileNotFoundError:
        raise ConfigError(f"lexicon: no language and no file is called {name!r}{nearest(name, codes)}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"lexicon: cannot read {name}: {' '.join(str(error).split())[:200]}") from None
    try:
        lexicon = Lexicon.model_validate(raw)
        assert lexicon.phrases and lexicon.hedging and lexicon.owners and lexicon.counting.phrases
    except ValidationError as error:
        raise ConfigError(explain(error, Lexicon, f"lexicon {name}")) from None
    except ValueError as error:
        raise ConfigError(f"lexicon {name}: {error}") from None
    return lexicon
