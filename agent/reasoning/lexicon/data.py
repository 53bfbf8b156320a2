"""The data file of a language: its phrases by what they do, and how it is read. `lexicons/en.yaml` is one."""

from __future__ import annotations

from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from turngate.agent.reasoning.lexicon.text import Phrases
from turngate.errors import ConfigError, one_line
from turngate.frozen import StrictModel
from turngate.registry import explain, nearest
from turngate.yaml_text import parse_yaml

__all__ = ["Counting", "Group", "Lexicon", "read_lexicon"]


# The parts of a lexicon that have fields of their own.

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=1000, to_lower=True, strip_whitespace=True)]
Group = tuple[Phrase, ...]


class LexiconSection(StrictModel):
    """Unknown fields are errors."""


class Forms(LexiconSection):
    """A verb by how far its action has come."""

    done: Group = ()
    """It happened: `removed`."""
    base: Group = ()
    """Its plain form, which is an order, a plan or, after `did`, something done: `remove`."""
    ongoing: Group = ()
    """`removing`: done beside another action, not yet done in a heading or a plan."""


class Counting(LexiconSection):
    """How numbers of objects are stated. A noun is the first plural after a number, after `one` the last word of its
    group."""

    numbers: dict[Phrase, int] = {}
    """One word each; `twenty` and `one` in a row are added, `two` and `hundred` multiplied. Digits are known."""
    ordinals: dict[Phrase, int] = {}
    """`fourth`: as many objects, after `a_fourth`."""
    a_fourth: Group = ()
    """Phrases before an ordinal that make it a number of objects: `a`, `is the`."""
    articles: Group = ()
    """Count as one of what was added: `a`, `the`."""
    more: Group = ()
    """Words by a number or a noun that say that it was added: `more`, `new`."""
    added: Group = ()
    """Phrases before what was added: `added`."""
    was_added: Group = ()
    """Phrases after it: `was added`."""
    joined: Group = ()
    """Words between two things that were added together: `and`."""
    total: Group = ()
    """Phrases before a number of all objects, of which the noun may be missing: `total to`."""
    fewer: Group = ()
    """Words after a noun that make its number a difference: `one apple fewer`."""
    again: Group = ()
    """Words that stand for the noun that was counted before: `ones`."""
    not_objects: Group = ()
    """Nouns, in the singular, that are not things in an image: `pixel`, `step`, `version`."""
    stop: Group = ()
    """Words after which a group of words is over; marks, numbers and the words of `finite` are others."""
    stop_endings: Group = ()
    """The same by their ending."""
    plurals: dict[Phrase, Phrase] = {}
    """Irregular plurals with their singular."""
    plural_endings: dict[Phrase, str] = {}
    """Ending of a plural -> ending of its singular; the first that fits."""
    not_plural: Group = ()
    """Endings of words that only look like plurals."""

    @cached_property
    def phrases(self) -> dict[str, Phrases]:
        """Each field of phrases, to be looked up by itself."""
        names = ("a_fourth", "added", "was_added", "total")
        return {name: Phrases({name: getattr(self, name)}) for name in names}


_LOOKED_UP = (
    "damage", "clean", "faithful", "sharp", "change", "preserve", "keep", "content", "copying", "exactly",
    "remove", "repair", "cleanse", "without", "nor", "negation", "gone", "asked", "asked_before", "intent",
    "possible", "any_word", "check", "found_none", "found_some", "did", "exception", "remains", "existing",
    "ignored", "contrast", "joining", "relative",
)  # fmt: skip
"""Fields whose phrases are looked up together."""


class Lexicon(LexiconSection):
    """Phrases are written as `turngate.agent.reasoning.lexicon.text` says: `a|b`, `word*`, `(word)`, `_`.

    Fields that are left out are empty: what they would find is not found."""

    language: str
    """Name of the language, in English."""
    common: Group
    """Words by which the language is known: its most frequent ones that neighbouring languages do not share."""
    contractions: dict[str, str] = Field(default_factory=dict)
    """Words that are written out before anything is looked up: `can't`."""
    endings: dict[str, str] = Field(default_factory=dict)
    """The same for what words end with: `n't`."""
    abbreviations: Group = ()
    """With their full stop, which ends no sentence."""

    damage: dict[Phrase, Group]
    """Kind -> words for damage, nouns and adjectives alike."""
    clean: Group = ()
    """The image is said to be without damage."""
    faithful: Group = ()
    """The result is said to be right."""
    sharp: Group = ()
    """The same of its detail: denied, it is a loss of detail."""
    change: Group = ()
    """Words for difference: denied, the result is said to be right."""
    preserve: Group = ()
    """`preserved`: the result is right; with damage, the damage is there."""
    keep: Group = ()
    """`kept`: the same, but right only with `content`."""
    content: Group = ()
    """What can be kept: `detail`, `everything`."""
    copying: Group = ()
    """`reproduced`: with `exactly` the result is right."""
    exactly: Group = ()
    """`exactly`, `to the letter`."""
    hedges: Group = ()
    """Limits certainty."""
    no_hedges: Group = ()
    """Phrases that only look so: `nothing may be`."""

    remove: Forms = Forms()
    """What takes damage away when it is named."""
    repair: Forms = Forms()
    """What takes damage away without naming it: `denoised`."""
    cleanse: Forms = Forms()
    """Both: `cleaned`."""
    without: Group = ()
    """Denies the nouns after it, up to the next verb once there was one: `no`, `without`."""
    nor: Group = ()
    """Goes on with a denial, or is one: `nor`."""
    negation: Group = ()
    """Denies the rest of its clause: `not`, `failed to`."""
    gone: Group = ()
    """Denies what is before it in its clause: `is gone`, `not visible`."""

    asked: Group = ()
    """What follows reports somebody's request."""
    asked_before: Group = ()
    """What is before it in its clause was only asked for: `was requested`."""
    intent: Group = ()
    """From here on it is a plan or a rule: `will`, `must`, `to avoid`."""
    possible: Group = ()
    """From here to the comma it is only possible: `if`."""
    any_word: Group = ()
    """The few words after it are only possible unless they are denied: `any`."""
    check: Group = ()
    """What follows is looked for."""
    found_none: Group = ()
    """What was looked for is not there."""
    found_some: Group = ()
    """It is there."""
    did: Group = ()
    """The plain verb after it was done: `managed to`."""
    exception: Group = ()
    """Without damage of its own, its clause limits a removal before it: `but not`."""
    remains: Group = ()
    """What a pronoun stands for is still there."""
    existing: Group = ()
    """Says of damage that it is there, also in a plan: `existing`."""
    pronouns: Group = ()
    """Stand for damage that was named before."""
    passive: Group = ()
    """Before a verb: what is before them is its object."""
    imperatives: Group = ()
    """At the beginning of a sentence they are orders."""
    heading_endings: Group = ()
    """A sentence without a verb whose first word ends so is a heading: `Removing the noise`."""
    no_headings: Group = ()
    """First words that only end so: `nothing`."""
    ignored: Group = ()
    """Phrases that are not what their words look like: `wood grain`, `not only`."""

    contrast: Group = ()
    """Begin a clause, and end requests, plans and possibilities."""
    joining: Group = ()
    """Begin a clause, and end those if a subject of its own follows."""
    relative: Group = ()
    """Begin a clause, and end nothing."""
    linking: Group = ()
    """Join words; begin a clause before a subject or a verb."""
    alternative: Group = ()
    """Join words; never begin a clause."""
    subjects: Group = ()
    """Pronouns that begin a clause after `linking`."""
    own: Group = ()
    """Subjects that end requests, plans and possibilities: `i`, `the result`."""
    determiners: Group = ()
    """Articles and the like, with which a subject may begin."""
    finite: Group = ()
    """Finite verb forms, also of words that are elsewhere here."""

    counting: Counting = Counting()

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
        return Phrases({"hedges": self.hedges, "no_hedges": self.no_hedges})

    @cached_property
    def finite_forms(self) -> frozenset[str]:
        """`finite`, to be looked up."""
        return frozenset(self.finite)

    @cached_property
    def joiners(self) -> frozenset[str]:
        """Single words that may precede the subject of a clause."""
        groups = (self.contrast, self.joining, self.linking)
        return frozenset(word for group in groups for phrase in group for word in phrase.split("|") if " " not in word)

    @cached_property
    def owners(self) -> Phrases:
        """Subjects are looked up where a clause begins."""
        return Phrases({"own": self.own})


# Where a lexicon is read from.


@cache
def read_lexicon(name: str) -> Lexicon:
    """A built-in lexicon by the code of its language, or one from a YAML file; raises `ConfigError`."""
    built_in = resources.files("turngate.agent.reasoning.lexicon").joinpath("lexicons")
    codes = sorted(file.name.removesuffix(".yaml") for file in built_in.iterdir() if file.name.endswith(".yaml"))
    where = built_in.joinpath(f"{name}.yaml") if name in codes else Path(name)
    try:
        text = where.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"lexicon: no language and no file is called {name!r}{nearest(name, codes)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"lexicon: cannot read {name}: {one_line(error, 200)}") from None
    raw = parse_yaml(text, f"lexicon {name}", only_text=True)  # the word `no` is a word here, not False
    try:
        lexicon = Lexicon.model_validate(raw)
        assert lexicon.phrases and lexicon.hedging and lexicon.owners and lexicon.counting.phrases
    except ValidationError as error:
        raise ConfigError(explain(error, Lexicon, f"lexicon {name}")) from None
    except ValueError as error:
        raise ConfigError(f"lexicon {name}: {error}") from None
    return lexicon
