"""The cost of one layer, counted by the compiled core."""

from __future__ import annotations

import json
from typing import Any, Union

import torch

import mase
from chop.nn.layers import operator_of

Data = Union[list[torch.Tensor], tuple[torch.Tensor, ...]]


def calculate_modules(module: torch.nn.Module, in_data: Data, out_data: Data) -> dict[str, Any]:
    """Operations, parameters and sizes of a layer: `computations`, `total_parameters`, `input_buffer_size` and others."""
    found = operator_of(module)
    if found is None:
        raise mase.Error(f"{type(module).__name__} is in no table of layers, so that its cost is not known")
    op, attributes = found
    x = in_data[0]
    sizes = ", ".join(["N", *map(str, x.shape[1:])])
    kind = "i64" if x.dtype == torch.int64 else "f32"
    entries = ", ".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items())
    text = f'graph "layer" {{ x: {kind}[{sizes}] = placeholder\n y = {op}(x) {{ {entries} }}\n return y }}'
    costs = mase.Graph(text).apply("count_flops", batch_size=int(x.shape[0])).json["flops"][1]
    return {
        "total_parameters": costs["Parameters"],
        "computations": costs["FLOPs"],
        "backward_computations": 2 * costs["FLOPs"],
        "input_buffer_size": sum(value.numel() for value in in_data),
        "output_buffer_size": sum(value.numel() for value in out_data),
    }
