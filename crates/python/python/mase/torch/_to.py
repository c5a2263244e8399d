"""From a graph to PyTorch."""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable

import torch
from torch import fx, nn
from torch.nn import functional as F

from .. import Error, Graph, Node
from ._round import Round
from ._rounded import round_layer


def _sizes(graph: fx.Graph, read: fx.Node, shape: list[Any]) -> list[Any]:
    """A shape of a graph. What depends on the batch, `N` or `4*N`, is what is left, or counted where something else is."""
    if -1 not in shape:
        return [size if isinstance(size, int) else -1 for size in shape]

    def size(word: Any) -> Any:
        if isinstance(word, int):
            return word
        rows = graph.call_method("size", (read, 0))
        factor = word.split("*")[0].strip() if "*" in word else "1"
        return rows if factor == "1" else graph.call_function(operator.mul, (int(factor), rows))

    return [size(word) for word in shape]


def _scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
        scalar = attributes.get("scalar")
        return graph.call_function(function, tuple(inputs) if scalar is None else (inputs[0], scalar))

    return call


def _call(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    def call(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
        keywords = {name: attributes[name] for name in names if name in attributes}
        return graph.call_function(function, tuple(inputs), keywords)

    return call


def _cat(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
    return graph.call_function(torch.cat, (inputs,), {"dim": attributes.get("dim", 0)})


def _shaped(method: str) -> Callable[..., Any]:
    def call(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
        return graph.call_method(method, (inputs[0], *_sizes(graph, inputs[0], attributes["shape"])))

    return call


def _method(method: str, *names: str) -> Callable[..., Any]:
    def call(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
        given = [attributes[name] for name in names]
        flat = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        return graph.call_method(method, (inputs[0], *flat))

    return call


def _index(text: str) -> tuple[Any, ...]:
    """The index that a text of Python's notation means, `:, 0, 2:5`."""

    def number(word: str) -> Any:
        return int(word) if word.strip() else None

    def part(word: str) -> Any:
        word = word.strip()
        if word == "...":
            return Ellipsis
        return slice(*(number(end) for end in word.split(":"))) if ":" in word else int(word)

    return tuple(part(word) for word in text.split(","))


def _getitem(graph: fx.Graph, inputs: list[fx.Node], attributes: dict[str, Any]) -> fx.Node:
    return graph.call_function(operator.getitem, (inputs[0], _index(attributes["index"])))


# Operators that are functions or methods.
_FUNCTIONS: dict[str, Callable[[fx.Graph, list[fx.Node], dict[str, Any]], fx.Node]] = {
    "add": _scalar(operator.add),
    "sub": _scalar(operator.sub),
    "mul": _scalar(operator.mul),
    "div": _scalar(operator.truediv),
    "matmul": _call(torch.matmul),
    "bmm": _call(torch.bmm),
    "mean": _call(torch.mean, "dim", "keepdim"),
    "argmax": lambda graph, inputs, _: graph.call_function(torch.argmax, (inputs[0],), {"dim": -1}),
    "scaled_dot_product_attention": _call(F.scaled_dot_product_attention, "is_causal", "scale"),
    "cat": _cat,
    "chunk": _call(torch.chunk, "chunks", "dim"),
    "flatten": _call(torch.flatten, "start_dim", "end_dim"),
    "reshape": _shaped("reshape"),
    "view": _shaped("reshape"),
    "transpose": _method("transpose", "dim0", "dim1"),
    "permute": _method("permute", "dims"),
    "getitem": _getitem,
}


def layer_of(node: Node) -> nn.Module:
    """The layer of PyTorch that a node is, without its parameters' values."""
    call = ast.parse(node.torch_repr, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise Error(f"{node.name} ({node.op}): PyTorch has no layer for it")
    arguments = [ast.literal_eval(argument) for argument in call.args]
    keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    return getattr(nn, call.func.id)(*arguments, **keywords)  # type: ignore[no-any-return]


def _place(root: nn.Module, path: str, module: nn.Module) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        if not hasattr(root, parent):
            root.add_module(parent, nn.Module())
        root = getattr(root, parent)
    root.add_module(name, module)


def to_torch(graph: Graph) -> fx.GraphModule:
    """A `torch.fx.GraphModule` that computes what the graph does, over modules by their dotted names.

    Formats become layers that round, so that it trains in PyTorch with the gradients of the engine. Parameters start with the
    values of the graph, under the same names: `graph.load_parameters` takes them back.
    """
    root, target = nn.Module(), fx.Graph()
    made: dict[str, fx.Node] = {}
    parameters = graph.parameters()
    for node in graph.nodes:
        made[node.name] = _add(target, root, node, [_value(target, made, graph, name) for name in node.inputs])
    module = fx.GraphModule(root, target, graph.name)
    state = {name: torch.from_numpy(value.copy()) for name, value in parameters.items()}
    _, unexpected = module.load_state_dict(state, strict=False)
    if unexpected:
        raise Error(f"{graph.name}: PyTorch has no place for {', '.join(unexpected)}")
    return module


def _value(target: fx.Graph, made: dict[str, fx.Node], graph: Graph, name: str) -> fx.Node:
    """A result of a node: `relu`, or `chunk.1`, the second of several."""
    node, _, number = name.partition(".")
    if graph[node].op != "chunk":
        return made[node]
    return target.call_function(operator.getitem, (made[node], int(number or 0)))


def _add(target: fx.Graph, root: nn.Module, node: Node, inputs: list[fx.Node]) -> fx.Node:
    formats = dict(node.formats.items())
    if node.op == "placeholder":
        return target.placeholder(node.name)
    if node.op == "output":
        return target.output(inputs[0] if len(inputs) == 1 else tuple(inputs))
    if node.op == "constant":
        value = torch.zeros(node.attributes["shape"])
        path = node.target or node.name
        *parents, name = path.split(".")
        holder = nn.Module()
        if parents:
            _place(root, ".".join(parents), holder)
        (holder if parents else root).register_parameter(name, nn.Parameter(value))
        return target.get_attr(path)
    if node.op in _FUNCTIONS:
        for place, read in enumerate(inputs):
            format = formats.get(f"data_in_{place}")
            if format is not None:
                name = f"{node.name}_round_{place}"
                root.add_module(name, Round(format, rows=True))
                inputs[place] = target.call_module(name, (read,))
        made = _FUNCTIONS[node.op](target, inputs, node.attributes)
        made.name = node.name
        return made
    layer = layer_of(node)
    if formats:
        layer = round_layer(layer, formats, node.type_name)
    path = node.target or node.name
    _place(root, path, layer)
    made = target.call_module(path, tuple(inputs))
    made.name = node.name
    return made
