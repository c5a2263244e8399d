"""Passes of the compiled core over a `MaseGraph`, and what they change written back to it."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import fx

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.ir.graph.mase_metadata import MaseMetadata
from chop.tools.logger import get_logger
from mase.torch import change_model, round_tensor
from mase.torch._round import rounds
from mase.torch._rounded import round_layer

logger = get_logger(__name__)


def check_device(keys: Any) -> None:
    """Refuses devices that are not there."""
    if isinstance(keys, dict):
        device = keys.get("device", "cpu")
        if isinstance(device, (str, torch.device)) and not str(device).startswith("cpu"):
            raise mase.Error(f"device: '{device}' is not there, the CPU is; leave it out or give 'cpu'")
        for value in keys.values():
            check_device(value)


def run(graph: MaseGraph, name: str, keys: Optional[dict[str, Any]] = None, data: Optional[mase.Dataset] = None) -> mase.Report:
    """Runs a pass and takes its graph. A key that it does not know is an error."""
    check_device(keys)
    core = graph.core.copy()
    report = core.apply(name, data=data, **(keys or {}))
    graph.take(core)
    return report


def example_rows(graph: MaseGraph) -> mase.Dataset:
    """The inputs that the metadata was made from, as a dataset."""
    inputs = {name: value for name, value in zip(graph.input_names, graph.example_inputs()) if name != "labels"}
    columns = {name: value.detach().numpy() for name, value in inputs.items()}
    first = next(iter(columns.values()))
    x = columns if len(columns) > 1 or first.dtype != "float32" else first
    rows = len(first)
    return mase.dataset("example", x=x, y=torch.zeros(rows, dtype=torch.int64).numpy(), rows=(rows, 0, 0))


def write_back(graph: MaseGraph) -> None:
    """Writes formats, masks and metadata of the compiled core to modules, functions and nodes."""
    core = graph.taken
    if graph.is_outdated:
        _rebuild(graph, core)
    else:
        _load_weights(graph, core)
    modules = graph.modules
    for node in graph.nodes:
        if node.op == "call_module" and node.name in core:
            _set_layer(graph, modules[str(node.target)], str(node.target), core[node.name])
            _mask(graph.model.get_submodule(str(node.target)), core[node.name])
        elif node.op == "call_function" and node.name in core:
            _set_function(node, core[node.name])
    graph.model.recompile()
    write_metadata(graph)


def _rebuild(graph: MaseGraph, core: mase.Graph) -> None:
    """Gives the model the nodes of a graph that a pass has changed."""
    graph.model = change_model(graph.model, graph.earlier, core)
    for node in graph.nodes:
        node.meta.setdefault("mase", MaseMetadata(node, graph.model)).model = graph.model
    _load_weights(graph, core)
    graph.is_outdated = False
    graph.made_of_present()


def _load_weights(graph: MaseGraph, core: mase.Graph) -> None:
    """Writes the weights that a pass has changed to the modules."""
    own = {**dict(graph.model.named_parameters()), **dict(graph.model.named_buffers())}
    with torch.no_grad():
        for name, value in core.parameters().items():
            new = torch.from_numpy(value.copy())
            if name in own and not torch.equal(own[name], new):
                own[name].copy_(new)


def _set_layer(graph: MaseGraph, layer: torch.nn.Module, path: str, node: mase.Node) -> None:
    formats = dict(node.formats.items())
    if formats == getattr(layer, "formats", {}):
        return
    if formats:
        made = round_layer(layer, formats, node.type_name)
    else:
        made = object.__new__(layer.base)  # type: ignore[arg-type]
        made.__dict__ = {name: value for name, value in layer.__dict__.items() if name != "formats"}
    parent, _, name = path.rpartition(".")
    setattr(graph.model.get_submodule(parent), name, made)


def _mask(layer: torch.nn.Module, node: mase.Node) -> None:
    """Zeros what a mask has pruned, and what would train it."""
    for hook in layer.__dict__.pop("mask_hooks", []):
        hook.remove()
    masks = {port: torch.from_numpy(mask.copy()) for port, mask in node.masks.items() if hasattr(layer, port)}
    layer.__dict__["mask_hooks"] = hooks = []
    activation = node.masks.get("data_in_0")
    if activation is not None:
        hooks.append(layer.register_forward_pre_hook(MaskedInput(torch.from_numpy(activation.copy()), node.name)))
    for port, mask in masks.items():
        parameter = getattr(layer, port)
        with torch.no_grad():
            parameter.mul_(mask)
        if parameter.requires_grad:
            hooks.append(parameter.register_hook(lambda gradient, mask=mask: gradient * mask))


class MaskedInput:
    """A hook that zeros pruned elements of a layer's input. A mask has the shape of a row: rows of other lengths stay whole."""

    def __init__(self, mask: torch.Tensor, name: str) -> None:
        self.mask, self.name = mask, name

    def __call__(self, layer: torch.nn.Module, inputs: tuple[Any, ...]) -> Any:
        shape = inputs[0].shape[1:]
        if not rounds():
            return inputs
        if shape == self.mask.shape:
            return (inputs[0] * self.mask, *inputs[1:])
        logger.debug("%s: rows of shape %s have no mask, which has %s", self.name, tuple(shape), tuple(self.mask.shape))
        return inputs


class RoundedFunction:
    """A function of tensors whose operands are rounded."""

    def __init__(self, function: Any, formats: dict[str, mase.Format], name: str) -> None:
        self.function, self.formats = function, formats
        self.__name__ = self.__qualname__ = name
        self.__module__ = "chop.passes"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        def rounded(place: int, value: Any) -> Any:
            format = self.formats.get(f"data_in_{place}")
            is_value = isinstance(value, torch.Tensor) and format is not None
            return round_tensor(value, format, rows=True) if is_value else value  # type: ignore[arg-type]

        result = self.function(*(rounded(place, value) for place, value in enumerate(arguments)), **keywords)
        format = self.formats.get("data_out_0")
        return result if format is None else round_tensor(result, format, rows=True)


def _set_function(node: fx.Node, core: mase.Node) -> None:
    function = getattr(node.target, "function", node.target)
    formats = dict(core.formats.items())
    node.target = RoundedFunction(function, formats, core.type_name) if formats else function


def write_metadata(graph: MaseGraph) -> None:
    """Writes the metadata of every node, beside what users have added."""
    core = graph.core
    batch = int(graph.example_inputs()[0].shape[0])
    names = {node.name for node in core.nodes}
    for node in graph.nodes:
        meta = node.meta.setdefault("mase", MaseMetadata(node, graph.model))
        meta.node, meta.model = node, graph.model
        if node.name not in names:
            # A size, or what is the value itself in evaluation.
            name = getattr(node.target, "__name__", str(node.target))
            meta.parameters["common"].update({"mase_type": "implicit_func", "mase_op": name, "args": {}, "results": {}})
            continue
        fresh = core[node.name].metadata(batch)
        for part in ("args", "results"):
            known = meta.parameters["common"].get(part, {})
            for port, entry in fresh["common"].get(part, {}).items():
                entry["torch_dtype"] = getattr(torch, entry["torch_dtype"].replace("torch.", ""))
                if "value" in known.get(port, {}):
                    entry["value"] = known[port]["value"]
        meta.parameters["common"].update({"args": {}, "results": {}, **fresh["common"]})
        meta.parameters["software"].update({"args": {}, "results": {}, **fresh["software"]})
