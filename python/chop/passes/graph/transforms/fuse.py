"""Batch norms folded into layers, and low-rank adapters."""

from __future__ import annotations

from typing import Any, Optional

from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run, write_back


def conv_bn_fusion_transform_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Folds batch norms into the layers before them, biases included."""
    run(graph, "fuse_batch_norm", dict(pass_args or {}))
    write_back(graph)
    return graph, {}


def insert_lora_adapter_transform_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Adds low-rank adapters, `rank`, `alpha`, `dropout`, to linear layers; the outputs stay as they are."""
    names = {"alpha": "lora_alpha", "dropout": "lora_dropout"}
    keys = {names.get(key, key): value for key, value in (pass_args or {}).items()}
    run(graph, "insert_lora_adapter", keys)
    write_back(graph)
    return graph, {}


def fuse_lora_weights_transform_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Adds what adapters have learned to the weights of their layers."""
    run(graph, "fuse_lora_weights", dict(pass_args or {}))
    write_back(graph)
    return graph, {}
