"""The operators of a graph that are functions or methods of PyTorch."""

from __future__ import annotations

import operator
from typing import Any, Callable, Optional

import torch
from torch import fx
from torch.nn import functional as F

Attributes = dict[str, Any]


class Target:
    """A graph of `torch.fx` that grows."""

    def __init__(self, names: set[str]) -> None:
        self.graph = fx.Graph()
        self.names = names
        """The names that nodes have, or will have."""
        self.batch: Optional[tuple[fx.Node, int]] = None
        """An input with the batch, and its axis."""

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> fx.Node:
        """A call of a function."""
        return self.apart(self.graph.call_function(function, arguments, keywords))

    def method(self, method: str, *arguments: Any) -> fx.Node:
        """A call of a method."""
        return self.apart(self.graph.call_method(method, arguments))

    def apart(self, node: fx.Node) -> fx.Node:
        """A node with a name that no other has."""
        stem, number = node.name, 0
        while node.name in self.names:
            number += 1
            node.name = f"{stem}_part_{number}"
        self.names.add(node.name)
        return node

    def item(self, value: fx.Node, index: Any) -> fx.Node:
        """An element, or a part, of a value."""
        return self.call(operator.getitem, value, index)

    def sizes(self, shape: list[Any]) -> list[Any]:
        """A shape of a graph. What depends on the batch, `N` or `4*N`, is what is left, or counted where something else is."""
        free = [size for size in shape if not isinstance(size, int)]
        if -1 not in shape and len(free) == 1:
            return [size if isinstance(size, int) else -1 for size in shape]
        return [self.size(size) for size in shape]

    def size(self, word: Any) -> Any:
        """The size of an axis."""
        if isinstance(word, int) or self.batch is None:
            return word
        rows = self.method("size", *self.batch)
        factors = [int(factor) for factor in word.replace("N", "").split("*") if factor.strip()]
        return self.call(operator.mul, factors[0], rows) if factors else rows


Function = Callable[[Target, list[fx.Node], Attributes], fx.Node]


def _call(function: Callable[..., Any], *names: str, **fixed: Any) -> Function:
    """A function of the inputs whose further arguments have the names of attributes."""

    def call(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
        given = {name: attributes[name] for name in names if name in attributes}
        return target.call(function, *inputs, **fixed, **given)

    return call


def _pair(function: Callable[..., Any], bound: str = "") -> Function:
    """A function of two values, or of a value and a number, which may be a bound."""

    def call(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
        scalar = attributes.get("scalar")
        if scalar is None:
            return target.call(function, *inputs)
        # A number with a fraction would make integers floats.
        number = int(scalar) if float(scalar).is_integer() else scalar
        if bound:
            return target.call(torch.clamp, inputs[0], **{bound: number})
        return target.call(function, inputs[0], number)

    return call


def _reduction(function: Callable[..., Any]) -> Function:
    def call(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
        dim, keep = attributes.get("dim") or [], attributes.get("keepdim", False)
        if not dim and not keep:
            return target.call(function, inputs[0])
        return target.call(function, inputs[0], dim=tuple(dim), keepdim=keep)

    return call


def _prod(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    value, dims = inputs[0], attributes.get("dim") or []
    if not dims:
        return target.call(torch.prod, value)
    for dim in dims:
        value = target.call(torch.prod, value, dim=dim, keepdim=True)
    return value if attributes.get("keepdim", False) else target.call(torch.squeeze, value, dim=tuple(dims))


def _cat(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    return target.call(torch.cat, inputs, dim=attributes.get("dim", 0))


def _reshape(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    return target.method("reshape", inputs[0], *target.sizes(attributes["shape"]))


def _view(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    # What a layer makes lies in order, so that PyTorch can view it; of other values that is not known.
    method = "view" if inputs[0].op == "call_module" else "reshape"
    return target.method(method, inputs[0], *target.sizes(attributes["shape"]))


def _expand(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    return target.method("expand", inputs[0], *map(target.size, attributes["shape"]))


def _method(method: str, *names: str) -> Function:
    def call(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
        given = [attributes[name] for name in names]
        flat = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        return target.method(method, inputs[0], *flat)

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


def _gather(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    dim = attributes.get("dim", 0)
    before = [slice(None)] * dim if dim >= 0 else [Ellipsis]
    after = [slice(None)] * (-dim - 1) if dim < 0 else []
    return target.item(inputs[0], (*before, inputs[1], *after))


def _pad(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    mode = {"edge": "replicate"}.get(attributes.get("mode", "constant"), attributes.get("mode", "constant"))
    value = {"value": attributes.get("value", 0.0)} if mode == "constant" else {}
    return target.call(F.pad, inputs[0], attributes["pad"], mode=mode, **value)


def _upsample(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    mode = attributes.get("mode", "nearest")
    corners = {"align_corners": attributes.get("align_corners", False)} if mode == "bilinear" else {}
    return target.call(F.interpolate, inputs[0], size=attributes["output_size"], mode=mode, **corners)


def _attention(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    given = {name: attributes[name] for name in ("is_causal", "scale", "enable_gqa") if attributes.get(name)}
    return target.call(F.scaled_dot_product_attention, *inputs, **given)


def _to(target: Target, inputs: list[fx.Node], attributes: Attributes) -> fx.Node:
    kind = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}[attributes["dtype"]]
    return target.method("to", inputs[0], kind)


FUNCTIONS: dict[str, Function] = {
    # arithmetic
    "add": _pair(operator.add),
    "sub": _pair(operator.sub),
    "mul": _pair(operator.mul),
    "div": _pair(operator.truediv),
    "pow": _pair(operator.pow),
    "max": _pair(torch.maximum, bound="min"),
    "min": _pair(torch.minimum, bound="max"),
    "eq": _pair(operator.eq),
    "ne": _pair(operator.ne),
    "lt": _pair(operator.lt),
    "le": _pair(operator.le),
    "gt": _pair(operator.gt),
    "ge": _pair(operator.ge),
    "and": _call(torch.logical_and),
    "or": _call(torch.logical_or),
    "not": _call(torch.logical_not),
    "where": _call(torch.where),
    "matmul": _call(torch.matmul),
    "bmm": _call(torch.bmm),
    "scaled_dot_product_attention": _attention,
    # functions of an element
    "neg": _call(operator.neg),
    "abs": _call(torch.abs),
    "sqrt": _call(torch.sqrt),
    "rsqrt": _call(torch.rsqrt),
    "reciprocal": _call(torch.reciprocal),
    "exp": _call(torch.exp),
    "log": _call(torch.log),
    "erf": _call(torch.erf),
    "sin": _call(torch.sin),
    "cos": _call(torch.cos),
    "floor": _call(torch.floor),
    "ceil": _call(torch.ceil),
    "round": _call(torch.round),
    "sign": _call(torch.sign),
    # reductions
    "mean": _reduction(torch.mean),
    "sum": _reduction(torch.sum),
    "amax": _reduction(torch.amax),
    "amin": _reduction(torch.amin),
    "prod": _prod,
    "argmax": _call(torch.argmax, dim=-1),
    # elements moved about
    "flatten": _call(torch.flatten, "start_dim", "end_dim"),
    "reshape": _reshape,
    "view": _view,
    "transpose": _method("transpose", "dim0", "dim1"),
    "permute": _method("permute", "dims"),
    "expand": _expand,
    "cat": _cat,
    "chunk": _call(torch.chunk, "chunks", "dim"),
    "getitem": lambda target, inputs, attributes: target.item(inputs[0], _index(attributes["index"])),
    "gather": _gather,
    "pad": _pad,
    "roll": _call(torch.roll, "shifts", "dims"),
    "upsample": _upsample,
    "to": _to,
}
