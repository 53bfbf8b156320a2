"""A node and a conditional edge for somebody else's LangGraph graph: the gate, over a run that is open."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from turngate.graphs.embedded.offered import NextStep, Offered
from turngate.graphs.work import ask_person

if TYPE_CHECKING:
    from turngate.graphs.embedded.opening import OpenRun

__all__ = ["GateState", "first_gate_state", "gate_node", "gate_route"]


class GateState(TypedDict):
    """What the node writes into your state: plain JSON, so any checkpointer can keep it."""

    turn: int
    """1-based turn that the next image is for."""
    attempt: int
    """1-based attempt within the turn."""
    next: NextStep
    verdict: str | None
    """`accept`, `reject` or `accept_masked` of the last image; None before there is one."""
    reason: str
    scores: dict[str, float | None]
    """Evaluator -> value of the last image; None where it gave no score."""
    current: str
    """Path of the standing image: what the next edit starts from."""


def first_gate_state(run: OpenRun) -> GateState:
    """Where the run stands: your graph's first input, also when the run goes on."""
    return _state(run, None)


def gate_node(
    run: OpenRun,
    *,
    image: str = "image",
    instruction: str | None = "instruction",
    reasoning: str | None = None,
    usage: str | None = None,
    model: str | None = None,
    gate: str = "gate",
    ask: bool = False,
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A node that offers an image of your state to `run` and writes the answer (`GateState`) back.

    It does nothing twice: when a checkpoint brings an image again that is recorded already, the recorded answer is
    written. For that your first input must hold `first_gate_state(run)`.

    Args:
        run: An open run.
        image: Key of your state that holds the candidate: path, bytes, image of Pillow, array, or None for no image.
        instruction: Key of the instruction; None where there is none.
        reasoning: Key of the model's own summary.
        usage: Key of tokens and cost, a mapping.
        model: Key of the model that answered.
        gate: Key that the answer is written to.
        ask: Where a person must decide, interrupt the graph (`langgraph.types.interrupt`) with the reason. Resume it
            with `Command(resume={"accept": True, "comment": "..."})`. Otherwise `next` is `review`.
    """

    keys = {"instruction": instruction, "reasoning": reasoning, "usage": usage, "model": model}

    def node(state: Mapping[str, Any]) -> dict[str, Any]:
        said: GateState | None = state.get(gate)
        answer = run.recorded(said["turn"], said["attempt"]) if said is not None else None
        if answer is None and run.status != "waiting":
            told: dict[str, Any] = {name: state.get(key) for name, key in keys.items() if key is not None}
            answer = run.offer(state[image], **told)
        if run.status == "waiting" and ask:
            answer = _asked(run)
        return {gate: _state(run, answer or run.last)}

    return node


def gate_route(
    go_on: Hashable, stop: Hashable, *, retry: Hashable = None, review: Hashable = None, gate: str = "gate"
) -> Callable[[Mapping[str, Any]], Hashable]:
    """A function for `add_conditional_edges`: the node that follows the answer.

    `retry` is `go_on` and `review` is `stop` where they are not given.
    """
    ways: dict[NextStep, Hashable] = {"go_on": go_on, "stop": stop, "retry": retry or go_on, "review": review or stop}

    def route(state: Mapping[str, Any]) -> Hashable:
        return ways[state[gate]["next"]]

    return route


def _asked(run: OpenRun) -> Offered:
    waiting = run.last
    question = {"turn": run.turn, "attempt": run.attempt, "reason": waiting.reason if waiting is not None else ""}
    said = ask_person(question)
    return run.review(said.accept, said.comment)


def _state(run: OpenRun, answer: Offered | None) -> GateState:
    if answer is not None:
        then: NextStep = answer.next
    else:
        then = "go_on" if run.status == "running" else "review" if run.status == "waiting" else "stop"
    return GateState(
        turn=run.turn,
        attempt=run.attempt,
        next=then,
        verdict=answer.verdict if answer is not None else None,
        reason=answer.reason if answer is not None else "",
        scores=dict(answer.scores) if answer is not None else {},
        current=str(run.current_path),
    )
