"""From PyTorch to a graph."""

from __future__ import annotations

import collections
import json
import operator
from typing import Any, Callable, Optional

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from .. import Error, Graph
from ._layers import LAYERS, operator_of
from ._raise import raise_modules

_TYPES = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool"}
# What is the value itself in evaluation.
_SAME = {"contiguous", "clone", "detach", "detach_", "alias", "dropout", "dropout_", "lift_fresh_copy", "feature_dropout", "to", "_to_copy"}
_PLAIN = {"relu", "relu6", "hardswish", "hardsigmoid", "sigmoid", "tanh", "silu", "selu", "softsign", "matmul", "bmm"}
_ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "truediv": "div", "iadd": "add", "imul": "mul"}
_RESHAPES = {"view", "reshape", "unsqueeze", "squeeze", "unflatten", "_unsafe_view"}


class _Unknown(Exception):
    """An operator that is in no table."""


def from_torch(module: nn.Module, example_inputs: tuple[Any, ...], *, batch_axis: int = 0) -> Graph:
    """The graph of a module, exported by `torch.export`, with its weights. The first axis is that of the batch.

    Nodes are named by their place in the module: `seq_blocks.2` is `seq_blocks_2`. What cannot be mapped is one error with all
    operators, their number and the modules they were called in.
    """
    if batch_axis != 0:
        raise Error(f"batch_axis: {batch_axis} is not the first axis; move it there with Tensor.movedim")
    raised = raise_modules(module, example_inputs, leaf=lambda part: type(part) in LAYERS)
    return from_fx(raised, example_inputs, name=type(module).__name__)


def from_fx(module: fx.GraphModule, example_inputs: tuple[Any, ...], *, name: Optional[str] = None) -> Graph:
    """The graph of a `torch.fx.GraphModule`, with the names of its nodes and its weights."""
    was_training = module.training
    with torch.no_grad():
        ShapeProp(module.eval()).propagate(*example_inputs)
    module.train(was_training)
    return _Builder(module, example_inputs).build(name or module._get_name())


class _Builder:
    def __init__(self, module: fx.GraphModule, example_inputs: tuple[Any, ...]) -> None:
        self.module = module
        self.modules = dict(module.named_modules(remove_duplicate=False))
        self.owners: dict[int, str] = {}
        self.batch = int(example_inputs[0].shape[0])
        self.lines: list[str] = []
        self.values: dict[fx.Node, str] = {}
        self.parameters: dict[str, Any] = {}
        self.unknown: dict[tuple[str, str], int] = collections.Counter()

    def build(self, name: str) -> Graph:
        for node in self.module.graph.nodes:
            try:
                self._add(node)
            except _Unknown:
                stack = node.meta.get("nn_module_stack") or {}
                path = next((path for path, _ in reversed(list(stack.values())) if path), "the module itself")
                self.unknown[_name(node), path] += 1
                self.values[node] = node.name
        if self.unknown:
            listing = "; ".join(f"{what}, {count} times in {path}" for (what, path), count in self.unknown.items())
            raise Error(f"{name} has operators that no table maps: {listing}")
        text = f"graph {json.dumps(name)} {{\n" + "\n".join(self.lines) + "\n}\n"
        return Graph(text, {path: value.detach().float().contiguous().numpy() for path, value in self.parameters.items()})

    def _add(self, node: fx.Node) -> None:
        if node.op == "placeholder":
            self._add_input(node)
        elif node.op == "output":
            results = node.args[0]
            results = list(results.values()) if isinstance(results, dict) else results
            results = results if isinstance(results, (tuple, list)) else (results,)
            self.lines.append("  return " + ", ".join(self.values[result] for result in results))
        elif node.op == "get_attr":
            value = operator.attrgetter(node.target)(self.module)
            self.parameters[node.target] = value
            self._emit(node, "constant", [], {"target": node.target, "shape": list(value.shape), "init_std": 0.0})
        elif node.op == "call_module":
            self._add_layer(node)
        elif "tensor_meta" in node.meta:
            self._add_function(node)
        # What is no tensor is a size, which shapes have already.

    def _add_input(self, node: fx.Node) -> None:
        meta = node.meta["tensor_meta"]
        if meta.dtype not in _TYPES:
            raise Error(f"{node.name}: inputs are float32, int64 or bool, got {meta.dtype}")
        sizes = ["N", *(str(int(size)) for size in meta.shape[1:])]
        self.values[node] = node.name
        self.lines.append(f"  {node.name}: {_TYPES[meta.dtype]}[{', '.join(sizes)}] = placeholder")

    def _add_layer(self, node: fx.Node) -> None:
        layer = self.modules[node.target]
        found = operator_of(layer)
        if found is None:
            raise _Unknown
        op, attributes = found
        state = dict(layer.named_parameters(recurse=False)) | dict(layer.named_buffers(recurse=False))
        if state and self.owners.setdefault(id(layer), node.name) != node.name:
            raise Error(f"{node.target} is called more than once, and weights belong to one node; give each call a layer of its own")
        for name, value in state.items():
            if name != "num_batches_tracked":
                self.parameters[f"{node.target}.{name}"] = value
        self._emit(node, op, [self.values[node.args[0]]], {"target": node.target, **attributes})

    def _emit(self, node: fx.Node, op: str, inputs: list[str], attributes: dict[str, Any]) -> None:
        entries = ", ".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items())
        call = op if op == "constant" else f"{op}({', '.join(inputs)})"
        self.values[node] = node.name
        self.lines.append(f"  {node.name} = {call}" + (f" {{ {entries} }}" if entries else ""))

    def _add_function(self, node: fx.Node) -> None:
        name = _name(node)
        arguments = [*node.args]
        read = self.values.get(arguments[0]) if isinstance(arguments[0], fx.Node) else None
        if name in _SAME and read is not None:
            self.values[node] = read
        elif name in _PLAIN:
            inputs = [self.values[value] for value in arguments if isinstance(value, fx.Node)]
            self._emit(node, name, inputs, {})
        elif name in _ARITHMETIC and read is not None:
            self._add_arithmetic(node, _ARITHMETIC[name], arguments)
        elif name in _RESHAPES and read is not None:
            shape = list(node.meta["tensor_meta"].shape)
            self._emit(node, "reshape", [read], {"shape": [-1 if shape[0] == self.batch else shape[0], *shape[1:]]})
        elif name == "cat":
            inputs = [self.values[value] for value in arguments[0]]
            self._emit(node, "cat", inputs, {"dim": _argument(node, 1, "dim", 0)})
        elif name in _CALLS and read is not None:
            op, attributes = _CALLS[name](node)
            self._emit(node, op, [read], attributes)
        else:
            raise _Unknown

    def _add_arithmetic(self, node: fx.Node, op: str, arguments: list[Any]) -> None:
        left, right = arguments[0], arguments[1]
        if isinstance(right, fx.Node):
            self._emit(node, op, [self.values[left], self.values[right]], {})
        else:
            self._emit(node, op, [self.values[left]], {"scalar": float(right)})


def _name(node: fx.Node) -> str:
    """The plain name of a function, a method or an operator of ATen: `relu` for all of them."""
    # A function whose operands are rounded is called by the name of the function.
    target = getattr(node.target, "function", node.target)
    if isinstance(target, str):
        return target.rstrip("_")
    schema = getattr(target, "_schema", None)
    name = schema.name.split("::")[-1] if schema is not None else getattr(target, "__name__", str(target))
    return name.rstrip("_") if not name.startswith("_") else name


def _argument(node: fx.Node, place: int, name: str, default: Any) -> Any:
    if len(node.args) > place:
        return node.args[place]
    return node.kwargs.get(name, default)


def _pair(value: Any) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * 2 if len(values) == 1 else values


def _axes(value: Any) -> list[int]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _max_pool(node: fx.Node) -> tuple[str, dict[str, Any]]:
    kernel = _pair(_argument(node, 1, "kernel_size", 1))
    stride = _argument(node, 2, "stride", None)
    return "max_pool2d", {"kernel_size": kernel, "stride": _pair(stride) if stride else kernel, "padding": _pair(_argument(node, 3, "padding", 0))}


def _slice(node: fx.Node) -> tuple[str, dict[str, Any]]:
    dim, start, end = _argument(node, 1, "dim", 0), _argument(node, 2, "start", 0), _argument(node, 3, "end", None)
    last = "" if end is None or end > 2**40 else end
    return "getitem", {"index": ", ".join([":"] * dim + [f"{start or ''}:{last}"])}


def _index_text(index: Any) -> str:
    def part(item: Any) -> str:
        if isinstance(item, slice):
            return f"{'' if item.start is None else item.start}:{'' if item.stop is None else item.stop}"
        if item is Ellipsis:
            return "..."
        if isinstance(item, int):
            return str(item)
        raise _Unknown

    return ", ".join(part(item) for item in (index if isinstance(index, tuple) else (index,)))


# Functions of one value whose arguments are attributes.
_CALLS: dict[str, Callable[[fx.Node], tuple[str, dict[str, Any]]]] = {
    "flatten": lambda node: ("flatten", {"start_dim": _argument(node, 1, "start_dim", 0), "end_dim": _argument(node, 2, "end_dim", -1)}),
    "transpose": lambda node: ("transpose", {"dim0": node.args[1], "dim1": node.args[2]}),
    "permute": lambda node: ("permute", {"dims": _axes(node.args[1]) if len(node.args) == 2 else list(node.args[1:])}),
    "mean": lambda node: ("mean", {"dim": _axes(_argument(node, 1, "dim", [])), "keepdim": _argument(node, 2, "keepdim", False)}),
    "softmax": lambda node: ("softmax", {"dim": _argument(node, 1, "dim", -1)}),
    "log_softmax": lambda node: ("log_softmax", {"dim": _argument(node, 1, "dim", -1)}),
    "gelu": lambda node: ("gelu", {"approximate": _argument(node, 1, "approximate", "none")}),
    "hardtanh": lambda node: ("hardtanh", {"min_val": _argument(node, 1, "min_val", -1.0), "max_val": _argument(node, 2, "max_val", 1.0)}),
    "elu": lambda node: ("elu", {"alpha": _argument(node, 1, "alpha", 1.0)}),
    "adaptive_avg_pool2d": lambda node: ("adaptive_avg_pool2d", {"output_size": _pair(node.args[1])}),
    "max_pool2d": _max_pool,
    "select": lambda node: ("getitem", {"index": ", ".join([":"] * node.args[1] + [str(node.args[2])])}),
    "slice": _slice,
    "getitem": lambda node: ("getitem", {"index": _index_text(node.args[1])}),
}
