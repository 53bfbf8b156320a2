"""How well people agree about the same images: Cohen's kappa of each two of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from turngate.frozen import FrozenModel
from turngate.traces.analysis.labels.labels import Labels, images_by_place
from turngate.traces.analysis.run import RunView

__all__ = ["LabelAgreement", "agreements", "cohen_kappa", "verdicts_of"]


class LabelAgreement(FrozenModel):
    """Verdicts of two people on the images that both judged."""

    a: str
    b: str
    both_damaged: int
    both_sound: int
    only_a: int
    """Damaged for `a`, sound for `b`."""
    only_b: int
    kappa: float | None
    """Cohen's kappa, -1..1: 0 is the agreement of chance, 1 is perfect. None where it is not defined: both gave one and
    the same verdict to all."""

    @property
    def images(self) -> int:
        """Images that both judged."""
        return self.both_damaged + self.both_sound + self.only_a + self.only_b

    @property
    def words(self) -> str:
        """In one sentence."""
        agree = self.both_damaged + self.both_sound
        kappa = (
            "kappa not defined: each gave all of them one verdict" if self.kappa is None else f"kappa {self.kappa:.2f}"
        )
        names = f"{self.a or 'somebody'} and {self.b or 'somebody'}"
        return f"{names} agree about {agree} of {self.images} images that both judged ({kappa})"


def cohen_kappa(both_damaged: int, both_sound: int, only_a: int, only_b: int) -> float | None:
    """Cohen (1960), A coefficient of agreement for nominal scales; None where chance alone would agree always."""
    n = both_damaged + both_sound + only_a + only_b
    if not n:
        return None
    a, b = (both_damaged + only_a) / n, (both_damaged + only_b) / n
    chance = a * b + (1 - a) * (1 - b)
    return None if chance == 1 else ((both_damaged + both_sound) / n - chance) / (1 - chance)


def verdicts_of(labels: Labels, runs: Iterable[RunView]) -> dict[str, dict[str, bool]]:
    """SHA-256 -> person -> whether the image is damaged; the same bytes in several runs are one image."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for run in runs:
        said, _ = labels.said(run)
        images = images_by_place(run)
        for place, people in said.items():
            for by, row in people.items():
                if row.damaged is not None:
                    found[images[place]][by] = row.damaged
    return dict(found)


def agreements(verdicts: Mapping[str, Mapping[str, bool]]) -> list[LabelAgreement]:
    """Every two people who judged an image both, by name."""
    people = sorted({by for said in verdicts.values() for by in said})
    found = (_agreement(a, b, [(said[a], said[b]) for said in verdicts.values() if a in said and b in said])
             for a, b in combinations(people, 2))  # fmt: skip
    return [one for one in found if one.images]


def _agreement(a: str, b: str, pairs: Sequence[tuple[bool, bool]]) -> LabelAgreement:
    counts = {pair: pairs.count(pair) for pair in ((True, True), (False, False), (True, False), (False, True))}
    numbers = tuple(counts.values())
    both_damaged, both_sound, only_a, only_b = numbers
    return LabelAgreement(
        a=a, b=b, both_damaged=both_damaged, both_sound=both_sound, only_a=only_a, only_b=only_b,
        kappa=cohen_kappa(*numbers),
    )  # fmt: skip
