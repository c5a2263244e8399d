"""Metadata of all nodes, from one input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import fx

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.ir.graph.mase_metadata import MaseMetadata
from chop.passes._core import run, without_device, write_metadata


def _keys(pass_args: Optional[dict[str, Any]], *known: str) -> dict[str, Any]:
    """The arguments of a pass; unknown ones are an error."""
    given = without_device(pass_args)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise mase.UnknownName(f"unknown key '{unknown[0]}' of pass_args; there are {', '.join(known) or 'none'}")
    return given


def take_example(graph: MaseGraph, keys: dict[str, Any]) -> None:
    """Makes `dummy_in`, if it is given, the inputs that metadata is made from."""
    example = keys.get("dummy_in")
    if example is None:
        return
    if not isinstance(example, Mapping):
        raise TypeError(f"dummy_in: expected a dict of inputs by name, got {type(example).__name__}")
    for name, value in example.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float32:
            raise TypeError(f"dummy_in: {name} is {value.dtype}, but networks compute in torch.float32; convert it with .float()")
    graph.dummy_in = dict(example)


def init_metadata_analysis_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """Gives every node empty metadata."""
    _keys(pass_args)
    for node in graph.fx_graph.nodes:
        node.meta["mase"] = MaseMetadata(node, graph.model)
    return graph, {}


def add_common_metadata_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Shapes, types and formats of every port from one input, `dummy_in`, and with `add_value` the values too."""
    keys = _keys(pass_args, "dummy_in", "add_value", "force_device_meta")
    take_example(graph, keys)
    write_metadata(graph)
    if keys.get("add_value", True):
        _add_values(graph)
    return graph, {}


class _Recorder(fx.Interpreter):
    """Runs a graph and keeps a copy of every value, which a layer that works in place would overwrite."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seen: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Runs a node."""
        result = super().run_node(n)
        self.seen[n] = result.detach().clone() if isinstance(result, torch.Tensor) else result
        return result


def _add_values(graph: MaseGraph) -> None:
    was_training = graph.model.training
    recorder = _Recorder(graph.model.eval())
    inputs = [value.clone() if isinstance(value, torch.Tensor) else value for value in graph.example_inputs()]
    with torch.no_grad():
        recorder.run(*inputs)
    graph.model.train(was_training)
    for node in graph.nodes:
        meta = node.meta["mase"]
        read = [recorder.seen[value] for value in node.all_input_nodes]
        state = dict(meta.module.named_parameters()) | dict(meta.module.named_buffers()) if meta.module is not None else {}
        common = meta.parameters["common"]
        for port, entry in common.get("args", {}).items():
            place = port.removeprefix("data_in_")
            entry["value"] = read[int(place)] if place.isdigit() and int(place) < len(read) else state.get(port)
        for entry in list(common.get("results", {}).values())[:1]:
            entry["value"] = recorder.seen[node]


def add_software_metadata_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """A place for the statistics of every port."""
    _keys(pass_args)
    write_metadata(graph)
    return graph, {}


def verify_common_metadata_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Checks every rule of the verifier."""
    _keys(pass_args)
    return graph, {"report": run(graph, "verify").text}


# The verifier has one set of rules, whichever part of the metadata is asked about.
verify_metadata_analysis_pass = verify_software_metadata_analysis_pass = verify_common_metadata_analysis_pass
