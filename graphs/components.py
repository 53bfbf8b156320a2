"""The components of a run, built from its configuration and checked against each other before anything is paid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from turngate.agent.editor import Editor
from turngate.agent.editors import EDITORS
from turngate.agent.gate import Gate
from turngate.agent.gates import GATES
from turngate.agent.scenario import Scenario
from turngate.agent.scenarios import SCENARIOS
from turngate.component import ComponentConfig
from turngate.errors import ConfigError, counted
from turngate.evaluators import EVALUATORS, Evaluator, Facts
from turngate.graphs.config import RunConfig, truth_field
from turngate.providers.server import is_fake_server, public_url
from turngate.registry import Registry, nearest
from turngate.traces.recorded import (
    RecordedEditor,
    RecordedFacts,
    RecordedGate,
    RecordedScenario,
    RecordedServer,
    Resolved,
)
from turngate.traces.records import LEADING_TRUTH

__all__ = ["Components", "build_components"]


@dataclass(frozen=True)
class Components:
    """What acts and looks in one run."""

    editor: Editor
    evaluators: dict[str, Evaluator]
    gate: Gate
    scenario: Scenario
    truths: dict[str, Evaluator | None]
    """Name -> evaluator that measures this truth, the leading one first; None where the simulator records it."""

    idle: tuple[str, ...] = ()
    """Settings that will do nothing, each as `FIELD: why`."""

    def servers(self) -> dict[str, RecordedServer]:
        """Field -> the server that the component there asks, for remote ones; asks those on this machine who they are.

        A component is remote where it has a `base_url`.
        """
        looking = {f"evaluators.{name}": evaluator for name, evaluator in self.evaluators.items()}
        looking |= {truth_field(name): measure for name, measure in self.truths.items() if measure is not None}
        placed = [("editor", self.editor), *(found for item in looking.items() for found in _with_members(*item))]
        urls = {field: url for field, component in placed if (url := getattr(component, "base_url", None))}
        fake = {url: is_fake_server(url) for url in set(urls.values())}
        return {field: RecordedServer(base_url=public_url(url), fake=fake[url]) for field, url in urls.items()}

    def resolved(self) -> Resolved:
        """What the configuration's names resolve to, for run.json; asks servers on this machine who they are."""
        editor, servers = self.editor, self.servers()
        truths = {name: _facts(measure) if measure else None for name, measure in self.truths.items()}
        return Resolved(
            editor=RecordedEditor(
                model=editor.model,
                stochastic=editor.stochastic,
                paid=editor.paid,
                provider=getattr(editor, "provider", None),
                idle=list(self.idle),
                left_out=getattr(editor, "left_out", ""),
            ),
            simulated=editor.simulated or any(server.fake for server in servers.values()),
            servers=servers,
            evaluators={name: _facts(evaluator) for name, evaluator in self.evaluators.items()},
            truth=truths.pop(LEADING_TRUTH, None),
            more_truths=truths,
            gate=RecordedGate(reads=sorted(self.gate.reads), reads_truth=self.gate.reads_truth),
            scenario=RecordedScenario(ideal=self.scenario.ideal),
        )


Make = Callable[[Registry[Any], ComponentConfig], Any]
"""Makes a component of a registry from its settings."""


def _build(registry: Registry[Any], config: ComponentConfig) -> Any:
    return registry.build(config)


def build_components(config: RunConfig, make: Make = _build) -> Components:
    """Build every component, with `make`; raises `ConfigError` or `MissingExtra` for what could not work together."""
    components = Components(
        editor=make(EDITORS, config.editor),
        evaluators={name: make(EVALUATORS, item) for name, item in config.evaluators.items()},
        gate=make(GATES, config.gate),
        scenario=make(SCENARIOS, config.scenario),
        truths={
            name: None if truth.measure == "simulator" else make(EVALUATORS, truth.measure)
            for name, truth in config.truths.items()
        },
    )
    for check in _CHECKS:
        problem = check(config, components)
        if problem:
            raise ConfigError(problem)
    return replace(components, idle=tuple(_idle(config, components.editor)))


def _idle(config: RunConfig, editor: Editor) -> Iterator[str]:
    """Settings that the editor will make nothing of: what it says of itself, and what the run's own settings mean."""
    yield from getattr(editor, "idle", ())
    kind = config.editor.type
    if not editor.stochastic and config.seed_policy != "per_attempt":
        yield f"seed_policy: editor {kind!r} is deterministic and has no use for a seed"
    elif config.seed_policy != "none" and not getattr(editor, "sends_seed", True):
        yield f"seed: editor {kind!r} does not send it, see editor.send_seed: the run cannot be repeated by it"
    if config.history != "chat" and getattr(config.editor, "window", None) is not None:
        yield f"editor.window: it is for history `chat`, and history is `{config.history}`"


def _gate_reads(config: RunConfig, components: Components) -> str | None:
    for name in sorted(components.gate.reads):
        if name not in components.evaluators:
            near = nearest(name, list(components.evaluators))
            return f"gate reads evaluator {name!r}, which the run does not have{near}"
    return None


def _gate_fits(config: RunConfig, components: Components) -> str | None:
    misfit = getattr(components.gate, "misfit", None)
    problem = misfit({name: evaluator.facts for name, evaluator in components.evaluators.items()}) if misfit else None
    return f"gate.{problem}" if problem else None


def _stable_scores(config: RunConfig, components: Components) -> str | None:
    for name in sorted(components.gate.reads):
        facts = components.evaluators[name].facts
        if not config.allow_unstable_scores and not (facts.deterministic and facts.batch_invariant):
            what = "is stochastic" if not facts.deterministic else "depends on the batch"
            return f"gate reads {name!r}, which {what}: set allow_unstable_scores: true if that is meant"
    return None


def _retry_means_something(config: RunConfig, components: Components) -> str | None:
    if config.on_reject.attempts == 1:
        return None
    if not components.editor.stochastic:
        kind = config.editor.type
        return f"on_reject.attempts: editor {kind!r} is deterministic, a retry gives the same image: set it to 1"
    if config.seed_policy in ("per_turn", "fixed"):
        return (
            f"on_reject.attempts: with seed_policy {config.seed_policy!r} a retry gives the same image: use per_attempt"
        )
    return None


def _chat_is_understood(config: RunConfig, components: Components) -> str | None:
    if config.history == "chat" and not getattr(components.editor, "converses", False):
        return f"history: editor {config.editor.type!r} cannot hold a conversation: use previous, origin or anchor"
    return None


def _chain_is_long_enough(config: RunConfig, components: Components) -> str | None:
    length = getattr(components.editor, "length", None)
    if length is not None and length < config.turns:
        return f"turns: editor {config.editor.type!r} has images for {counted(length, 'turn')}, not for {config.turns}"
    return None


def _money_can_be_counted(config: RunConfig, components: Components) -> str | None:
    if config.budgets.usd is None:
        return None
    paid: list[tuple[str, Any]] = [("editor", components.editor)] if components.editor.paid else []
    paid += [
        (f"evaluators.{name}", component) for name, component in components.evaluators.items() if component.facts.paid
    ]
    for field, component in paid:
        if getattr(component, "prices", "its own") is None:
            return (
                f"budgets.usd: what {field} costs is not known, so no money can be counted: "
                f"give {field}.prices, or limit budgets.attempts instead"
            )
    return None


def _keep_best_has_a_judge(config: RunConfig, components: Components) -> str | None:
    policy = config.on_reject
    if policy.then == "keep_best" and policy.best_by not in components.evaluators:
        hint = nearest(policy.best_by or "", list(components.evaluators))
        return f"on_reject.best_by: keep_best needs the name of an evaluator{hint}"
    return None


def _truth_can_be_known(config: RunConfig, components: Components) -> str | None:
    if components.gate.reads_truth and config.truth is None:
        return f"gate {config.gate.type!r} sees the truth: say with `truth:` how it is measured"
    for name, measure in components.truths.items():
        problem = _no_record(config, components) if measure is None else _no_measure(config, components, measure.facts)
        if problem:
            return f"{truth_field(name)}: {problem}"
    return None


def _no_record(config: RunConfig, components: Components) -> str | None:
    """Why there is no truth of a simulator."""
    if config.on_reject.then == "accept_masked":
        return "a simulator does not know how damaged a composite is: measure truth with an evaluator"
    if not components.editor.simulated:
        return f"editor {config.editor.type!r} is no simulator and keeps no record of its damage"
    return None


def _no_measure(config: RunConfig, components: Components, facts: Facts) -> str | None:
    """Why an evaluator with these facts cannot measure truth."""
    if facts.paid:
        return (
            f"{facts.name!r} costs money, which is counted for evaluators only: "
            "let it score as an evaluator, or give its verdicts to `turngate study --labels`"
        )
    if "origin" not in facts.inputs and not facts.judge:
        return f"{facts.name!r} does not compare with a reference and cannot measure truth"
    if "origin" in facts.inputs and components.scenario.ideal is None and not (facts.judge or facts.looks_at_the_rest):
        return (
            f"the ideal result of scenario {config.scenario.type!r} is not known, so no distance to it: measure what "
            "no instruction touches (`control_regions`), or leave it to a judge"
        )
    return None


def _edit_boxes_are_known(config: RunConfig, components: Components) -> str | None:
    looked = {f"evaluators.{name}": evaluator for name, evaluator in components.evaluators.items()}
    looked |= {truth_field(name): measure for name, measure in components.truths.items() if measure is not None}
    needing = [field for field, evaluator in looked.items() if "edit_boxes" in evaluator.facts.inputs]
    if not needing:
        return None
    scenario = components.scenario
    if hasattr(scenario, "restore"):  # told its instructions, and where they change something, turn by turn
        return None
    unknown = next((turn for turn in range(1, config.turns + 1) if scenario.instruction(turn).edit_boxes is None), None)
    if unknown is None:
        return None
    return (
        f"{needing[0]}: scenario {config.scenario.type!r} does not say where turn {unknown} changes the picture: give "
        "its `box`, or measure `control_regions`"
    )


def _enough_instructions(config: RunConfig, components: Components) -> str | None:
    length = components.scenario.length
    if length is not None and length < config.turns:
        return f"turns: the scenario has {counted(length, 'instruction')} for {counted(config.turns, 'turn')}"
    return None


_CHECKS: tuple[Callable[[RunConfig, Components], str | None], ...] = (
    _gate_reads,
    _gate_fits,
    _stable_scores,
    _retry_means_something,
    _chat_is_understood,
    _chain_is_long_enough,
    _money_can_be_counted,
    _keep_best_has_a_judge,
    _truth_can_be_known,
    _enough_instructions,
    _edit_boxes_are_known,
)


def _with_members(field: str, component: Any) -> Iterator[tuple[str, Any]]:
    """The component, and the members of one that is made of several."""
    yield field, component
    for name, member in getattr(component, "members", {}).items():
        yield from _with_members(f"{field}.members.{name}", member)


def _facts(evaluator: Evaluator) -> RecordedFacts:
    facts = asdict(evaluator.facts)
    facts["inputs"] = sorted(facts["inputs"])
    facts["range"] = [str(bound) if abs(bound) == float("inf") else bound for bound in facts["range"]]
    return RecordedFacts.model_validate(facts)
