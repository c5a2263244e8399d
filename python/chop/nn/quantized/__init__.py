"""Layers with number formats: subclasses of the classes of PyTorch, which round as the compiled core does."""

from __future__ import annotations

import functools
import json
from typing import Any, Callable, Optional

import torch
from torch import nn

import mase
from mase.torch import round_tensor, rounded_class
from mase.torch._rounded import round_layer
from chop.nn.layers import operator_of

# The suffix of a class for each name of a format in a config.
SUFFIXES = {
    "Integer": "integer",
    "Fixed": "fixed",
    "ScaleInteger": "scale_integer",
    "Binary": "binary",
    "BinaryScaling": "binary",
    "Ternary": "ternary",
    "MinifloatDenorm": "minifloat_denorm",
    "MinifloatIEEE": "minifloat_ieee",
    "Log": "log",
    "BlockFP": "block_fp",
    "BlockMinifloat": "block_minifloat",
    "BlockLog": "block_log",
    "MXInt": "mxint",
    "MXFP": "mxfp",
}


def formats_of(layer: nn.Module, config: dict[str, Any]) -> tuple[dict[str, mase.Format], str]:
    """The formats that a config gives the ports of a layer, as the pass `quantize` reads it, and the name of its class."""
    found = operator_of(layer)
    if found is None:
        raise mase.Error(f"{type(layer).__name__} is in no table of layers, so that it has no formats")
    op, attributes = found
    entries = ", ".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items())
    text = f'graph "layer" {{ x: {_input(op, attributes)} = placeholder\n y = {op}(x) {{ target = "y", {entries} }}\n return y }}'
    graph = mase.Graph(text)
    graph.apply("quantize", by="name", y={"config": config})
    return dict(graph["y"].formats.items()), graph["y"].type_name


def _input(op: str, attributes: dict[str, Any]) -> str:
    """A type of the layer's input; formats do not depend on its free sizes."""
    if op == "embedding":
        return "i64[N, 1]"
    if op == "layer_norm":
        return f"f32[N, {', '.join(map(str, attributes['normalized_shape']))}]"
    width = next((attributes[name] for name in ("in_features", "in_channels", "num_features") if name in attributes), 64)
    dimensions = 2 if op.endswith("2d") else 1 if op.endswith("1d") and op != "batch_norm1d" else 0
    return f"f32[{', '.join(['N', str(width), *['64'] * dimensions])}]"


class _Quantizers:
    """What rounds the operands of a layer, by the names of the Python MASE."""

    formats: dict[str, mase.Format]

    def _quantizer(self, port: str, rows: bool) -> Callable[[torch.Tensor], torch.Tensor]:
        format = self.formats.get(port)
        return (lambda x: x) if format is None else functools.partial(round_tensor, format=format, rows=rows)

    @property
    def x_quantizer(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Rounds an input."""
        return self._quantizer("data_in_0", True)

    @property
    def w_quantizer(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Rounds a weight: `layer.w_quantizer(layer.weight)` is what the layer computes with."""
        return self._quantizer("weight", False)

    @property
    def b_quantizer(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Rounds a bias."""
        return self._quantizer("bias", False)


def _restore(base: type, suffix: str, state: dict[str, Any]) -> Any:
    made: Any = object.__new__(quantized_class(base, suffix))
    made.__dict__.update(state)
    return made


def quantized_layer(layer: nn.Module, formats: dict[str, mase.Format], name: str) -> nn.Module:
    """A layer with formats that has the same parameters, of the class that has this name."""
    made: Any = round_layer(layer, formats, name)
    suffix = name.removeprefix(made.base.__name__)
    if suffix in SUFFIXES:
        made.__class__ = quantized_class(made.base, suffix)
    return made  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=None)
def quantized_class(base: type, suffix: str) -> type:
    """The class of layers in a format: `quantized_class(nn.Linear, "Integer")` is `LinearInteger`."""

    def __init__(self: Any, *arguments: Any, config: Optional[dict[str, Any]] = None, **keywords: Any) -> None:
        base.__init__(self, *arguments, **keywords)
        if config is None:
            raise TypeError(f"{base.__name__}{suffix}: config is missing; give its widths, {{'data_in_width': 8, …}}")
        self.config = dict(config)
        self.formats, _ = formats_of(self, {"name": SUFFIXES[suffix], **config})

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        # The class is made when it is asked for, so that it is pickled by what it is made of.
        return _restore, (base, suffix, {**self.__dict__})

    rounded = rounded_class(base, base.__name__ + suffix)
    own = {"__init__": __init__, "__reduce_ex__": __reduce_ex__, "__module__": __name__, "__doc__": rounded.__doc__}
    return type(base.__name__ + suffix, (_Quantizers, rounded), own)


def _refused_class(base: type) -> type:
    """A layer of residual signs: its name can be imported, as notebooks do, and making one says why it is not there."""
    name = base.__name__ + "BinaryResidualSign"

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        raise mase.Error(f"{name}: not in this package: sums of scaled signs are no number format here; see docs/python-from-mase.md")

    return type(name, (base,), {"base": base, "__init__": __init__, "__module__": __name__, "__doc__": "A layer that is not there."})


def all_classes(*bases: type) -> dict[str, type]:
    """The classes of some layers in every format, by their names."""
    made = {base.__name__ + suffix: quantized_class(base, suffix) for base in bases for suffix in SUFFIXES}
    return {**made, **{base.__name__ + "BinaryResidualSign": _refused_class(base) for base in bases}}
