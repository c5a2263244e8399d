"""Passes that change a graph."""

from __future__ import annotations

from typing import Any

from chop import _refused
from chop.passes.graph.analysis import summarize_quantization_analysis_pass

from .fuse import conv_bn_fusion_transform_pass, fuse_lora_weights_transform_pass, insert_lora_adapter_transform_pass
from .prune import prune_detach_hook_transform_pass, prune_transform_pass
from .quantize import quantize_transform_pass

__all__ = [
    "conv_bn_fusion_transform_pass",
    "fuse_lora_weights_transform_pass",
    "insert_lora_adapter_transform_pass",
    "prune_detach_hook_transform_pass",
    "prune_transform_pass",
    "quantize_transform_pass",
    "summarize_quantization_analysis_pass",
]


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
