"""Statistics of weights and activations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run, write_metadata

from .metadata import _keys

KEYS = (
    "by",
    "target_weight_nodes",
    "target_activation_nodes",
    "weight_statistics",
    "activation_statistics",
    "profile_output_activation",
    "input_generator",
    "num_samples",
)


def profile_statistics_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Statistics of the weights and of the activations of `num_samples` rows of `input_generator`."""
    keys = _keys(pass_args, *KEYS)
    generator, rows = keys.pop("input_generator", None), int(keys.get("num_samples", 0))
    data = _rows(graph, generator, rows) if generator is not None else None
    if data is not None:
        keys["num_samples"] = min(rows, len(data.train))
    run(graph, "profile_statistics", keys, data)
    write_metadata(graph)
    return graph, {}


def _rows(graph: MaseGraph, generator: Any, count: int) -> mase.Dataset:
    """So many rows of a generator of dicts, all there are if it ends early."""
    batches, have = [], 0
    for batch in generator:
        if not isinstance(batch, Mapping):
            raise TypeError(f"input_generator: expected dicts of inputs by name, got {type(batch).__name__}")
        batches.append(batch)
        have += len(next(iter(batch.values())))
        if have >= count:
            break
    if not batches:
        raise mase.Error("input_generator: it gives no batch")
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    columns = {name: torch.cat([batch[name] for batch in batches])[:count].numpy() for name in batches[0]}
    x = next(iter(columns.values())) if len(names) == 1 else columns
    n = min(have, count)
    return mase.dataset("rows", x=x, y=torch.zeros(n, dtype=torch.int64).numpy(), rows=(n, 0, 0))
