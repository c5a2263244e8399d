"""From a graph to PyTorch."""

from __future__ import annotations

import ast
import copy
from typing import Any, Optional

import torch
from torch import fx, nn

from .. import Error, Graph, Node
from ._functions import FUNCTIONS, Target
from ._round import Round
from ._rounded import round_layer

TYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}


def to_torch(graph: Graph) -> fx.GraphModule:
    """A `torch.fx.GraphModule` that computes what the graph does, over modules by their dotted names.

    Formats become layers that round, so that it trains in PyTorch with the gradients of the engine. Parameters start with the
    values of the graph, under the same names: `graph.load_parameters` takes them back.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"graph: expected a mase.Graph, got {type(graph).__name__}")
    made = _ToTorch(graph)
    for node in graph.nodes:
        made.add(node)
    module = fx.GraphModule(made.root, made.graph, graph.name)
    places = module.state_dict()
    unexpected = [path for path in made.state if path not in places]
    if unexpected:
        raise Error(f"{graph.name}: PyTorch has no place for {', '.join(unexpected)}")
    # The copies become the parameters themselves; shapes are those of the graph.
    state = {path: value.to(places[path].dtype) for path, value in made.state.items()}
    module.load_state_dict(state, strict=False, assign=True)
    return module


class _ToTorch(Target):
    def __init__(self, source: Graph) -> None:
        super().__init__({node.name for node in source.nodes})
        self.source, self.root = source, nn.Module()
        self.made: dict[str, fx.Node] = {}
        self.several = {node.name for node in source.nodes if node.op == "chunk"}
        self.state = {name: torch.from_numpy(value.copy()) for name, value in source.parameters().items()}

    def add(self, node: Node) -> None:
        """Adds a node."""
        inputs = [self._value(name) for name in node.inputs]
        self.made[node.name] = made = self._node(node, inputs)
        made.name = node.name
        if node.op == "placeholder" and self.batch is None and "N" in map(str, node.attributes["shape"]):
            self.batch = made, list(map(str, node.attributes["shape"])).index("N")

    def _value(self, name: str) -> fx.Node:
        """A result of a node: `relu`, or `chunk.1`, the second of several."""
        node, _, number = name.partition(".")
        return self.item(self.made[node], int(number or 0)) if node in self.several else self.made[node]

    def _node(self, node: Node, inputs: list[fx.Node]) -> fx.Node:
        if node.op == "placeholder":
            return self.graph.placeholder(node.name)
        if node.op == "output":
            return self.graph.output(inputs[0] if len(inputs) == 1 else tuple(inputs))
        if node.op == "constant":
            return self._stored(node)
        formats = dict(node.formats.items())
        if node.op in FUNCTIONS:
            for place, read in enumerate(inputs):
                inputs[place] = self._rounded(f"{node.name}_round_{place}", formats.get(f"data_in_{place}"), read)
            result = FUNCTIONS[node.op](self, inputs, node.attributes)
            return self._rounded(f"{node.name}_round_out", formats.get("data_out_0"), result)
        layer = layer_of(node)
        if formats:
            layer = round_layer(layer, formats, node.type_name)
        path = node.target or node.name
        parent, _, name = path.rpartition(".")
        _folder(self.root, parent).add_module(name, layer)
        return self.graph.call_module(path, tuple(inputs))

    def _stored(self, node: Node) -> fx.Node:
        path = node.target or node.name
        parent, _, name = path.rpartition(".")
        holder, attributes = _folder(self.root, parent), node.attributes
        kind = TYPES[attributes.get("dtype", "f32")]
        value = torch.zeros(attributes["shape"], dtype=kind)
        if kind == torch.float32 and attributes.get("trained", True):
            holder.register_parameter(name, nn.Parameter(value))
        else:
            holder.register_buffer(name, value)
        return self.graph.get_attr(path)

    def _rounded(self, name: str, format: Optional[Any], value: fx.Node) -> fx.Node:
        if format is None:
            return value
        self.root.add_module(name, Round(format, rows=True))
        return self.apart(self.graph.call_module(name, (value,)))


def change_model(model: fx.GraphModule, before: Graph, after: Graph) -> fx.GraphModule:
    """A model with the nodes that a graph of the same names has lost or won; the rest of it stays, its modules are shared."""
    made = _ToTorch(after)
    made.root, made.graph = model, model.graph
    made.made = {node.name: node for node in model.graph.nodes}
    made.names.update(made.made)
    earlier, later = ({node.name: node for node in graph.nodes} for graph in (before, after))
    for name in [name for name in earlier if name not in later and name in made.made]:
        gone = made.made.pop(name)
        gone.replace_all_uses_with(gone.args[0])
        model.graph.erase_node(gone)
    new: dict[fx.Node, str] = {}
    for node in [node for node in after.nodes if node.name not in earlier]:
        missing = [name for name in node.inputs if name.partition(".")[0] not in made.made]
        if missing:
            raise Error(f"{node.name}: it reads {missing[0]}, which the model has no node for")
        _own_copy(model, node.target.rpartition(".")[0])
        order = list(model.graph.nodes)
        last = max((made.made[name.partition(".")[0]] for name in node.inputs), key=order.index)
        with model.graph.inserting_after(last):
            made.add(node)
        new[made.made[node.name]] = node.name
    for name in [name for name in later if name in earlier]:
        for old, now in zip(earlier[name].inputs, later[name].inputs):
            if old in made.made and now in new.values():
                made.made[old].replace_all_uses_with(made.made[now], delete_user_cb=lambda user: user not in new)
    model.graph.lint()
    changed = fx.GraphModule(model, model.graph, type(model).__name__).train(model.training)
    names = [f"{later[name].target}." for name in new.values() if later[name].target]
    state = {path: value for path, value in made.state.items() if path.startswith(tuple(names))}
    changed.load_state_dict(state, strict=False)
    return changed


def _own_copy(model: nn.Module, path: str) -> None:
    """Replaces a layer that other models may share, so that it can be given parts. Its parameters stay shared."""
    parent, _, name = path.rpartition(".")
    holder = model.get_submodule(parent) if path else None
    layer = getattr(holder, name, None)
    if isinstance(layer, nn.Module) and not layer._modules:
        made = copy.copy(layer)
        made._modules = {}
        setattr(holder, name, made)


def _folder(root: nn.Module, path: str) -> nn.Module:
    """The module at a path, made where it is missing."""
    for name in filter(None, path.split(".")):
        if not hasattr(root, name):
            root.add_module(name, nn.Module())
        root = getattr(root, name)
    return root


def layer_of(node: Node) -> nn.Module:
    """The layer of PyTorch that a node is, without its parameters' values."""
    call = ast.parse(node.torch_repr, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise Error(f"{node.name} ({node.op}): PyTorch has no layer for it")
    arguments = [ast.literal_eval(argument) for argument in call.args]
    keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    return getattr(nn, call.func.id)(*arguments, **keywords)  # type: ignore[no-any-return]
