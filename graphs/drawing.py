"""Pictures of the machine: Mermaid text, and PNG or SVG by Graphviz, without network."""

from __future__ import annotations

from turngate.graphs.machine import build_machine

__all__ = ["draw", "mermaid"]


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
