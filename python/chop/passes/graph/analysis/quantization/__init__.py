"""What quantisation has changed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Optional

from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run
from chop.passes.graph.utils import get_mase_op, get_mase_type, get_node_actual_target
from chop.tools.logger import get_logger
from chop.tools.tables import plain

from ..metadata import _keys

logger = get_logger(__name__)
HEADINGS = ("Ori name", "New name", "MASE_TYPE", "Mase_OP", "Original type", "Quantized type", "Changed")


def summarize_quantization_analysis_pass(ori_graph: MaseGraph, graph: MaseGraph, save_dir: Optional[str] = None) -> None:
    """Nodes of two graphs side by side and how many have changed, logged and written to `save_dir` as CSV."""
    rows = [_row(old, new) for old, new in zip(ori_graph.nodes, graph.nodes)]
    counts: dict[str, list[Any]] = {}
    for row in rows:
        entry = counts.setdefault(str(row[4]), [row[3], 0, 0, 0])
        entry[1] += 1
        entry[2 if row[6] else 3] += 1
    histogram = [(name, *counts[name]) for name in sorted(counts)]
    headings = ("Original type", "OP", "Total", "Changed", "Unchanged")
    logger.debug("Compare nodes:\n%s", plain(HEADINGS, rows))
    logger.info("Quantized graph histogram:\n%s", plain(headings, histogram))
    if save_dir is not None:
        # The original's file has the number of the row first, under an empty heading.
        _write(Path(save_dir) / "quantize_table.csv", ("", *HEADINGS), [(place, *row) for place, row in enumerate(rows)])
        _write(Path(save_dir) / "quantize_histogram.csv", headings, histogram)


def _type(node: Any) -> str:
    target = get_node_actual_target(node)
    if node.op == "call_module":
        return type(target).__name__
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def _row(old: Any, new: Any) -> tuple[Any, ...]:
    is_changed = _type(old) != _type(new)
    return old.name, new.name, get_mase_type(new), get_mase_op(new), _type(old), _type(new), is_changed


def _write(path: Path, headings: tuple[str, ...], rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([headings, *rows])


def calculate_avg_bits_mg_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """The bits of weights and activations, weighted by size: `data_avg_bit` and `w_avg_bit`."""
    _keys(pass_args)
    facts = run(graph, "calculate_avg_bits").json
    return graph, {name: facts[name] for name in ("data_avg_bit", "w_avg_bit", "average_bitwidth")}
