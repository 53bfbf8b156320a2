"""A simulator of a decaying editor: every damage in it is written by hand, and it knows how much it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.simulated import objects as things
from turngate.agent.editors.simulated.decay import age, decay, increment
from turngate.agent.editors.simulated.objects import FAILS, operate, painted
from turngate.agent.editors.simulated.signatures import SIGNATURES, mention_probability, summary
from turngate.component import ComponentConfig, ObjectFailure
from turngate.picture import Picture

__all__ = ["SimulatedConfig", "SimulatedEditor"]


class SimulatedConfig(ComponentConfig):
    """Which model is imitated, and how strongly."""

    signature: Literal["nano-banana-pro", "nano-banana-2", "flux2-dev", "qwen-image-edit"] = "nano-banana-pro"
    """Whose decay is imitated."""
    severity: float = Field(default=1.0, ge=0, le=20)
    """Damage that the first turn does, in turns of the signature: at 1 it is visible after 5 to 10 turns and severe
    at 20. 0 is the perfect editor: no decay, no failure, nothing random."""
    recursion: float | None = Field(default=None, gt=0, le=1)
    """a in R_n = I + a R_(n-1), the share of the residual that a turn keeps; None for the signature's own."""
    spread: float = Field(default=0.35, ge=0, le=1)
    """How much attempts differ: each is 1 - spread .. 1 + spread times as strong, drawn from its seed."""
    failures: float = Field(default=1.0, ge=0, le=2)
    """Multiplies the probabilities that an operation fails; 0 for none."""


_MOVES = {"mirror": things.mirrored, "rotate": things.rotated}
"""What operations do to the places of objects."""


@dataclass(frozen=True)
class _Carried:
    """What an image brings along from earlier turns."""

    damage: float = 0.0
    objects: tuple[things.Placed, ...] = ()


class SimulatedEditor:
    """SIMULATED decay after published descriptions of four models, with their failures and confident summaries.

    The residual follows R_n = I + a R_(n-1). `damage` is its size, in first turns at severity 1: with mean strength
    1 + a + a^2 + ... It depends on the damage of the input alone, so a run goes on after a restart as if there had been
    none. An image that this editor did not make counts as undamaged.
    """

    Config: ClassVar[type[ComponentConfig]] = SimulatedConfig
    requires: ClassVar[Mapping[str, str]] = {}
    simulated = True
    paid = False

    def __init__(self, config: SimulatedConfig) -> None:
        self.config = config
        self.model = f"simulated-{config.signature}"
        self.stochastic = config.severity > 0
        self._signature = SIGNATURES[config.signature]
        self._recursion = config.recursion or self._signature.recursion
        self._failures = config.failures if self.stochastic else 0.0
        self._made: dict[str, _Carried] = {}

    def restore(self, made: Iterable[tuple[str, float] | tuple[str, float, Mapping[str, Any]]]) -> None:
        """Remember images made before this process started: SHA-256, damage and, where there is one, `Edited.metadata`.

        Without the metadata the objects in an image are not known; the rest is.
        """
        for image, damage, *more in made:
            objects = things.from_json(more[0].get("placed", ())) if more else ()
            self._made[image] = _Carried(damage, objects)

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Carry out the operation, let the image decay, then draw what is new in it."""
        carried = self._made.get(request.image.sha256, _Carried())
        # Each use has a stream of its own. The perfect editor does not look at the seed.
        root = [request.seed, 1] if self.stochastic else [request.turn, 0]
        strength, worn, done, adding, words = (np.random.default_rng([*root, use]) for use in range(5))
        luck = strength.uniform(1 - self.config.spread, 1 + self.config.spread)
        step = increment(carried.damage, self.config.severity, self._recursion, luck)
        damage = carried.damage + step
        kind = str(request.operation.get("kind", ""))
        operated = operate(request.image, kind, done, self._failures)
        rgb, objects = operated.rgb, carried.objects
        if kind in _MOVES and not operated.failed:
            objects = _MOVES[kind](objects)
        metadata: dict[str, Any] = {"step": step}
        object_failure: ObjectFailure | None = None
        if step > 0:
            decayed = decay(rgb, self._signature, carried.damage, damage, worn)
            rgb, objects = decayed.rgb, things.cropped(objects, decayed.crop)
            if decayed.repeated:
                objects = things.repeated(objects, decayed.repeated)
                metadata["repeated"] = list(decayed.repeated)
        name = str(request.operation.get("object") or "object")
        if kind == "add":
            addition = things.add(name, objects, rgb.shape[1], rgb.shape[0], adding, self._failures)
            rgb, objects = painted(rgb, addition.drawn), addition.objects
            object_failure = addition.failure
        if objects or kind == "add":
            metadata |= {"objects": len(objects), "placed": things.as_json(objects)}
        picture = Picture.from_rgb(rgb)
        self._made[picture.sha256] = _Carried(damage, objects)
        return Edited.of(
            picture,
            reasoning=self._summary(kind, name, damage, words),
            model=f"{self.model}-1",
            damage=damage,
            operation_failed=operated.failed if kind in FAILS else None,
            object_failure=object_failure,
            metadata=metadata,
        )

    def _summary(self, kind: str, name: str, damage: float, rng: np.random.Generator) -> str | None:
        mentions = self._signature.mentions
        if mentions is None:
            return None
        likely = mention_probability(age(damage, self._signature.recursion), *mentions)
        return summary(kind, name, bool(rng.random() < likely), rng)
