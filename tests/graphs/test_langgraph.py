"""turngate in somebody else's LangGraph graph, and the machine as one's own."""

from __future__ import annotations

import asyncio
import io
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest
import yaml
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from PIL import Image

from turngate import RunView, open_run
from turngate.graphs.config import RunConfig
from turngate.graphs.embedded import GateState, OpenRun, first_gate_state, gate_node, gate_route
from turngate.graphs.machine import LoopState, build_machine, first_state, step_limit
from turngate.graphs.runner import open_session
from turngate.graphs.session import LoopContext

Config = Callable[..., RunConfig]
ROOT = Path(__file__).parents[2]


class Mine(TypedDict):
    """State of somebody else's agent; its keys are its own."""

    wish: str
    made: bytes
    verdict: GateState


def edit(state: Mine) -> dict[str, Any]:
    """Stands for a model: JPEG, the worse the later."""
    buffer = io.BytesIO()
    quality = max(5, 90 - 25 * state["verdict"]["turn"])
    Image.open(state["verdict"]["current"]).convert("RGB").save(buffer, "JPEG", quality=quality)
    return {"made": buffer.getvalue()}


def agent(run: OpenRun, saver: Any = None, **options: Any) -> Any:
    graph = StateGraph(Mine)
    graph.add_node("edit", edit)
    gate: Any = gate_node(run, image="made", instruction="wish", gate="verdict", **options)
    graph.add_node("gate", gate)
    graph.add_edge(START, "edit")
    graph.add_edge("edit", "gate")
    graph.add_conditional_edges("gate", gate_route("edit", END, gate="verdict"))
    return graph.compile(checkpointer=saver)


def opened(folder: Path, **more: Any) -> OpenRun:
    gate = {"type": "threshold", "evaluator": "psnr", "at": 27}
    return open_run(folder, origin="skimage:astronaut", size=96, turns=4, evaluators=["psnr"], **{"gate": gate, **more})


def test_a_node_and_an_edge_for_a_graph_of_ones_own(tmp_path: Path) -> None:
    with opened(tmp_path / "run", on_reject={"attempts": 2}) as run:
        end = agent(run).invoke({"wish": "a hat", "made": b"", "verdict": first_gate_state(run)})
    view = RunView.load(tmp_path / "run")
    assert (view.status, end["verdict"]["next"], end["verdict"]["turn"]) == ("complete", "stop", 5)
    assert {one.decision.action for one in view.attempts} == {"accept", "retry", "skip"}
    assert {one.row.instruction for one in view.attempts} == {"a hat"}
    json.dumps({**end["verdict"]})


@pytest.mark.parametrize("dies_at", [1, 2, 3])
def test_a_checkpoint_before_the_gate_offers_nothing_twice(tmp_path: Path, dies_at: int) -> None:
    """The process dies between the run's ledger and the graph's checkpoint."""

    class Dies:
        def started(self, info: object, started_ns: int) -> None: ...
        def ended(self, status: str, reason: str | None, ended_ns: int) -> None: ...
        def attempt(self, record: Any) -> None:
            if record.attempt.turn == dies_at:
                raise KeyboardInterrupt

    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    with pytest.raises(KeyboardInterrupt), opened(tmp_path / "run", observers=[Dies()]) as run:
        agent(run, saver).invoke({"wish": "a hat", "made": b"", "verdict": first_gate_state(run)}, thread)
    with open_run(tmp_path / "run") as run:
        end = agent(run, saver).invoke(None, thread)
    with opened(tmp_path / "whole") as run:
        agent(run).invoke({"wish": "a hat", "made": b"", "verdict": first_gate_state(run)})
    died, whole = RunView.load(tmp_path / "run"), RunView.load(tmp_path / "whole")
    assert end["verdict"]["next"] == "stop"
    assert [(one.row.turn, one.row.image) for one in died.attempts] == [
        (one.row.turn, one.row.image) for one in whole.attempts
    ]


def test_a_person_answers_the_interrupt_of_a_node(tmp_path: Path) -> None:
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    asks = {"gate": "always_reject", "on_reject": {"then": "ask_human"}}
    with opened(tmp_path / "run", **asks) as run:
        graph = agent(run, saver, ask=True)
        got = graph.invoke({"wish": "a hat", "made": b"", "verdict": first_gate_state(run)}, thread)
        assert "waits for a person" in got["__interrupt__"][0].value["reason"]
        for accept in (True, False, True):
            got = graph.invoke(Command(resume={"accept": accept, "comment": "seen"}), thread)
        end = graph.invoke(Command(resume={"accept": True}), thread)
    assert end["verdict"]["next"] == "stop"
    assert [one.decision.action for one in RunView.load(tmp_path / "run").attempts] == [
        "accept", "skip", "accept", "accept",
    ]  # fmt: skip


STUDIO: dict[str, Any] = {
    "origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 3,
    "editor": {"type": "codec", "quality": 60}, "evaluators": ["psnr"], "gate": "always_accept",
}  # fmt: skip
ASKING = {"gate": {"type": "always_reject"}, "on_reject": {"then": "ask_human"}, "turns": 2}


def test_the_machine_interrupts_for_a_person(config: Config, tmp_path: Path) -> None:
    saver = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": step_limit(2, 1)}
    with open_session(tmp_path / "run", config(**ASKING)) as session:
        machine, context = build_machine(saver), LoopContext(session, ask=True)
        got = machine.invoke(first_state(session.progress), thread, context=context)
        (asked,) = got["__interrupt__"]
        assert (asked.value["turn"], session.status) == (1, "waiting")
        got = machine.invoke(Command(resume="yes"), thread, context=context)
        assert "Command" in got["__interrupt__"][0].value["problem"]
        machine.invoke(Command(resume={"accept": True, "comment": "fine"}), thread, context=context)
        machine.invoke(Command(resume={"accept": False}), thread, context=context)
    view = RunView.load(tmp_path / "run")
    assert (view.status, [one.decision.action for one in view.attempts]) == ("complete", ["accept", "skip"])


def test_the_machine_is_a_subgraph(config: Config, tmp_path: Path) -> None:
    """A graph whose state has the machine's channels takes it as a node."""

    class Parent(LoopState):
        said: str

    with open_session(tmp_path / "run", config(turns=3)) as session:
        graph = StateGraph(Parent, context_schema=LoopContext)
        graph.add_node("before", lambda state: {"said": "begin"})
        graph.add_node("loop", build_machine())
        graph.add_edge(START, "before")
        graph.add_edge("before", "loop")
        graph.add_edge("loop", END)
        first: Any = {**first_state(session.progress), "said": ""}
        end = graph.compile().invoke(first, {"recursion_limit": step_limit(3, 1) + 2}, context=LoopContext(session))
    assert (end["said"], end["status"], RunView.load(tmp_path / "run").status) == ("begin", "complete", "complete")


def test_the_machine_in_an_event_loop(config: Config, tmp_path: Path) -> None:
    async def work() -> list[str]:
        with open_session(tmp_path / "run", config(turns=2)) as session:
            limit: Any = {"recursion_limit": step_limit(2, 1)}
            context = LoopContext(session)
            stream = build_machine().astream(first_state(session.progress), limit, context=context)
            return [node async for part in stream for node in part]

    nodes = asyncio.run(work())
    assert nodes.count("gate") == 2 and RunView.load(tmp_path / "run").status == "complete"


def test_a_finished_run_has_nothing_to_do(config: Config, tmp_path: Path) -> None:
    for _ in range(2):
        with open_session(tmp_path / "run", config(turns=1)) as session:
            assert build_machine().invoke(first_state(session.progress), context=LoopContext(session))["turn"] == 2
    view = RunView.load(tmp_path / "run")
    assert [event.kind for event in view.events].count("started") == 1


def test_langgraph_json_opens_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file names is made as a server makes it: to be looked at, and to work on a run."""
    described = json.loads((ROOT / "langgraph.json").read_text())
    file, _, name = described["graphs"]["turngate"].partition(":")
    make = runpy.run_path(str(ROOT / file))[name]
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(STUDIO))

    async def work() -> tuple[set[str], str]:
        async with make({}) as machine:
            nodes = set(machine.get_graph().nodes)
        async with make({"configurable": {"turngate_config": str(tmp_path / "run.yaml")}}) as machine:
            end = await machine.ainvoke({"turn": 1})
        return nodes, end["status"]

    monkeypatch.chdir(tmp_path)
    nodes, status = asyncio.run(work())
    assert ({"editor", "evaluate", "truth", "gate"} <= nodes, status) == (True, "complete")
    assert RunView.load("runs/studio").status == "complete"
