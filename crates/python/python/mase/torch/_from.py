"""From PyTorch to a graph: a module is exported, and the core reads the program as it reads a `.pt2` file."""

from __future__ import annotations

import io
from typing import Any, Optional

import torch
from torch import fx, nn

from .. import Error, Graph
from .._core import import_program
from ._export import check_values, export_module
from ._round import without_rounding

# The modules that stand for the functions of a `torch.fx` graph, so that an exported program says which of them made a call. The
# mark keeps their names apart from those of a module's own methods.
_FUNCTIONS = "functions_of_the_graph.of_"


def from_torch(
    module: nn.Module,
    example_inputs: tuple[Any, ...],
    keywords: Optional[dict[str, Any]] = None,
    *,
    batch_axis: int = 0,
) -> Graph:
    """The graph of a module, exported by `torch.export`, with its weights. The first axis is that of the batch.

    Nodes are named by their place in the module: `seq_blocks.2` is `seq_blocks_2`. What cannot be mapped is one error with all
    operators, their number and the modules they were called in. Layers that round keep their formats.
    """
    if batch_axis != 0:
        raise Error(f"batch_axis: {batch_axis} is not the first axis; move it there with Tensor.movedim")
    if isinstance(module, fx.GraphModule):
        return from_fx(module, example_inputs)
    if isinstance(module, nn.Module):
        _check_weights(module)
    with without_rounding():
        program = export_module(module, example_inputs, keywords or {}, free_axes=(0,))
    rounded = {path for path, part in module.named_modules() if hasattr(part, "formats")}
    layers = {}
    for node in program.graph.nodes:
        run, path = _innermost(node)
        if path in rounded:
            layers[node.name] = run, path, path
    graph = _imported(type(module).__name__, program, layers)
    _keep_formats(graph, module)
    return graph


def _check_weights(module: nn.Module) -> None:
    for path, value in [*module.named_parameters(), *module.named_buffers()]:
        if value.is_meta:
            raise Error(f"{type(module).__name__}: {path} is on the device meta, so that it has no values; load weights first")


def from_fx(module: fx.GraphModule, example_inputs: tuple[Any, ...], *, name: Optional[str] = None) -> Graph:
    """The graph of a `torch.fx.GraphModule`, with the names of its nodes and its weights."""
    calls = _with_functions_as_modules(module)
    with without_rounding():
        program = export_module(calls, example_inputs, {}, free_axes=(0,))
    modules = [node for node in module.graph.nodes if node.op == "call_module"]
    runs: dict[str, dict[str, str]] = {}
    layers = {}
    for node in program.graph.nodes:
        run, path = _called(node, {str(call.target) for call in modules})
        if path.startswith(_FUNCTIONS):
            layers[node.name] = run, path[len(_FUNCTIONS) :], ""
        elif path:
            # The same module may be called several times.
            seen = runs.setdefault(path, {})
            names = [call.name for call in modules if call.target == path]
            own = seen.setdefault(run, names[min(len(seen), len(names) - 1)])
            layers[node.name] = run, own, path
    graph = _imported(name or module._get_name(), program, layers)
    _keep_formats(graph, module)
    return graph


class _Function(nn.Module):
    """A function or a method as a module."""

    def __init__(self, node: fx.Node) -> None:
        super().__init__()
        self.is_method, self.function = node.op == "call_method", node.target

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        """The result of the function."""
        if self.is_method:
            return getattr(arguments[0], str(self.function))(*arguments[1:], **keywords)
        return self.function(*arguments, **keywords)  # type: ignore[operator]


def _with_functions_as_modules(module: fx.GraphModule) -> Any:
    graph = fx.Graph()
    made: dict[fx.Node, Any] = {}
    parts: dict[str, Any] = {}
    for node in module.graph.nodes:
        if node.op in ("call_function", "call_method"):
            path = f"{_FUNCTIONS}{node.name}"
            parts[path] = _Function(node)
            arguments = fx.node.map_arg(node.args, made.__getitem__), fx.node.map_arg(node.kwargs, made.__getitem__)
            made[node] = graph.call_module(path, *arguments)
        else:
            made[node] = graph.node_copy(node, made.__getitem__)
            if node.op in ("call_module", "get_attr"):
                parts[node.target] = _part(module, node.target)
    made_of = fx.GraphModule(parts, graph, module._get_name())
    # Earlier versions of PyTorch forget which module made a call when they export a `GraphModule`, so that it becomes a plain one.
    plain = type(module._get_name(), (nn.Module,), {"forward": type(made_of).forward})()
    plain.__dict__.update(made_of.__dict__)
    return plain.train(module.training)


def _part(module: nn.Module, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _stack(node: fx.Node) -> list[tuple[str, str]]:
    """The runs of modules that a call belongs to, from the outside in, each with the path of the module."""
    stack = node.meta.get("nn_module_stack") or {}
    return [(run, path) for run, (path, _) in stack.items()]


def _innermost(node: fx.Node) -> tuple[str, str]:
    stack = _stack(node)
    return stack[-1] if stack else ("", "")


def _called(node: fx.Node, modules: set[str]) -> tuple[str, str]:
    """The outermost run of a module that a `torch.fx` graph calls."""
    found = (entry for entry in _stack(node) if entry[1] in modules or entry[1].startswith(_FUNCTIONS))
    return next(found, ("", ""))


def _imported(name: str, program: Any, layers: dict[str, tuple[str, str, str]]) -> Graph:
    """The graph of a program. Weights do not go through the bytes of the file: the core reads their memory."""
    check_values(name, program)
    tensors = program.state_dict
    try:
        program._state_dict = {path: _empty(value) for path, value in tensors.items()}
        file = io.BytesIO()
        torch.export.save(program, file)
    finally:
        program._state_dict = tensors
    arrays = {path: value.detach().float().contiguous().cpu().numpy() for path, value in tensors.items()}
    return import_program(name, file.getvalue(), arrays, layers)


def _empty(value: torch.Tensor) -> torch.Tensor:
    empty = torch.empty(0)
    return nn.Parameter(empty, requires_grad=False) if isinstance(value, nn.Parameter) else empty


def _keep_formats(graph: Graph, module: nn.Module) -> None:
    """Gives the nodes of layers that round their formats."""
    formats = {path: part.formats for path, part in module.named_modules() if hasattr(part, "formats")}
    for node in graph.nodes:
        for port, format in formats.get(node.target, {}).items():
            node.formats[port] = format
