"""Masks on weights and activations."""

from __future__ import annotations

from typing import Any, Optional

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import example_rows, run, write_back


def prune_transform_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """Prunes weights and activations, each by `scope`, `granularity`, `method` and `sparsity`. Pruned weights stay zero.

    Activations are measured on `data`, or on the inputs that the metadata was made from.
    """
    keys = dict(pass_args or {})
    data = keys.pop("data", None)
    if data is not None and not isinstance(data, mase.Dataset):
        raise TypeError(f"data: expected a mase.Dataset, got {type(data).__name__}")
    if data is None and keys.get("activation") is not None:
        data = example_rows(graph)
        keys.setdefault("num_samples", len(data.train))
    report = run(graph, "prune", keys, data)
    write_back(graph)
    return graph, {"report": report.text}


def prune_detach_hook_transform_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """Makes masks permanent: pruned weights are zeros, and may be trained again."""
    run(graph, "remove_prune_wrappers", dict(pass_args or {}))
    write_back(graph)
    return graph, {}
