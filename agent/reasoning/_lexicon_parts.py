"""The parts of a lexicon that have fields of their own."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from turngate.agent.reasoning._phrases import Phrases

__all__ = ["Counting", "Forms", "Group", "LexiconPart", "Phrase"]

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=1000, to_lower=True, strip_whitespace=True)]
Group = tuple[Phrase, ...]


class LexiconPart(BaseModel):
    """Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Forms(LexiconPart):
    """A verb by how far its action has come."""

    done: Group = ()
    """It happened: `removed`."""
    base: Group = ()
    """Its plain form, which is an order, a plan or, after `did`, something done: `remove`."""
    ongoing: Group = ()
    """`removing`: done beside another action, not yet done in a heading or a plan."""


class Counting(LexiconPart):
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
