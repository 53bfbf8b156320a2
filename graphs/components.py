"""The components of a run, built from its configuration and checked against each other before anything is paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from turngate.agent.editor import Editor
from turngate.agent.editors import EDITORS
from turngate.agent.gate import Gate
from turngate.agent.gates import GATES
from turngate.agent.scenario import Scenario
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Evaluator
from turngate.graphs.config import RunConfig
from turngate.registry import nearest
from turngate.traces.recorded import RecordedEditor, RecordedFacts, RecordedScenario, Resolved

__all__ = ["Components", "build_components"]


@dataclass(frozen=True)
class Components:
    """What acts and looks in one run."""

    editor: Editor
    evaluators: dict[str, Evaluator]
    gate: Gate
    scenario: Scenario
    truth: Evaluator | None
    """Evaluator that measures truth; None when there is no truth or the simulator records it."""

    def resolved(self) -> Resolved:
        """What the configuration's names resolve to, for run.json."""
        editor = self.editor
        return Resolved(
            editor=RecordedEditor(
                model=editor.model,
                stochastic=editor.stochastic,
                paid=editor.paid,
                provider=getattr(editor, "provider", None),
            ),
            simulated=editor.simulated,
            evaluators={name: _facts(evaluator) for name, evaluator in self.evaluators.items()},
            truth=_facts(self.truth) if self.truth else None,
            scenario=RecordedScenario(ideal=self.scenario.ideal),
        )


def build_components(config: RunConfig) -> Components:
    """Build every component; raises `ConfigError` or `MissingExtra` for what could not work together."""
    truth = config.truth
    components = Components(
        editor=EDITORS.build(config.editor),
        evaluators={name: EVALUATORS.build(item) for name, item in config.evaluators.items()},
        gate=GATES.build(config.gate),
        scenario=SCENARIOS.build(config.scenario),
        truth=EVALUATORS.build(truth.measure) if truth and truth.measure != "simulator" else None,
    )
    for check in _CHECKS:
        problem = check(config, components)
        if problem:
            raise ConfigError(problem)
    return components


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
        return f"turns: editor {config.editor.type!r} has images for {length} turns, not for {config.turns}"
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
    if config.truth is None:
        return None
    if components.truth is None and config.on_reject.then == "accept_masked":
        return "truth.measure: a simulator does not know how damaged a composite is: measure truth with an evaluator"
    if components.truth is None and not components.editor.simulated:
        return f"truth.measure: editor {config.editor.type!r} is no simulator and keeps no record of its damage"
    if components.truth is not None and components.truth.facts.paid:
        return (
            f"truth.measure: {components.truth.facts.name!r} costs money, which is counted for evaluators only: "
            "let it score as an evaluator, or give its verdicts to `turngate study --labels`"
        )
    if components.truth is not None and "origin" not in components.truth.facts.inputs:
        return (
            f"truth.measure: {components.truth.facts.name!r} does not compare with a reference and cannot measure truth"
        )
    if components.truth is not None and components.scenario.ideal is None:
        return (
            f"truth.measure: the ideal result of scenario {config.scenario.type!r} is not known, so no distance to it"
        )
    return None


def _enough_instructions(config: RunConfig, components: Components) -> str | None:
    length = components.scenario.length
    if length is not None and length < config.turns:
        return f"turns: the scenario has {length} instructions for {config.turns} turns"
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
)


def _facts(evaluator: Evaluator) -> RecordedFacts:
    facts = asdict(evaluator.facts)
    facts["inputs"] = sorted(facts["inputs"])
    facts["range"] = [str(bound) if abs(bound) == float("inf") else bound for bound in facts["range"]]
    return RecordedFacts.model_validate(facts)
