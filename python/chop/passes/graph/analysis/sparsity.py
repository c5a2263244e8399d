"""Zeros of masks, and zeros that are there without them."""

from __future__ import annotations

from typing import Any, Optional

from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import example_rows, run, write_metadata

from .metadata import _keys, take_example


def add_pruning_metadata_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """The share of zeros in every mask, which the metadata of its port has as `sparsity`."""
    _keys(pass_args, "dummy_in", "add_value")
    report = run(graph, "add_pruning_metadata")
    write_metadata(graph)
    return graph, {"report": report.text}


def add_natural_sparsity_metadata_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """The share of zeros in weights, and in activations for the inputs that the metadata was made from, as statistics of ports."""
    keys = _keys(pass_args, "dummy_in", "add_value")
    take_example(graph, keys)
    rows = example_rows(graph)
    report = run(graph, "add_natural_sparsity", {"num_samples": len(rows.train)}, rows)
    write_metadata(graph)
    return graph, {"report": report.text}
