"""The layers of PyTorch as operators: their classes, and the attributes that both call by the same name."""

from __future__ import annotations

from typing import Any, Optional

from torch import nn

from mase import Error


def _listed(value: Any, count: int) -> list[int]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


def _conv(count: int) -> Any:
    def attributes(layer: Any) -> dict[str, Any]:
        if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
            raise Error(f"{layer}: padding is a number of zeros here")
        sizes = {name: _listed(getattr(layer, name), count) for name in ("kernel_size", "stride", "padding", "dilation")}
        channels = {name: getattr(layer, name) for name in ("in_channels", "out_channels", "groups")}
        return {**channels, **sizes, "bias": layer.bias is not None}

    return attributes


def _pool(count: int, *further: str) -> Any:
    def attributes(layer: Any) -> dict[str, Any]:
        if layer.ceil_mode:
            raise Error(f"{layer}: ceil_mode is not there; pad the input instead")
        sizes = {name: _listed(getattr(layer, name), count) for name in ("kernel_size", "stride", "padding")}
        return {**sizes, **{name: _pooled(getattr(layer, name), name, count) for name in further}}

    return attributes


def _pooled(value: Any, name: str, count: int) -> Any:
    return _listed(value, count) if name == "dilation" else value


def _adaptive(count: int) -> Any:
    return lambda layer: {"output_size": _listed(layer.output_size, count)}


def _named(*names: str) -> Any:
    return lambda layer: {name: getattr(layer, name) for name in names}


def _linear(layer: Any) -> dict[str, Any]:
    return {"in_features": layer.in_features, "out_features": layer.out_features, "bias": layer.bias is not None}


def _layer_norm(layer: Any) -> dict[str, Any]:
    return {
        "normalized_shape": list(layer.normalized_shape),
        "eps": layer.eps,
        "elementwise_affine": layer.elementwise_affine,
    }


def _batch_norm(layer: Any) -> dict[str, Any]:
    if not (layer.affine and layer.track_running_stats):
        raise Error(f"{layer}: a batch norm needs its weights and its running statistics")
    return {"num_features": layer.num_features, "eps": layer.eps, "momentum": layer.momentum}


# Every class with its operator and the attributes of a layer.
LAYERS: dict[type, tuple[str, Any]] = {
    nn.Linear: ("linear", _linear),
    nn.Conv1d: ("conv1d", _conv(1)),
    nn.Conv2d: ("conv2d", _conv(2)),
    nn.BatchNorm1d: ("batch_norm1d", _batch_norm),
    nn.BatchNorm2d: ("batch_norm2d", _batch_norm),
    nn.LayerNorm: ("layer_norm", _layer_norm),
    nn.Embedding: ("embedding", _named("num_embeddings", "embedding_dim")),
    nn.ReLU: ("relu", _named("inplace")),
    nn.ReLU6: ("relu6", _named()),
    nn.Hardtanh: ("hardtanh", _named("min_val", "max_val")),
    nn.Hardswish: ("hardswish", _named()),
    nn.Hardsigmoid: ("hardsigmoid", _named()),
    nn.Sigmoid: ("sigmoid", _named()),
    nn.Tanh: ("tanh", _named()),
    nn.GELU: ("gelu", _named("approximate")),
    nn.SiLU: ("silu", _named()),
    nn.ELU: ("elu", _named("alpha")),
    nn.SELU: ("selu", _named()),
    nn.Softplus: ("softplus", _named("beta", "threshold")),
    nn.Softsign: ("softsign", _named()),
    nn.Softmax: ("softmax", _named("dim")),
    nn.LogSoftmax: ("log_softmax", _named("dim")),
    nn.Dropout: ("dropout", _named("p")),
    nn.Identity: ("identity", _named()),
    nn.MaxPool1d: ("max_pool1d", _pool(1, "dilation")),
    nn.MaxPool2d: ("max_pool2d", _pool(2, "dilation")),
    nn.AvgPool1d: ("avg_pool1d", _pool(1, "count_include_pad")),
    nn.AvgPool2d: ("avg_pool2d", _pool(2, "count_include_pad")),
    nn.AdaptiveAvgPool1d: ("adaptive_avg_pool1d", _adaptive(1)),
    nn.AdaptiveAvgPool2d: ("adaptive_avg_pool2d", _adaptive(2)),
    nn.AdaptiveMaxPool1d: ("adaptive_max_pool1d", _adaptive(1)),
    nn.AdaptiveMaxPool2d: ("adaptive_max_pool2d", _adaptive(2)),
    nn.Flatten: ("flatten", _named("start_dim", "end_dim")),
}


def operator_of(layer: nn.Module) -> Optional[tuple[str, dict[str, Any]]]:
    """The operator of a layer and its attributes; nothing for a layer that is in no table."""
    entry = LAYERS.get(getattr(layer, "base", type(layer)))
    return None if entry is None else (entry[0], entry[1](layer))
