"""Reports of graphs, through the logger `chop`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Optional

from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run
from chop.tools.logger import get_logger

from .metadata import _keys

logger = get_logger(__name__)
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
    save_path = keys.pop("save_path", None)
    text = run(graph, name, keys).text
    logger.info("Inspecting graph [%s]\n%s", name, text)
    if save_path is not None:
        Path(save_path).parent.mkdir(parents=True, exist_ok=True)
        Path(save_path).write_text(text, encoding="utf-8")
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
    """The metadata of every node: those parts that `which` names; also written to `save_path`."""
    keys = _keys(pass_args, "which", "save_path")
    return _report(graph, "report_node_meta_param", {"which": list(keys.get("which", ("all",))), **_path(keys)})


def _path(keys: dict[str, Any]) -> dict[str, Any]:
    return {"save_path": keys["save_path"]} if keys.get("save_path") is not None else {}
