"""Layers with number formats."""

from torch import nn as _nn

from .. import all_classes

# Every class by its name, as the pass `quantize` names them.
quantized_module_map = all_classes(
    _nn.Linear, _nn.Conv1d, _nn.Conv2d, _nn.ReLU, _nn.GELU, _nn.SiLU, _nn.LayerNorm, _nn.BatchNorm1d, _nn.BatchNorm2d
)
globals().update(quantized_module_map)
