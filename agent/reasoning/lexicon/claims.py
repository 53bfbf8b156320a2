"""From the sorted phrases of a summary to what it claims, mentions and denies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turngate.agent.reasoning.lexicon.data import Lexicon
from turngate.agent.reasoning.lexicon.scope import UNSAID, Scoped, ScopedPhrase
from turngate.agent.reasoning.lexicon.text import Sentence
from turngate.agent.reasoning.reading import ClaimLabel, Finding

__all__ = ["Claims"]

_VERBS = ("remove", "repair", "cleanse")
_KEEPING = ("preserve", "keep")


class Claims:
    """Reads the sentences of one summary in order."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._known: ScopedPhrase | None = None
        """Damage that was named before, which a pronoun may stand for."""
        self._looked_for: list[ScopedPhrase] = []
        """Damage that the sentence before looked for, without saying yet whether it is there."""

    def read(self, sentence: Sentence, found: Scoped) -> list[Finding]:
        """What a sentence says, in the order of its words, then its doubts."""
        said = sorted(self._said(found), key=lambda one: one[1].start)
        doubts = [] if sentence.question or _told(found) else self._lexicon.hedging.find(sentence.words)
        found_words = [(label, item.start, item.end, kind) for label, item, kind in said]
        found_words += [("hedges", doubt.start, doubt.end, "") for doubt in doubts if doubt.role == "hedges"]
        return [
            Finding(label, " ".join(sentence.words[start:end]), sentence.text, kind or None)
            for label, start, end, kind in found_words
        ]

    def _said(self, found: Scoped) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        denied: set[int] = set()
        looked_for: list[ScopedPhrase] = []
        for index in range(len(found.clauses)):
            items = [item for item in found.items if item.clause == index]
            for label, item, kind in self._clause(items, looked_for, self._points_back(found, index)):
                yield label, item, kind
                if label == "denies_damage":
                    denied.add(index)
            yield from self._exceptions(items, index - 1 in denied)
        yield from self._outcome(found, looked_for)

    def _points_back(self, found: Scoped, index: int) -> bool:
        """A pronoun of the clause stands for damage that was named before."""
        clause = found.clauses[index]
        words = found.words[clause.start : clause.end]
        relative = any(item.role == "relative" and item.clause == index for item in found.items)
        return self._known is not None and (relative or any(word in self._lexicon.pronouns for word in words))

    def _clause(
        self, items: Sequence[ScopedPhrase], looked_for: list[ScopedPhrase], points_back: bool
    ) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        verbs = [item for item in items if item.role in _VERBS]
        for item in items:
            match item.role:
                case "damage":
                    yield from self._damage(item, items, verbs, looked_for)
                case "clean" | "sharp" | "faithful" | "change":
                    yield from _statement(item)
                case "preserve" | "keep":
                    yield from _kept(item, items, points_back)
                case "exactly":
                    if any(other.role == "copying" for other in items) and _stated(item):
                        yield "claims_success", item, ""
                case "remains" | "gone":
                    yield from self._of_pronoun(item, items, points_back)
                case "remove" | "repair" | "cleanse":
                    yield from self._carried_out(item, items, points_back)

    def _damage(
        self,
        item: ScopedPhrase,
        items: Sequence[ScopedPhrase],
        verbs: Sequence[ScopedPhrase],
        looked_for: list[ScopedPhrase],
    ) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        self._known = item
        verb = _governing(item, items, verbs)
        gone = [other for other in items if other.role == "gone" and other.start >= item.end]
        governors = [item, *([verb] if verb else []), *gone[:1]]
        negations = frozenset().union(*(one.negations for one in governors))
        contexts = frozenset().union(*(one.contexts for one in governors))
        kept = any(other.role == "existing" for other in items) and any(
            other.role in _KEEPING and other.end <= item.start for other in items
        )
        denied = (len(negations) + (verb is not None) + bool(gone)) % 2 == 1
        if "asked" in contexts or "possible" in contexts or ("intent" in contexts and not kept):
            return
        if verb is not None and not _finished(verb):
            return
        if "any" in contexts and not denied:
            return
        if "check" in contexts and not negations and verb is None:
            looked_for.append(item)
            return
        yield ("denies_damage" if denied else "mentions_damage"), item, item.kind

    def _carried_out(
        self, item: ScopedPhrase, items: Sequence[ScopedPhrase], points_back: bool
    ) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        """A removal that names no damage in its clause: by its own meaning, or by a pronoun."""
        if item.contexts & UNSAID or item.negations or not _finished(item):
            return
        named = any(_governing(other, items, [item]) for other in items if other.role == "damage")
        if not named and ((item.role != "remove" and item.kind != "ongoing") or points_back):
            yield "denies_damage", item, ""

    def _of_pronoun(
        self, item: ScopedPhrase, items: Sequence[ScopedPhrase], points_back: bool
    ) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        """`It is still visible`, `they are gone`, of damage that was named before."""
        if points_back and self._known and _stated(item) and not any(other.role == "damage" for other in items):
            label: ClaimLabel = "mentions_damage" if item.role == "remains" else "denies_damage"
            yield label, item, self._known.kind

    def _exceptions(
        self, items: Sequence[ScopedPhrase], after_denial: bool
    ) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        """`Removed from the wall, but not from the ceiling`: it is still there."""
        if after_denial and not any(item.role in ("damage", *_VERBS) for item in items):
            for item in items:
                if item.role == "exception" and self._known is not None:
                    yield "mentions_damage", item, self._known.kind
                    return

    def _outcome(self, found: Scoped, looked_for: list[ScopedPhrase]) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
        """What became of a search, in this sentence or in the next one."""
        wanted = looked_for or self._looked_for
        self._looked_for = looked_for
        for item in found.items if wanted else ():
            if item.role in ("found_none", "found_some") and not item.contexts & UNSAID:
                label: ClaimLabel = "denies_damage" if item.role == "found_none" else "mentions_damage"
                yield label, item, wanted[0].kind
                self._looked_for = []
                return


def _stated(item: ScopedPhrase) -> bool:
    return not item.contexts & UNSAID and not item.negations


def _statement(item: ScopedPhrase) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
    if item.contexts & UNSAID:
        return
    denied = len(item.negations) % 2 == 1
    match item.role:
        case "clean":
            yield ("mentions_damage", item, "general") if denied else ("denies_damage", item, "")
        case "sharp":
            yield ("mentions_damage", item, "detail") if denied else ("claims_success", item, "")
        case "faithful" if not denied:
            yield "claims_success", item, ""
        case "change" if denied:
            yield "claims_success", item, ""


def _kept(
    item: ScopedPhrase, items: Sequence[ScopedPhrase], points_back: bool
) -> Iterator[tuple[ClaimLabel, ScopedPhrase, str]]:
    """`Preserved` with what can be kept; the grain that was kept is damage, not success."""
    if item.contexts & UNSAID:
        return
    things = [other for other in items if other.role in ("content", "damage")]
    before = [other for other in things if other.end <= item.start]
    after = [other for other in things if other.start >= item.end]
    kept = before[-1:] if item.passive else after[:1]
    if any(thing.role == "damage" and not thing.negations for thing in kept) or (item.passive and points_back):
        return
    if item.role == "preserve" or any(other.role == "content" for other in items):
        denied = len(item.negations) % 2 == 1
        yield ("mentions_damage", item, "detail") if denied else ("claims_success", item, "")


def _governing(item: ScopedPhrase, items: Sequence[ScopedPhrase], verbs: Sequence[ScopedPhrase]) -> ScopedPhrase | None:
    """The removal whose object the damage is."""
    for verb in verbs:
        if verb.role == "repair" and not verb.passive:
            continue
        if verb.end <= item.start:
            between = [other for other in items if verb.end <= other.start < item.start]
            if not verb.passive and not any(other.role in (*_KEEPING, *_VERBS) for other in between):
                return verb
        elif verb.passive or not any(other.role == "damage" and other.start >= verb.end for other in items):
            return verb
    return None


def _finished(verb: ScopedPhrase) -> bool:
    """It happened, or it is denied that it did."""
    return verb.kind != "base" or verb.did or bool(verb.negations)


def _told(found: Scoped) -> bool:
    """Whether the whole sentence is about what somebody asked for."""
    contexts = [item.contexts for item in found.items]
    return bool(contexts) and all("asked" in one for one in contexts)
