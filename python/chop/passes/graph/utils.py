"""Small questions about nodes."""

from __future__ import annotations

from typing import Any

from torch import fx

from chop.tools.utils import deepsetattr

__all__ = [
    "deepsetattr",
    "get_mase_op",
    "get_mase_type",
    "get_node_actual_target",
    "get_node_by_name",
    "get_parent_name",
]


def get_mase_op(node: fx.Node) -> str:
    """The operator of a node, `linear`."""
    return node.meta["mase"].parameters["common"]["mase_op"]  # type: ignore[no-any-return]


def get_mase_type(node: fx.Node) -> str:
    """The class that MASE gives a node, `module_related_func`."""
    return node.meta["mase"].parameters["common"]["mase_type"]  # type: ignore[no-any-return]


def get_node_actual_target(node: fx.Node) -> Any:
    """The module that a node calls, or its function, method or name."""
    return node.meta["mase"].module if node.op == "call_module" else node.target


def get_node_by_name(graph: fx.Graph, name: str) -> fx.Node:
    """The node with this name."""
    for node in graph.nodes:
        if node.name == name:
            return node
    raise KeyError(f"there is no node {name}")


def get_parent_name(target: str) -> tuple[str, str]:
    """The dotted name of a module's parent, and its own: `seq_blocks.2` is ("seq_blocks", "2")."""
    parent, _, name = target.rpartition(".")
    return parent, name
