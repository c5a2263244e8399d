"""Layers of PyTorch whose operands are rounded: subclasses of the layer's own class."""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Optional, Union

import torch
from torch import nn
from torch.nn import functional as F

from .. import Format
from ._round import round_tensor, rounds


def _linear(layer: Any, x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    return F.linear(x, weight, bias)


def _conv(layer: Any, x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    return layer._conv_forward(x, weight, bias)  # type: ignore[no-any-return]


def _layer_norm(layer: Any, x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    return F.layer_norm(x, layer.normalized_shape, weight, bias, layer.eps)


def _embedding(layer: Any, x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    return F.embedding(x, weight)


def _batch_norm(layer: Any, x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    """The formats of weight and bias apply to what a batch norm computes, `y = x·scale + shift`."""
    if layer.training:
        axes = [axis for axis in range(x.dim()) if axis != 1]
        with torch.no_grad():
            # Moves the running statistics, which evaluation reads.
            F.batch_norm(x, layer.running_mean, layer.running_var, training=True, momentum=layer.momentum)
        mean, variance = x.mean(axes), x.var(axes, unbiased=False)
    else:
        mean, variance = layer.running_mean, layer.running_var
    scale = layer.weight / torch.sqrt(variance + layer.eps)
    shift = layer.bias - mean * scale
    shape = [1, -1] + [1] * (x.dim() - 2)
    formats = layer.formats
    scale = _rounded(scale, formats.get("weight"))
    shift = _rounded(shift, formats.get("bias"))
    return x * scale.reshape(shape) + shift.reshape(shape)


def _rounded(tensor: Any, format: Optional[Format], *, rows: bool = False) -> Any:
    return tensor if tensor is None or format is None else round_tensor(tensor, format, rows=rows)


# The layers with parameters: what they compute of rounded operands.
_COMPUTE: dict[type, Callable[[Any, torch.Tensor, Any, Any], torch.Tensor]] = {
    nn.Linear: _linear,
    nn.Conv1d: _conv,
    nn.Conv2d: _conv,
    nn.LayerNorm: _layer_norm,
    nn.Embedding: _embedding,
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
}


class Rounded:
    """A layer with number formats on its ports. `formats` has them by port: `data_in_0`, `weight`, `bias`, `data_out_0`."""

    formats: dict[str, Format]
    base: type

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer over rounded operands."""
        if not rounds():
            return self.base.forward(self, x)  # type: ignore[attr-defined, no-any-return]
        x = _rounded(x, self.formats.get("data_in_0"), rows=True)
        compute = _COMPUTE.get(self.base)
        if compute is None:
            y = self.base.forward(self, x)  # type: ignore[attr-defined]
        elif compute is _batch_norm:
            y = compute(self, x, None, None)
        else:
            weight, bias = getattr(self, "weight", None), getattr(self, "bias", None)
            y = compute(self, x, _rounded(weight, self.formats.get("weight")), _rounded(bias, self.formats.get("bias")))
        return _rounded(y, self.formats.get("data_out_0"), rows=True)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # The class is made when it is asked for, so that it is pickled by what it is made of.
        return _restore, (self.base, type(self).__name__, {**self.__dict__})

    def operands(self) -> dict[str, torch.Tensor]:
        """The parameters as the layer computes with them."""
        parameters = dict(self.named_parameters(recurse=False))  # type: ignore[attr-defined]
        return {name: _rounded(value, self.formats.get(name)).detach() for name, value in parameters.items()}


def _restore(base: type, name: str, state: dict[str, Any]) -> Any:
    made = object.__new__(rounded_class(base, name))
    made.__dict__.update(state)
    return made


@functools.lru_cache(maxsize=None)
def rounded_class(base: type, name: str) -> type:
    """The class of rounded layers over a class of PyTorch: `rounded_class(nn.Linear, "LinearInteger")`."""
    return type(name, (Rounded, base), {"base": base, "__module__": __name__, "__doc__": f"{base.__name__} with rounded operands."})


def round_layer(layer: nn.Module, formats: Mapping[str, Union[Format, str]], name: Optional[str] = None) -> nn.Module:
    """A layer with formats that has the same parameters."""
    base = getattr(layer, "base", type(layer))
    made = _restore(base, name or f"Rounded{base.__name__}", layer.__dict__)
    made.formats = {port: Format(format) if isinstance(format, str) else format for port, format in formats.items()}
    return made  # type: ignore[no-any-return]
