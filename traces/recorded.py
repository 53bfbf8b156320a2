"""What run.json says, typed: the origin, what the names stand for, and the part of the configuration that is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field

from turngate.component import Direction
from turngate.frozen import FrozenModel

__all__ = [
    "RecordedComponent",
    "RecordedConfig",
    "RecordedEditor",
    "RecordedFacts",
    "RecordedGate",
    "RecordedOrigin",
    "RecordedRejection",
    "RecordedScenario",
    "RecordedServer",
    "RecordedTruth",
    "Resolved",
]


class RecordedOrigin(FrozenModel):
    """The image before turn 1."""

    image: str
    """SHA-256."""
    media_type: str | None = None
    width: int = Field(default=1, ge=1)
    """Pixels."""
    height: int = Field(default=1, ge=1)
    """Pixels."""
    normalised: list[str] = []
    """Steps from the file to 8-bit RGB; empty for a plain 8-bit RGB file."""
    remarks: list[str] = []
    """What the file says of its colours and was not done, see `turngate.picture.Picture`."""
    source: str = ""
    """File or `skimage:NAME`, as configured."""


class RecordedEditor(FrozenModel):
    """What the editor is."""

    model: str | None = None
    """Resolved model; each attempt has the version that answered."""
    stochastic: bool = False
    paid: bool = False
    provider: str | None = None
    """Remote provider; None for local editors."""
    idle: list[str] = []
    """Settings that do nothing in this run, each as `FIELD: why`; known before turn 1."""
    left_out: str = ""
    """Of recorded answers: which files are not served, in one line; empty for none."""


class RecordedFacts(FrozenModel):
    """The facts of an evaluator, see `turngate.evaluators.Facts`; infinite bounds are words."""

    name: str = ""
    version: str = ""
    direction: Direction = "higher"
    range: tuple[int | float | str, int | float | str] | None = None
    """Lowest and highest value; None where it was not recorded."""
    range_is_approximate: bool = False
    deterministic: bool = True
    batch_invariant: bool = True
    tolerance: float = 1e-6
    inputs: list[str] = Field(default=[], validation_alias=AliasChoices("inputs", "needs"))
    """What it was given beside the candidate, see `turngate.evaluators.EvaluatorInput`; `needs` in turngate 0.1.0."""
    min_size: int = 1
    preferred_size: int | None = None
    paid: bool = False
    weights: str = "none"
    weights_licence: str = "none"
    source: str = ""
    size_scored: str = "native"
    judge: bool = False
    looks_at_the_rest: bool = False

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Lowest and highest value; None where it is infinite or was not recorded."""
        lowest, highest = self.range or (None, None)
        return _finite(lowest), _finite(highest)


def _finite(bound: float | str | None) -> float | None:
    return None if isinstance(bound, str) else bound


class RecordedScenario(FrozenModel):
    """What the scenario is."""

    ideal: str | None = None
    """What a perfect editor would make of the origin; None where that is not known."""


class RecordedGate(FrozenModel):
    """What the gate looks at."""

    reads: list[str] = []
    """Names of the evaluators whose scores it is shown, sorted."""
    reads_truth: bool = False
    """It is shown whether the leading truth calls the candidate damaged."""


class RecordedServer(FrozenModel):
    """The server that a remote component asks."""

    base_url: str
    """Its address, without user, password, query and fragment."""
    fake: bool = False
    """It said of itself, when the run was made, that it is the shipped fake server."""


class Resolved(FrozenModel):
    """What the names in the configuration stand for."""

    editor: RecordedEditor = RecordedEditor()
    simulated: bool = False
    """What comes back is made up: the editor's damage is written by hand, or a server is the shipped fake one."""
    servers: dict[str, RecordedServer] = {}
    """Field of the configuration (`editor`, `evaluators.NAME`, ...) -> the server that the component there asks."""
    evaluators: dict[str, RecordedFacts] = {}
    truth: RecordedFacts | None = None
    """The evaluator that measures truth; None without a truth, and where a simulator records it."""
    more_truths: dict[str, RecordedFacts | None] = {}
    """Name -> the evaluator that measures this truth beside the leading one; None where a simulator records it."""
    gate: RecordedGate | None = None
    """None in runs of older versions, which did not record it."""
    scenario: RecordedScenario = RecordedScenario()


class RecordedComponent(FrozenModel):
    """A part of the configuration: its type, and its settings as they are in the file."""

    model_config = ConfigDict(extra="allow")

    type: str = ""
    """Registry name, entry-point name or dotted path."""

    @property
    def settings(self) -> dict[str, Any]:
        """Fields beside the type."""
        return self.model_extra or {}

    @property
    def calibrated_on(self) -> frozenset[str]:
        """Pixel identities of the origins that the limits of a gate, or of gates inside it, were found on."""
        return frozenset(_calibrated_on(self.as_mapping()))

    def as_mapping(self) -> dict[str, Any]:
        """Type and settings, as in the file."""
        return self.model_dump(exclude_unset=True)


def _calibrated_on(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        yield from part.get("calibrated_on") or ()
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _calibrated_on(inner)


class RecordedRejection(FrozenModel):
    """What follows a rejection."""

    attempts: int = 1
    """Attempts of a turn in all."""
    then: str = "skip"
    best_by: str | None = None
    """Evaluator that chooses under `keep_best`."""


class RecordedTruth(FrozenModel):
    """How truth is measured."""

    measure: Literal["simulator"] | RecordedComponent
    damaged_at: float | None = None


class RecordedConfig(FrozenModel):
    """The fields of a run's configuration that reports, exports and traces read. Any turngate's run.json has them."""

    turns: int = 0
    """Planned."""
    seed: int | None = None
    seed_policy: str = "per_attempt"
    history: str = "previous"
    editor: RecordedComponent = RecordedComponent()
    scenario: RecordedComponent = RecordedComponent()
    gate: RecordedComponent = RecordedComponent()
    evaluators: dict[str, RecordedComponent] = {}
    """Name in the run -> evaluator."""
    on_reject: RecordedRejection = RecordedRejection()
    on_unscored: dict[str, Any] = {}
    truth: RecordedTruth | None = None
    more_truths: dict[str, RecordedTruth] = {}
    """Name -> how this truth is measured; `truth` is the leading one."""
    telemetry: dict[str, Any] = {}
