"""Configuration of one run, and the seeds that are derived from it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SerializeAsAny, StringConstraints, field_validator, model_validator

from turngate.agent.editor import History
from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.reasoning import READERS
from turngate.agent.rejection import Rejection
from turngate.agent.scenarios import SCENARIOS
from turngate.component import ComponentConfig
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Evaluator
from turngate.evaluators.suites import expanded
from turngate.frozen import StrictModel
from turngate.traces.records import LABELS_TRUTH, LEADING_TRUTH
from turngate.traces.telemetry.config import TelemetryConfig

__all__ = ["Budgets", "OriginConfig", "RunConfig", "component_configs", "derive", "editor_seed", "truth_field"]


# Every random choice of a run comes from its seed.

SeedPolicy = Literal["per_attempt", "per_turn", "fixed", "none"]
"""How the editor's seed changes. `none`: a remote model gets no seed; for a local editor a
new one is drawn each time."""


def derive(seed: int, *purpose: str | int) -> int:
    """A seed in 0..2**31-1 for one purpose: the first 31 bits of SHA-256 over seed and purpose.

    It does not depend on the gate or the editor, so the arms of a study draw the same numbers.
    """
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def editor_seed(seed: int, policy: SeedPolicy, turn: int, attempt: int) -> int:
    """The seed that the editor is given under a seed policy; under `none` another one at every call."""
    match policy:
        case "per_attempt":
            return derive(seed, "edit", turn, attempt)
        case "per_turn":
            return derive(seed, "edit", turn)
        case "fixed":
            return derive(seed, "edit")
        case "none":
            return secrets.randbits(31)


NOT_IDENTITY = frozenset({"name", "budgets", "driver", "modules", "reader", "score_cache", "telemetry"})
"""Fields that may differ between a run and its resumption: they do not change what a turn does."""


class OriginConfig(StrictModel):
    """The image before turn 1."""

    image: str
    """A file (relative to the configuration file), or `skimage:NAME` for a photograph that scikit-image ships."""
    size: int | None = Field(default=None, ge=16, le=16384)
    """Shrink until the longest side has this many pixels (Lanczos, PNG); None or a smaller image: bytes as they are."""
    sha256: str | None = None
    """Set in run.json: the image must still be this one."""


class TruthConfig(StrictModel):
    """A damage measure that gates never see."""

    measure: Literal["simulator"] | SerializeAsAny[ComponentConfig]
    """`simulator`: the editor's own record; otherwise an evaluator: a full-reference one against the scenario's ideal,
    one that looks at what no instruction touches (`control_regions`, `outside_edit`) against the origin, or a judge
    that costs nothing."""
    damaged_at: float = Field(allow_inf_nan=False)
    """A candidate at or beyond this value, in the measure's unit and direction, is damaged."""

    @field_validator("measure", mode="before")
    @classmethod
    def _part(cls, raw: Any) -> Any:
        return raw if raw == "simulator" else EVALUATORS.configure(raw, "truth.measure")


def component_configs(config: Any) -> Iterator[ComponentConfig]:
    """Every component in a configuration, however deep: gates inside gates, members of ensembles."""
    if isinstance(config, ComponentConfig):
        yield config
    if isinstance(config, BaseModel):
        config = [getattr(config, name) for name in type(config).model_fields]
    elif isinstance(config, Mapping):
        config = list(config.values())
    if isinstance(config, list | tuple):
        for inner in config:
            yield from component_configs(inner)


def truth_field(name: str) -> str:
    """Where the configuration says how the truth of that name is measured, for messages."""
    return "truth.measure" if name == LEADING_TRUTH else f"more_truths.{name}.measure"


class UnscoredPolicy(StrictModel):
    """What happens when an evaluator that the gate reads gives no score."""

    policy: Literal["reject", "accept", "retry_evaluator", "stop", "ask_human"] = "reject"
    """`retry_evaluator` asks again, up to `tries` times in all, then rejects."""
    tries: int = Field(default=3, ge=2, le=100)
    """Times that an evaluator is asked in all under `retry_evaluator`."""


class Budgets(StrictModel):
    """Limits over the whole run; reaching one ends it with status `budget_exhausted`, resumable with a larger one."""

    attempts: int | None = Field(default=None, ge=1)
    """Editor calls."""
    usd: float | None = Field(default=None, gt=0)
    """Sum of the reported costs, US dollars."""
    tokens: int | None = Field(default=None, ge=1)
    """Sum of the reported input and output tokens."""
    wall_seconds: float | None = Field(default=None, gt=0)
    """Wall time of all processes that worked on the run."""
    working_seconds: float | None = Field(default=None, gt=0)
    """Wall time without the time spent waiting on a provider's limit."""
    failures_in_a_row: int | None = Field(default=10, ge=1)
    """Editor calls in a row that gave no image: a broken editor must not run through 100 turns."""


class RunConfig(StrictModel):
    """One origin, one scenario, one editor, one gate, one seed, N turns."""

    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Short name that appears in the run id; letters, digits, `.`, `_`, `-`."""
    origin: OriginConfig
    scenario: SerializeAsAny[ComponentConfig]
    """Instruction of each turn."""
    turns: int = Field(default=100, ge=1, le=100_000)
    seed: int = Field(default=0, ge=0, lt=2**63)
    """All random choices of the run are derived from it."""
    seed_policy: SeedPolicy = "per_attempt"
    """How the editor's seed changes; a fixed seed every turn amplifies noise. With `none` a remote model gets no
    seed, and a local editor a new one each time: such a run cannot be repeated, but every seed is recorded."""
    history: History = "previous"
    """What the editor sees: the current image, always the origin (star), the current image and the origin (anchor),
    or the whole conversation so far (chat; for editors that can hold one)."""
    editor: SerializeAsAny[ComponentConfig]
    evaluators: dict[str, SerializeAsAny[ComponentConfig]]
    """Name -> evaluator. A list of types is read as names equal to types; `suite:NAME` stands for all in it."""
    gate: SerializeAsAny[ComponentConfig]
    on_reject: Rejection = Rejection()
    on_unscored: UnscoredPolicy = UnscoredPolicy()
    on_no_image: Literal["reject", "stop"] = "reject"
    """`reject`: the attempt counts as rejected (`on_reject` decides what follows); `stop` ends the run."""
    on_no_change: Literal["decide", "reject", "stop"] = "decide"
    """The editor returned its input: let the gate decide as usual (never counted as an accepted edit), reject, stop."""
    truth: TruthConfig | None = None
    """The leading truth: the only one of which a gate that reads the truth (the oracle) learns anything."""
    more_truths: dict[Annotated[str, StringConstraints(min_length=1)], TruthConfig] = {}
    """Name -> another truth, measured beside the leading one on every candidate, composite and on the origin."""
    allow_unstable_scores: bool = False
    """Let the gate read evaluators that are not deterministic or depend on the batch."""
    score_origin: bool = True
    """Score the origin before turn 1 (one extra evaluation each)."""
    score_cache: bool = False
    """Take scores of repeatable evaluators from the score cache, and keep them there (see docs/scoring.md)."""
    reader: SerializeAsAny[ComponentConfig] | None = None
    """Reads the reasoning summaries for the report; `lexicon` where it is left out. `--reader` takes another one."""
    modules: str | None = None
    """Folder in which modules of dotted paths are looked for after all other places; the configuration file's own where
    left out, and so set in run.json when something was found there."""
    budgets: Budgets = Budgets()
    driver: Literal["graph", "loop"] = "graph"
    """LangGraph machine, or the plain loop (same ledger, less overhead)."""
    telemetry: TelemetryConfig = TelemetryConfig()

    @field_validator("origin", mode="before")
    @classmethod
    def _origin(cls, raw: Any) -> Any:
        return {"image": raw} if isinstance(raw, str) else raw

    @field_validator("on_unscored", mode="before")
    @classmethod
    def _unscored(cls, raw: Any) -> Any:
        return {"policy": raw} if isinstance(raw, str) else raw

    @field_validator("scenario", mode="before")
    @classmethod
    def _scenario(cls, raw: Any) -> Any:
        return SCENARIOS.configure(raw, "scenario")

    @field_validator("editor", mode="before")
    @classmethod
    def _editor(cls, raw: Any) -> Any:
        return EDITORS.configure(raw, "editor")

    @field_validator("gate", mode="before")
    @classmethod
    def _gate(cls, raw: Any) -> Any:
        return GATES.configure(raw, "gate")

    @field_validator("more_truths", mode="before")
    @classmethod
    def _more_truths(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        return {name: _measured_by(item, f"more_truths.{name}.measure") for name, item in raw.items()}

    @model_validator(mode="after")
    def _truths_have_names(self) -> RunConfig:
        taken = sorted(self.more_truths.keys() & {LEADING_TRUTH, LABELS_TRUTH})
        if taken:
            raise ConfigError(f"more_truths.{taken[0]}: that is the name of another truth: take a name of your own")
        if self.more_truths and self.truth is None:
            raise ConfigError("more_truths: one of them must lead: give it as `truth`")
        return self

    @property
    def truths(self) -> dict[str, TruthConfig]:
        """All truths by name, the leading one first; empty without a truth."""
        return {} if self.truth is None else {LEADING_TRUTH: self.truth, **self.more_truths}

    @field_validator("reader", mode="before")
    @classmethod
    def _reader(cls, raw: Any) -> Any:
        return None if raw is None else READERS.configure(raw, "reader")

    @field_validator("evaluators", mode="before")
    @classmethod
    def _evaluators(cls, raw: Any) -> Any:
        raw = expanded(raw)
        if isinstance(raw, list):
            raw = {_name_of(item): item for item in raw}
        if not isinstance(raw, dict):
            return raw
        return {name: EVALUATORS.configure(item, f"evaluators.{name}") for name, item in raw.items()}

    def identity(self) -> dict[str, Any]:
        """What makes two runs the same experiment: everything but `NOT_IDENTITY`."""
        dumped = self.model_dump(mode="json", exclude=set(NOT_IDENTITY))
        if self.origin.sha256:
            dumped["origin"] = {"sha256": self.origin.sha256}
        return dumped


def _measured_by(item: Any, where: str) -> Any:
    """A truth with its measure checked here, so that an error says which truth it is about."""
    measure = item.get("measure") if isinstance(item, dict) else None
    if measure is None or measure == "simulator":
        return item
    return {**item, "measure": EVALUATORS.configure(measure, where)}


def _name_of(item: Any) -> str:
    """Name of an evaluator in a list: its type, or what an object calls itself."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and "type" in item:
        return str(item["type"])
    if isinstance(item, ComponentConfig):
        return item.type
    return str(item.facts.name) if isinstance(item, Evaluator) and not isinstance(item, type) else repr(item)
