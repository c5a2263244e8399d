"""Graphs and metadata in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Union

import mase
from chop import _refused
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run, write_back

__all__ = [
    "load_mase_graph_interface_pass",
    "load_node_meta_param_interface_pass",
    "save_mase_graph_interface_pass",
    "save_node_meta_param_interface_pass",
]

Place = Union[str, Path]


def save_mase_graph_interface_pass(graph: MaseGraph, pass_args: Place) -> tuple[MaseGraph, dict[str, Any]]:
    """Writes `graph.mz`, with weights and formats, to a folder."""
    folder = Path(pass_args)
    folder.mkdir(parents=True, exist_ok=True)
    graph.core.save(folder / "graph.mz")
    return graph, {}


def load_mase_graph_interface_pass(graph: MaseGraph, pass_args: Place) -> tuple[MaseGraph, dict[str, Any]]:
    """Takes the weights and formats of the `graph.mz` in a folder."""
    core = mase.load(Path(pass_args) / "graph.mz")
    names = [node.name for node in graph.core.nodes]
    if [node.name for node in core.nodes] != names:
        raise mase.Error(f"{pass_args}: graph.mz has other nodes than the graph")
    state = {name: value.copy() for name, value in core.parameters().items()}
    _load(graph, state)
    graph.take(core)
    write_back(graph)
    return graph, {}


def _load(graph: MaseGraph, state: dict[str, Any]) -> None:
    import torch

    graph.model.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)


def save_node_meta_param_interface_pass(graph: MaseGraph, pass_args: Place) -> tuple[MaseGraph, dict[str, Any]]:
    """Writes the metadata of all nodes as TOML."""
    path = Path(pass_args)
    (content,) = run(graph, "save_node_meta_param", {"path": str(path)}).files.values()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return graph, {}


def load_node_meta_param_interface_pass(graph: MaseGraph, pass_args: Place) -> tuple[MaseGraph, dict[str, Any]]:
    """Takes the formats and statistics of a file of metadata."""
    run(graph, "load_node_meta_param", {"path": str(pass_args)})
    write_back(graph)
    return graph, {}


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
