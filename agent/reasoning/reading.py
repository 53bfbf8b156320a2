"""What a reasoning summary says, as a reader finds it, and the contract of readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

__all__ = [
    "LABELS",
    "ClaimLabel",
    "Finding",
    "ObjectCount",
    "ReaderResult",
    "SummaryReader",
    "SummaryReading",
    "Unread",
]

ClaimLabel = Literal["claims_success", "mentions_damage", "denies_damage", "hedges"]
"""`claims_success`: the result is right (equal, faithful, every detail kept, done as asked), softened or not.
`mentions_damage`: the image shows damage, kept on purpose or not. `denies_damage`: damage is absent, avoided or was
removed. `hedges`: the summary limits its own certainty. What was asked for, planned or only possible is none of them.
"""

LABELS: tuple[ClaimLabel, ...] = get_args(ClaimLabel)


@dataclass(frozen=True)
class ObjectCount:
    """A number of objects that the summary states."""

    number: int
    of: str
    """What is counted, one word in the singular and small letters; empty where it is not named."""
    added: bool = False
    """The number was added; otherwise it is the number in the image."""

    def __str__(self) -> str:
        return f"{'+' if self.added else ''}{self.number} {self.of}".strip()


@dataclass(frozen=True)
class Finding:
    """Why a reader gave a label."""

    label: ClaimLabel
    words: str
    """The words that it rests on, as the reader saw them; the hypothesis of a classifier."""
    sentence: str
    """The sentence that holds them, without markup."""
    kind: str | None = None
    """Kind of damage (`noise`, `colour`, ...), where the reader tells kinds apart."""


@dataclass(frozen=True)
class SummaryReading:
    """A summary that was read and understood; what it does not say is False."""

    claims_success: bool = False
    mentions_damage: bool = False
    denies_damage: bool = False
    hedges: bool = False
    counts: tuple[ObjectCount, ...] | None = None
    """Numbers of objects, in the order of the text; None for a reader that does not look for them."""
    findings: tuple[Finding, ...] = ()
    """In the order of the text."""
    status: Literal["read"] = "read"

    @classmethod
    def of(cls, findings: Sequence[Finding], counts: Sequence[ObjectCount] | None = None) -> SummaryReading:
        """The labels of `findings`."""
        labels = {finding.label for finding in findings}
        return cls(
            claims_success="claims_success" in labels,
            mentions_damage="mentions_damage" in labels,
            denies_damage="denies_damage" in labels,
            hedges="hedges" in labels,
            counts=None if counts is None else tuple(counts),
            findings=tuple(findings),
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the damage that is mentioned, sorted; empty for a reader that does not tell kinds apart."""
        return tuple(sorted({f.kind for f in self.findings if f.label == "mentions_damage" and f.kind}))


@dataclass(frozen=True)
class Unread:
    """A summary that says nothing to the reader. It is no reading: nothing in it counts as not said."""

    why: Literal["empty", "language", "parse", "refused", "failed"]
    """`empty`: no words; `language`: not in the reader's language; the others are those of a model that reads."""
    detail: str = ""
    """One line for a person."""
    status: Literal["unread"] = "unread"


ReaderResult = SummaryReading | Unread


@runtime_checkable
class SummaryReader(Protocol):
    """Reads reasoning summaries."""

    def read(self, texts: Sequence[str | None]) -> list[ReaderResult]:
        """One reading per text, in order; depends on nothing but that text.

        Any text: None, empty, of any length, script and markup. No content of a text makes it raise.
        """
        ...
