"""Everything that runs need is looked at before the first call: origins, files, keys, weights. All faults together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.reasoning import READERS
from turngate.agent.scenarios import SCENARIOS
from turngate.component import ComponentConfig, ObjectConfig, missing_here
from turngate.errors import ConfigError, MissingWeights, NotReady, TurngateError, UserError, counted, one_line
from turngate.evaluators import EVALUATORS
from turngate.graphs.components import Components, build_components
from turngate.graphs.config import OriginConfig, RunConfig, truth_field
from turngate.graphs.origin import load_origin
from turngate.registry import Registry
from turngate.weights.hub import offline

__all__ = ["Faults", "Readiness", "check_run", "components_of", "same_pictures"]


def components_of(config: RunConfig) -> Iterator[tuple[str, Registry[Any], ComponentConfig]]:
    """Field, registry and settings of every component that a run builds; of an ensemble its members."""
    yield "editor", EDITORS, config.editor
    for name, component in config.evaluators.items():
        yield from _evaluators(f"evaluators.{name}", component)
    yield "gate", GATES, config.gate
    yield "scenario", SCENARIOS, config.scenario
    if config.reader is not None:
        yield "reader", READERS, config.reader
    for name, truth in config.truths.items():
        if isinstance(truth.measure, ComponentConfig):
            yield from _evaluators(truth_field(name), truth.measure)


def _evaluators(place: str, config: ComponentConfig) -> Iterator[tuple[str, Registry[Any], ComponentConfig]]:
    members: Mapping[str, ComponentConfig] | None = getattr(config, "members", None)
    if members is None:
        yield place, EVALUATORS, config
    for name, member in (members or {}).items():
        yield from _evaluators(f"{place}.members.{name}", member)


class Faults:
    """What is wrong, each thing once, with the runs that it concerns."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = defaultdict(list)
        self._first: TurngateError | None = None

    def add(self, where: str, error: TurngateError) -> None:
        """Take in one fault of the run called `where` (empty for the only one)."""
        for line in getattr(error, "faults", None) or (str(error),):
            self._first = self._first or error
            if where not in self._found[line]:
                self._found[line].append(where)

    def lines(self) -> list[str]:
        """One line per fault: the first run that it concerns, and how many more there are."""
        return [_line(wheres, message) for message, wheres in self._found.items()]

    def raise_any(self) -> None:
        """Raise the only fault as it is, or all of them as `NotReady`."""
        lines = self.lines()
        if len(lines) == 1:
            kind = type(self._first) if isinstance(self._first, TurngateError) else UserError
            raise UserError(lines[0]) if kind is NotReady else kind(lines[0])
        if lines:
            raise NotReady(lines)


def _line(wheres: list[str], message: str) -> str:
    if not wheres[0]:
        return message
    others = len(wheres) - 1
    more = f" (and in {counted(others, 'more run')})" if others else ""
    return f"{wheres[0]}: {message}{more}"


@dataclass
class Readiness:
    """Looks at runs before they begin; what several have in common is looked at once. Calls nobody, loads no weights.

    Where weights are to be fetched they are: a later arm must not fail for want of them. `faults` says what is wrong.
    """

    fetch: bool = True
    """Fetch weights that are not here and may be fetched."""
    faults: Faults = field(default_factory=Faults)
    _origins: dict[str, str | TurngateError] = field(default_factory=dict)
    _components: dict[str, Any] = field(default_factory=dict)

    def look(self, where: str, config: RunConfig) -> Components | None:
        """The components of a run, those with weights only in outline; None when something is wrong with it."""
        origin = self.origin(config.origin)
        wrong = isinstance(origin, TurngateError)
        if isinstance(origin, TurngateError):
            self.faults.add(where, _at("origin.image", origin))
        for place, registry, component in components_of(config):
            found = self.component(registry, component)
            if isinstance(found, TurngateError):
                wrong = True
                self.faults.add(where, _at(place, found))
        if wrong:
            return None
        try:
            return build_components(config, self._make)
        except TurngateError as error:
            self.faults.add(where, error)
            return None

    def origin(self, config: OriginConfig) -> str | TurngateError:
        """Pixel identity of the picture before turn 1, or why it cannot be had."""
        key = config.model_dump_json()
        if key not in self._origins:
            self._origins[key] = _caught(lambda: load_origin(config).pixel_identity)
        return self._origins[key]

    def component(self, registry: Registry[Any], config: ComponentConfig) -> Any:
        """The component, in outline where it has weights; or the error that says why it cannot be."""
        if isinstance(config, ObjectConfig):  # made already; two of them may describe themselves alike
            return _caught(lambda: registry.build(config))
        key = f"{registry.kind} {config!r}"
        if key not in self._components:
            self._components[key] = _caught(lambda: self._outline(registry, config))
        return self._components[key]

    def _outline(self, registry: Registry[Any], config: ComponentConfig) -> Any:
        component = registry.find(config.type)
        lacking = missing_here(component, config) if hasattr(component, "outline") else None
        if lacking is not None and not (self.fetch and _may_fetch(config)):
            raise MissingWeights(lacking)
        if lacking is not None:
            registry.build(config)  # fetches what it lacks
        return registry.outline(config)

    def _make(self, registry: Registry[Any], config: ComponentConfig) -> Any:
        found = self.component(registry, config)
        if isinstance(found, TurngateError):
            raise found
        return found


def check_run(config: RunConfig) -> None:
    """Look at one run before it begins; raises its only fault as it is, or all of them as `NotReady`."""
    ready = Readiness()
    ready.look("", config)
    ready.faults.raise_any()


def same_pictures(origins: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence for each picture that has several names; `origins` are names and pixel identities."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, identity in origins:
        if name not in names[identity]:
            names[identity].append(name)
    return [
        f"origins {', '.join(same[:-1])} and {same[-1]} are one picture, pixel for pixel: they count as one origin"
        for same in names.values()
        if len(same) > 1
    ]


def _caught(make: Any) -> Any:
    try:
        return make()
    except TurngateError as error:
        return error
    except Exception as error:  # a plug-in may raise anything; the others are looked at all the same
        return ConfigError(f"{type(error).__name__}: {one_line(error)}")


def _at(place: str, error: TurngateError) -> TurngateError:
    """The error with the field that it is about, unless it says so itself."""
    text = str(error)
    return error if text.startswith(place.partition(".")[0]) else type(error)(f"{place}: {text}")


def _may_fetch(config: ComponentConfig) -> bool:
    own = (getattr(config, name, None) for name in ("folder", "weights", "encoder", "decoder"))
    return not offline() and not getattr(config, "local_files_only", False) and not any(own)
