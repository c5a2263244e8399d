"""Small questions about nodes."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, Optional

from torch import fx, nn

from chop.tools.utils import deepgetattr, deepsetattr

if TYPE_CHECKING:
    from chop.ir.graph.mase_graph import MaseGraph

__all__ = [
    "deepcopy_mase_graph",
    "deepgetattr",
    "deepsetattr",
    "get_mase_op",
    "get_mase_type",
    "get_module_by_name",
    "get_node_actual_target",
    "get_node_by_name",
    "get_node_target_by_name",
    "get_parent_name",
    "get_similar_node_actual_target",
    "match_a_pattern",
]


def deepcopy_mase_graph(mase_graph: MaseGraph) -> MaseGraph:
    """A copy of a graph with modules and metadata of its own."""
    return copy.deepcopy(mase_graph)


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


def get_node_target_by_name(graph: MaseGraph, name: str) -> Any:
    """The module, function, method or name that the node of this name calls."""
    return get_node_actual_target(get_node_by_name(graph.fx_graph, name))


def get_similar_node_actual_target(graph: Optional[MaseGraph], node: fx.Node) -> Any:
    """The target of the node of the same name in another graph; nothing where there is none."""
    names = {} if graph is None else {other.name: other for other in graph.nodes}
    return get_node_actual_target(names[node.name]) if node.name in names else None


def get_module_by_name(model: nn.Module, name: str) -> Optional[nn.Module]:
    """The module of a dotted name; nothing where there is none."""
    return dict(model.named_modules()).get(name)


def match_a_pattern(name: str, patterns: list[str]) -> Optional[str]:
    """The first regular expression that is a whole name."""
    return next((pattern for pattern in patterns if re.fullmatch(pattern, name)), None)


def get_parent_name(target: str) -> tuple[str, str]:
    """The dotted name of a module's parent, and its own: `seq_blocks.2` is ("seq_blocks", "2")."""
    parent, _, name = target.rpartition(".")
    return parent, name
