"""The LangGraph machine: editor -> evaluators in parallel -> gate -> next attempt or end. Flat, on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from turngate.errors import UserError
from turngate.graphs.edit_step import edit
from turngate.graphs.masked_accept import decide
from turngate.graphs.measure_step import measure, measure_truths
from turngate.graphs.session import LoopContext, Session
from turngate.graphs.work import add_review, ask_person
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, ScoreRow, TruthRow

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["build_machine", "draw", "first_state", "mermaid", "scores_of", "step_limit", "truths_of"]


# State of the LangGraph machine: plain JSON and hashes, the same size at turn 100 as at turn 1.


def merge_scores(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Reducer: evaluators write side by side; the gate resets the channel with `Overwrite`."""
    return {**old, **new}


class ProgressChannels(TypedDict):
    """How far the run is."""

    turn: int
    """Turn that comes next, 1-based."""
    attempt: int
    """Attempt that comes next, 1-based."""
    image: str
    """SHA-256 of the current image."""
    image_turn: int
    """Turn that accepted it; 0 for the origin."""
    status: str
    """`running` until the run ends or waits."""


class LoopState(ProgressChannels):
    """Everything that travels along the edges."""

    candidate: dict[str, Any] | None
    """The editor's answer: an attempt row as JSON."""
    scores: Annotated[dict[str, Any], merge_scores]
    """Evaluator -> score row as JSON, for this attempt only."""
    truths: list[dict[str, Any]]
    """Truth rows as JSON, the leading one first; read by the gate node for the oracle and for the record."""


def state_of(progress: Progress) -> ProgressChannels:
    """The position as channels; without its lineage, which grows with the turns."""
    return ProgressChannels(
        turn=progress.turn,
        attempt=progress.attempt,
        image=progress.image,
        image_turn=progress.image_turn,
        status=progress.status,
    )


def first_state(progress: Progress) -> LoopState:
    """The machine's input for a run at `progress`."""
    return LoopState(**state_of(progress), candidate=None, scores={}, truths=[])


def position_of(state: LoopState, session: Session) -> Progress:
    """The position that the ledger stands at, which the state is at or behind.

    A checkpoint may be older than the ledger: a process can die between the two. What is recorded is not done again.
    Raises `UserError` when the state is ahead of the ledger: then it is a checkpoint of another run.
    """
    progress = session.progress
    if (state.get("turn", 0), state.get("attempt", 0)) > (progress.turn, progress.attempt):
        raise UserError(
            f"the checkpoint stands at turn {state['turn']}, attempt {state['attempt']}, and the ledger of "
            f"{session.info.run} at turn {progress.turn}, attempt {progress.attempt}: it is of another run, give this "
            "one a thread_id of its own"
        )
    return progress


def attempt_of(state: LoopState) -> AttemptRow:
    """The candidate's row."""
    return AttemptRow.model_validate(state["candidate"])


def scores_of(state: LoopState) -> list[ScoreRow]:
    """The score rows of this attempt."""
    return [ScoreRow.model_validate(row) for row in state["scores"].values()]


def truths_of(state: LoopState) -> list[TruthRow]:
    """The truth rows of this attempt, the leading one first."""
    return [TruthRow.model_validate(row) for row in state["truths"]]


STEPS_PER_ATTEMPT = 3
"""Super-steps of one attempt: editor, evaluators side by side, gate."""


def step_limit(turns: int, attempts_per_turn: int, attempts_budget: int | None = None) -> int:
    """`recursion_limit` for a run: its longest possible course and not one super-step more.

    LangGraph (1.2) wants one above the number of super-steps: it notices the end when it looks for the next one.
    """
    attempts = turns * attempts_per_turn
    if attempts_budget is not None:
        attempts = min(attempts, attempts_budget)
    return STEPS_PER_ATTEMPT * attempts + 1


def build_machine(
    checkpointer: Any = None, bound: LoopContext | None = None
) -> CompiledStateGraph[LoopState, LoopContext, LoopState, LoopState]:
    """Compile the machine. Run it with a `LoopContext` as context and `first_state(progress)` as input.

    With `bound` it has its context already, for servers that can give it none; its input is then any part of the state,
    for it goes on where the ledger stands. A checkpointer is optional and never the truth: the ledger is.
    """

    def with_context(node: Callable[[Any, LoopContext], Any]) -> Callable[..., Any]:
        if bound is not None:
            return lambda state: node(state, bound)

        def run(state: Any, runtime: Runtime[LoopContext]) -> Any:
            return node(state, runtime.context)

        return run

    graph = StateGraph(LoopState, context_schema=None if bound is not None else LoopContext)
    graph.add_node("editor", with_context(_editor))
    graph.add_node("evaluate", with_context(_evaluate))
    graph.add_node("truth", with_context(_truth))
    graph.add_node("gate", with_context(_gate))
    graph.add_edge(START, "editor")
    graph.add_conditional_edges("editor", with_context(_fan_out), ["evaluate", "truth", END])
    graph.add_edge("evaluate", "gate")
    graph.add_edge("truth", "gate")
    graph.add_conditional_edges("gate", _route, ["editor", END])
    return graph.compile(checkpointer=checkpointer, name="turngate")


class EvaluateTask(TypedDict):
    """What a `Send` gives to one evaluator."""

    candidate: dict[str, Any] | None
    name: str


def _editor(state: LoopState, context: LoopContext) -> dict[str, Any]:
    session = context.session
    progress = position_of(state, session)
    if progress.status != "running":  # the checkpoint is older than the end of the run
        return {**state_of(progress), "candidate": None}
    row = edit(session, progress)
    return {**state_of(progress), "candidate": row.model_dump(mode="json")}


def _fan_out(state: LoopState, context: LoopContext) -> list[Send] | str:
    if state["candidate"] is None:
        return END
    names = list(context.session.components.evaluators)
    return [
        *(Send("evaluate", {"candidate": state["candidate"], "name": name}) for name in names),
        Send("truth", state),
    ]


def _evaluate(state: EvaluateTask, context: LoopContext) -> dict[str, Any]:
    session, name = context.session, state["name"]
    attempt = AttemptRow.model_validate(state["candidate"])
    if session.has(attempt):
        return {}
    row = measure(session, attempt, name)
    return {"scores": {name: row.model_dump(mode="json")}}


def _truth(state: LoopState, context: LoopContext) -> dict[str, Any]:
    session, attempt = context.session, attempt_of(state)
    rows = () if session.has(attempt) else measure_truths(session, attempt)
    return {"truths": [row.model_dump(mode="json") for row in rows]}


def _gate(state: LoopState, context: LoopContext) -> dict[str, Any]:
    session = context.session
    progress = position_of(state, session)
    rows = attempt_of(state), scores_of(state), truths_of(state)
    after = decide(session, progress, *rows)
    if after.status == "waiting" and context.ask:
        at = {"turn": progress.turn, "attempt": progress.attempt, "image": rows[0].image}
        add_review(session, ask_person({**at, "reason": session.reason or ""}))
        after = decide(session, progress, *rows)
    return {**state_of(after), "candidate": None, "scores": Overwrite({}), "truths": []}


def _route(state: LoopState) -> str:
    # Only reads what the gate node wrote: an exception here, followed by a resume, would end the run as if finished.
    return "editor" if state["status"] == "running" else END


# Pictures of the machine: Mermaid text, and PNG or SVG by Graphviz, without network.


def mermaid() -> str:
    """The machine as Mermaid flowchart text."""
    return str(build_machine().get_graph().draw_mermaid())


def draw(kind: str) -> bytes:
    """The machine as `png` or `svg` bytes, laid out by the Graphviz that pygraphviz' wheels carry."""
    from pygraphviz import AGraph

    graph = build_machine().get_graph()
    drawing = AGraph(directed=True, rankdir="LR", fontname="Helvetica", dpi="144" if kind == "png" else "72")
    drawing.node_attr.update(shape="box", style="rounded", fontname="Helvetica")
    names = {"__start__": "start", "__end__": "end"}
    for node in graph.nodes:
        drawing.add_node(names.get(node, node), shape="oval" if node in names else "box")
    for edge in graph.edges:
        style = "dashed" if edge.conditional else "solid"
        drawing.add_edge(names.get(edge.source, edge.source), names.get(edge.target, edge.target), style=style)
    drawing.layout("dot")
    return bytes(drawing.draw(format=kind))
