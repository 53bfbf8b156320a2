"""The data file of a language: its phrases by what they do. Described field by field; `lexicons/en.yaml` is one."""

from __future__ import annotations

from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from turngate.agent.reasoning._phrases import Phrases
from turngate.errors import ConfigError
from turngate.registry import explain, nearest

__all__ = ["Counting", "Forms", "Lexicon", "read_lexicon"]

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=200, to_lower=True, strip_whitespace=True)]
Group = list[Phrase]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Forms(_Part):
    """A verb by how far its action has come."""

    done: Group
    """It happened: `removed`."""
    base: Group = []
    """Its plain form, which is an order, a plan or, after `did`, something done: `remove`."""
    ongoing: Group = []
    """`removing`: done beside another action, not yet done in a heading or a plan."""


class Counting(_Part):
    """How objects are counted."""

    numbers: dict[Phrase, int]
    """One word each; `twenty` and `one` in a row are added."""
    hundred: Group = []
    """Multiplies the number before it by 100."""
    ordinals: dict[Phrase, int]
    """`fourth`: a number of objects after `a_fourth`."""
    a_fourth: Group
    """Words before an ordinal that make it a count: `a`, `is the`."""
    one: Group
    """Articles that count as one after something was added: `a`, `an`, `the`."""
    more: Group
    """Words by a number or noun that say that it was added: `more`, `another`, `new`."""
    joined: Group
    """Words between two things that were added together: `and`."""
    added: Group
    """Something was added, before it: `added`, `placed`."""
    was_added: Group
    """The same after it: `was added`."""
    total: Group
    """Words right before a number that make it a total whatever was added: `total of`, `total to`."""
    not_objects: Group
    """Nouns whose number is no count of objects in the image: `images`, `pixels`, `steps`."""
    stop: Group
    """Words that end the noun after a number, beside marks and every word of `finite`."""
    before_noun: Group
    """Words between number and noun that look like its plural: `colours` of nothing; adjectives on `s`."""
    plurals: dict[Phrase, Phrase] = {}
    """Irregular plurals and their singular."""
    plural_endings: dict[Phrase, str] = {}
    """Ending -> ending of the singular, longest first."""
    again: Group = []
    """Words that stand for the noun counted before: `ones`."""


class Lexicon(_Part):
    """Phrases are written as `turngate.agent.reasoning._phrases` says: `a|b`, `word*`, `word?`, `_`."""

    language: Phrase
    """Name of the language, in English."""
    common: Group
    """Words by which the language is known: its most frequent ones that neighbouring languages do not share."""
    contractions: dict[str, str]
    """What is written out before anything is looked up; also endings, which begin with an apostrophe."""
    abbreviations: Group = []
    """With their full stop, which ends no sentence."""

    damage: dict[Phrase, Group]
    """Kind -> words for damage, nouns and adjectives alike."""
    clean: Group
    """The image is said to be without damage."""
    faithful: Group
    """The result is said to be right."""
    sharp: Group
    """The same of its detail: denied, it is a loss of detail."""
    change: Group
    """Words for difference: denied, the result is said to be right."""
    keep: Group
    """`preserved`, `kept`: with `content` the result is right, with damage the damage is there."""
    content: Group
    """What can be kept: `detail`, `everything`."""
    copying: Group
    """`reproduced`: with `exactly` the result is right."""
    exactly: Group
    hedges: Group
    """Limits certainty."""

    remove: Forms
    """What takes damage away when it is named."""
    repair: Forms
    """What takes damage away without naming it: `denoised`."""
    cleanse: Forms
    """Both: `cleaned`."""
    without: Group
    """Denies the nouns after it, up to the next verb once there was one: `no`, `without`."""
    negation: Group
    """Denies the rest of its clause: `not`, `failed to`."""
    hardly: Group
    """As `without`, with a doubt."""
    gone: Group
    """Denies what is before it in its clause: `is gone`, `not visible`."""
    hardly_gone: Group
    """The same with a doubt."""

    asked: Group
    """From here on somebody's request is told."""
    asked_before: Group
    """What is before it in its clause was only asked for: `was requested`."""
    intent: Group
    """From here on it is a plan or a rule: `will`, `must`, `to avoid`."""
    possible: Group
    """From here to the comma it is only possible: `if`."""
    any_word: Group
    """The few words after it are only possible unless they are denied: `any`."""
    check: Group
    """What follows is looked for."""
    found_none: Group
    """What was looked for is not there."""
    found_some: Group
    """It is there."""
    did: Group
    """The plain verb after it was done: `managed to`."""
    exception: Group
    """Without damage of its own, its clause limits a removal before it: `but not`."""
    existing: Group
    """Says of damage that it is there, also in a plan: `existing`."""
    pronouns: Group
    """Stand for damage that was named before."""
    passive: Group
    """Before a verb: what is before them is its object."""
    imperatives: Group
    """At the beginning of a sentence they are orders."""
    heading_endings: Group
    """A sentence without a verb whose first word ends so is a heading: `Removing the noise`."""
    ignored: Group
    """Phrases that are not what their words look like: `wood grain`, `not only`."""

    contrast: Group
    """Begin a clause, and end requests, plans and possibilities."""
    joining: Group
    """Begin a clause, and end those if a subject of its own follows."""
    relative: Group
    """Begin a clause, and end nothing."""
    linking: Group
    """Join words; begin a clause before a subject or a verb."""
    alternative: Group
    """Join words; never begin a clause."""
    subjects: Group
    """Pronouns that begin a clause after `linking`."""
    own: Group
    """Subjects that end requests, plans and possibilities: `i`, `the result`."""
    finite: Group
    """Finite verb forms, also of words that are elsewhere here."""

    counting: Counting

    @cached_property
    def phrases(self) -> Phrases:
        """Everything but hedges and numbers, by field; damage and forms as `damage.noise`, `remove.done`."""
        groups: dict[str, Group] = {}
        for name in _LOOKED_UP:
            value = getattr(self, name)
            if isinstance(value, Forms):
                groups |= {f"{name}.{form}": getattr(value, form) for form in Forms.model_fields}
            elif isinstance(value, dict):
                groups |= {f"{name}.{kind}": words for kind, words in value.items()}
            else:
                groups[name] = value
        return Phrases(groups)

    @cached_property
    def hedging(self) -> Phrases:
        """Hedges are looked up by themselves: `appears clean` is one, and a denial."""
        return Phrases({"hedges": self.hedges})

    @cached_property
    def owners(self) -> Phrases:
        """Subjects are looked up where a clause begins."""
        return Phrases({"own": self.own})


_LOOKED_UP = (
    "damage", "clean", "faithful", "sharp", "change", "keep", "content", "copying", "exactly", "remove", "repair",
    "cleanse", "without", "negation", "hardly", "gone", "hardly_gone", "asked", "asked_before", "intent", "possible", "any_word",
    "check", "found_none", "found_some", "did", "exception", "existing", "pronouns", "ignored", "contrast", "joining",
    "relative",
)  # fmt: skip


@cache
def read_lexicon(name: str) -> Lexicon:
    """A built-in lexicon by the code of its language, or one from a YAML file; raises `ConfigError`."""
    built_in = resources.files("turngate.agent.reasoning").joinpath("lexicons")
    codes = sorted(file.name.removesuffix(".yaml") for file in built_in.iterdir() if file.name.endswith(".yaml"))
    where = built_in.joinpath(f"{name}.yaml") if name in codes else Path(name)
    try:
        raw = yaml.safe_load(where.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"lexicon: no language and no file is called {name!r}{nearest(name, codes)}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"lexicon: cannot read {name}: {' '.join(str(error).split())[:200]}") from None
    try:
        lexicon = Lexicon.model_validate(raw)
        assert lexicon.phrases and lexicon.hedging and lexicon.owners
    except ValidationError as error:
        raise ConfigError(explain(error, Lexicon, f"lexicon {name}")) from None
    except ValueError as error:
        raise ConfigError(f"lexicon {name}: {error}") from None
    return lexicon
