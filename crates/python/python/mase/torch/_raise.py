"""The exported graph of a module, with its layers as layers again."""

from __future__ import annotations

import inspect
import operator
from typing import Any, Callable, Optional

import torch
from torch import fx, nn

from ._export import export_module
from ._round import without_rounding

Leaf = Callable[[nn.Module], bool]


def is_leaf(module: nn.Module) -> bool:
    """True for the layers of `torch.nn`, as `torch.fx` has it, and for those that round."""
    return hasattr(module, "formats") or module.__module__.startswith("torch.nn") and not isinstance(module, (nn.Sequential, nn.ModuleList))


def raise_modules(
    module: nn.Module,
    example_inputs: tuple[Any, ...],
    keywords: Optional[dict[str, Any]] = None,
    *,
    leaf: Leaf = is_leaf,
    free_axes: tuple[int, ...] = (0,),
) -> fx.GraphModule:
    """The exported graph of a module with leaf modules folded back into `call_module` nodes over the live modules.

    Names, targets and order are those of `torch.fx`; dropout and batch norm still switch with `train()` and `eval()`. The sizes of
    `free_axes` are read from the inputs, those of other axes are numbers.
    """
    with without_rounding():
        exported = export_module(module, example_inputs, keywords or {}, free_axes=free_axes)
    return _Raise(module, exported, leaf).graph_module()


class _Raise:
    def __init__(self, module: nn.Module, exported: Any, leaf: Leaf) -> None:
        self.module, self.exported = module, exported
        self.modules = {path: part for path, part in module.named_modules(remove_duplicate=False) if path and leaf(part)}
        specs = exported.graph_signature.input_specs
        self.stored = {spec.arg.name: spec.target for spec in specs if spec.target is not None}
        self.graph = fx.Graph(module)
        self.made: dict[fx.Node, Any] = {}
        self.runs = self._runs()

    def graph_module(self) -> fx.GraphModule:
        for node in self.exported.graph.nodes:
            self._add(node)
        self.graph.eliminate_dead_code()
        self.graph.lint()
        return fx.GraphModule(self.module, self.graph)

    def _call(self, node: fx.Node) -> Optional[tuple[str, str]]:
        """The call of a leaf module that an operator belongs to, and the path of the module."""
        stack = node.meta.get("nn_module_stack") or {}
        calls = [(call, path) for call, (path, _) in stack.items() if path in self.modules]
        return calls[0] if calls else None

    def _runs(self) -> dict[fx.Node, list[fx.Node]]:
        """The operators of each call of a leaf module, which follow one another."""
        runs: dict[fx.Node, list[fx.Node]] = {}
        last: Optional[list[fx.Node]] = None
        for node in self.exported.graph.nodes:
            call = self._call(node) if node.op == "call_function" else None
            if call is None:
                last = None
                continue
            if last is None or self._call(last[0]) != call:
                last = []
            last.append(node)
            runs[node] = last
        return runs

    def _add(self, node: fx.Node) -> None:
        if node.op == "placeholder":
            self._add_input(node)
        elif node.op == "get_attr":
            self.made[node] = self._attribute(node.target, operator.attrgetter(node.target)(self.exported.graph_module))
        elif node.op == "output":
            wanted = set(self.exported.graph_signature.user_outputs)
            results = [self._value(result) for result in node.args[0] if isinstance(result, fx.Node) and result.name in wanted]
            self.graph.output(results[0] if len(results) == 1 else tuple(results))
        elif node.target is torch.ops.aten._assert_tensor_metadata.default:
            pass
        elif node in self.runs:
            self._add_call(node, self.runs[node])
        else:
            self._add_function(node)

    def _add_input(self, node: fx.Node) -> None:
        if node.name not in self.stored:
            self.made[node] = self.graph.placeholder(node.name)
            return
        path = self.stored[node.name]
        constants = self.exported.constants
        own = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        value = None if path in own else constants.get(path)
        # Attributes are read where they are used, as torch.fx does.
        self.made[node] = lambda: self._attribute(path, value)

    def _attribute(self, path: str, value: Any) -> fx.Node:
        if value is not None:
            path = path.replace(".", "_")
            if not hasattr(self.module, path):
                self.module.register_buffer(path, value, persistent=False)
        return self.graph.get_attr(path)

    def _value(self, node: fx.Node) -> Any:
        made = self.made[node]
        return made() if callable(made) and not isinstance(made, fx.Node) else made

    def _add_call(self, node: fx.Node, run: list[fx.Node]) -> None:
        if node is not run[-1]:
            return
        inside, given = set(run), []
        for part in run:
            for read in part.all_input_nodes:
                value = self.made.get(read)
                is_tensor = isinstance(read.meta.get("val"), torch.Tensor)
                if read not in inside and is_tensor and isinstance(value, fx.Node) and value not in given:
                    given.append(value)
        call = self._call(node)
        assert call is not None, "a run belongs to the call of a leaf module"
        if len(given) == _required(self.modules[call[1]]):
            self.made[node] = self.graph.call_module(call[1], tuple(given))
        else:
            # What the module was given cannot be told from its operators, as in attention, which may be given one value thrice.
            for part in run:
                self._add_function(part)

    def _add_function(self, node: fx.Node) -> None:
        arguments = fx.node.map_arg(node.args, self._value), fx.node.map_arg(node.kwargs, self._value)
        self.made[node] = self.graph.create_node("call_function", node.target, *arguments, name=node.name)


def _required(module: nn.Module) -> int:
    """The number of arguments that a module must be given."""
    parameters = inspect.signature(module.forward).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds and parameter.default is inspect.Parameter.empty for parameter in parameters)
