"""Reports of graphs, through the logger `chop`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from pprint import pformat
from typing import Any, Optional

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run
from chop.tools.logger import get_logger
from chop.tools.tables import grid

from ..metadata import _keys

logger = get_logger(__name__)
PARTS = ("common", "hardware", "software")
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def report_graph_analysis_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """The graph, the number of nodes of each kind, and the layers; printed, or written to `file_name`."""
    file_name = _keys(pass_args, "file_name").get("file_name")
    counts = Counter(node.op for node in graph.nodes)
    layers = [node.meta["mase"].module for node in graph.nodes if node.meta["mase"].module is not None]
    text = f"{graph.fx_graph}\nNetwork overview:\n{ {op: counts[op] for op in OPS} }\nLayer types:\n{layers}"
    if file_name is None:
        print(text)
    else:
        Path(file_name).write_text(text, encoding="utf-8")
    return graph, {}


def _report(graph: MaseGraph, name: str, keys: dict[str, Any]) -> tuple[MaseGraph, dict[str, Any]]:
    logger.info("Inspecting graph [%s]\n%s", name, run(graph, name, keys).text)
    return graph, {}


def report_node_type_analysis_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """The type and operator of every node."""
    return _report(graph, "report_node_type", _keys(pass_args))


def report_node_shape_analysis_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """The shapes that every node reads and makes."""
    return _report(graph, "report_node_shape", _keys(pass_args))


def report_node_meta_param_analysis_pass(
    graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None
) -> tuple[MaseGraph, dict[str, Any]]:
    """The metadata of every node as a grid: those parts that `which` names; also written to `save_path`."""
    keys = _keys(pass_args, "which", "save_path")
    asked = keys.get("which", ("all",))
    which = (asked,) if isinstance(asked, str) else tuple(asked)
    unknown = [part for part in which if part not in ("all", *PARTS)]
    if unknown:
        raise mase.UnknownName(f"unknown part '{unknown[0]}' of which; there are all, {', '.join(PARTS)}")
    shown = PARTS if "all" in which else tuple(part for part in PARTS if part in which)
    rows = []
    for node in graph.nodes:
        parameters = node.meta["mase"].parameters
        common = parameters["common"]
        names = [node.name, node.op, str(common.get("mase_type", "")), str(common.get("mase_op", ""))]
        rows.append([*names, *(pformat(parameters[part]) for part in shown)])
    headings = ["Node name", "Fx Node op", "Mase type", "Mase op", *(f"{part.capitalize()} Param" for part in shown)]
    text = grid(headings, rows)
    logger.info("Inspecting graph [add_common_meta_param_analysis_pass]")
    logger.info("\n%s", text)
    if keys.get("save_path") is not None:
        Path(keys["save_path"]).parent.mkdir(parents=True, exist_ok=True)
        Path(keys["save_path"]).write_text(text, encoding="utf-8")
    return graph, {}

