"""Passes of the compiled core over a `MaseGraph`, and what they change written back to it."""

from __future__ import annotations

import functools
from typing import Any, Optional

import torch
from torch import fx

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.ir.graph.mase_metadata import MaseMetadata
from chop.nn.quantized import quantized_layer
from chop.tools.logger import get_logger
from mase.torch import change_model, round_tensor
from mase.torch._round import rounds

logger = get_logger(__name__)

# Operators that the Python MASE gives another class than the core does.
_TYPES = {"embedding": "implicit_func"}


def check_device(keys: Any) -> None:
    """Refuses devices that are not there."""
    if isinstance(keys, dict):
        device = keys.get("device", "cpu")
        if isinstance(device, (str, torch.device)) and not str(device).startswith("cpu"):
            raise mase.Error(f"device: '{device}' is not there, the CPU is; leave it out or give 'cpu'")
        for value in keys.values():
            check_device(value)


def without_device(keys: Optional[dict[str, Any]]) -> dict[str, Any]:
    """The arguments of a pass without its device, which is the CPU."""
    check_device(keys)
    return {key: value for key, value in (keys or {}).items() if key != "device"}


def run(graph: MaseGraph, name: str, keys: Optional[dict[str, Any]] = None, data: Optional[mase.Dataset] = None) -> mase.Report:
    """Runs a pass and takes its graph. A key that it does not know is an error."""
    keys = without_device(keys)
    core = graph.core.copy()
    report = core.apply(name, data=data, **keys)
    _check_functions(graph, core)
    graph.take(core)
    return report


def _check_functions(graph: MaseGraph, core: mase.Graph) -> None:
    """Refuses formats and masks of functions with parameters, which have no layer that could round or mask them."""
    functions = {node.name for node in graph.nodes if node.op == "call_function"}
    for node in core.nodes:
        if node.name in functions and node.parameters and (len(node.formats) or node.masks):
            raise mase.Error(
                f"{node.name} ({node.op}): the model computes it as a function of {', '.join(node.parameters)}, which can be neither "
                "rounded nor pruned; make it a layer such as torch.nn.Linear"
            )


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
    own = graph.state()
    with torch.no_grad():
        for name, value in core.parameters().items():
            new = torch.from_numpy((value.T if name in graph.transposed else value).copy())
            if name in own and not torch.equal(own[name], new):
                own[name].copy_(new)


def _set_layer(graph: MaseGraph, layer: torch.nn.Module, path: str, node: mase.Node) -> None:
    formats = dict(node.formats.items())
    if formats == getattr(layer, "formats", {}):
        return
    if formats:
        made = quantized_layer(layer, formats, node.type_name)
    else:
        made = object.__new__(layer.base)  # type: ignore[arg-type]
        made.__dict__ = {name: value for name, value in layer.__dict__.items() if name != "formats"}
    parent, _, name = path.rpartition(".")
    setattr(graph.model.get_submodule(parent), name, made)


def _mask(layer: torch.nn.Module, node: mase.Node) -> None:
    """Gives a layer the masks of its node, in place of those it had."""
    for key, hook in list(layer._forward_pre_hooks.items()):
        if isinstance(hook, Masks):
            hook.release()
            del layer._forward_pre_hooks[key]
    masks = {port: torch.from_numpy(mask.copy()) for port, mask in node.masks.items()}
    weights = {port: mask for port, mask in masks.items() if hasattr(layer, port)}
    with torch.no_grad():
        for port, mask in weights.items():
            parameter = getattr(layer, port)
            parameter.mul_(mask)
            if parameter.grad is not None:
                parameter.grad.mul_(mask)
    if masks:
        hook = Masks(weights, masks.get("data_in_0"), node.name)
        hook.hold(layer)
        layer.register_forward_pre_hook(hook)


class Masks:
    """A hook of a layer under which pruned weights stay zero while it trains, and pruned elements of its input are zero.

    The mask of an input has the shape of a row: rows of other lengths stay whole.
    """

    def __init__(self, weights: dict[str, torch.Tensor], inputs: Optional[torch.Tensor], name: str) -> None:
        self.weights, self.inputs, self.name = weights, inputs, name
        self._held: dict[str, tuple[torch.Tensor, Any]] = {}

    def hold(self, layer: torch.nn.Module) -> None:
        """Zeros the gradients of pruned weights; copies and files of a layer lose such hooks of its parameters."""
        for port, mask in self.weights.items():
            parameter = getattr(layer, port)
            if parameter.requires_grad and (port not in self._held or self._held[port][0] is not parameter):
                self._held[port] = parameter, parameter.register_hook(functools.partial(torch.mul, mask))

    def _zero(self, layer: torch.nn.Module) -> None:
        """Zeros pruned weights that an optimizer has moved by what it remembers of earlier gradients."""
        with torch.no_grad():
            for port, mask in self.weights.items():
                parameter = getattr(layer, port)
                if parameter[mask == 0].any():
                    parameter.mul_(mask)

    def release(self) -> None:
        """Lets gradients of pruned weights pass."""
        for _, handle in self._held.values():
            handle.remove()
        self._held.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": {}}

    def __call__(self, layer: torch.nn.Module, inputs: tuple[Any, ...]) -> Any:
        if not rounds():
            return inputs
        self.hold(layer)
        self._zero(layer)
        shape = inputs[0].shape[1:]
        if self.inputs is None or shape == self.inputs.shape:
            return inputs if self.inputs is None else (inputs[0] * self.inputs, *inputs[1:])
        logger.debug("%s: rows of shape %s have no mask, which has %s", self.name, tuple(shape), tuple(self.inputs.shape))
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
        kind = fresh["common"]["mase_type"]
        fresh["common"]["mase_type"] = _TYPES.get(fresh["common"]["mase_op"], kind)
        for part in ("args", "results"):
            known = meta.parameters["common"].get(part, {})
            for port, entry in fresh["common"].get(part, {}).items():
                entry["torch_dtype"] = getattr(torch, entry["torch_dtype"].replace("torch.", ""))
                if "value" in known.get(port, {}):
                    entry["value"] = known[port]["value"]
        meta.parameters["common"].update({**fresh["common"], "args": {}, "results": {}, **fresh["common"]})
        meta.parameters["software"].update({"args": {}, "results": {}, **fresh["software"]})
