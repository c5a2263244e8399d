"""Passes that look at a graph."""

from __future__ import annotations

from typing import Any

from chop import _refused

from .metadata import (
    add_common_metadata_analysis_pass,
    add_software_metadata_analysis_pass,
    init_metadata_analysis_pass,
    verify_common_metadata_analysis_pass,
    verify_metadata_analysis_pass,
    verify_software_metadata_analysis_pass,
)
from .quantization import calculate_avg_bits_mg_analysis_pass, summarize_quantization_analysis_pass
from .report import (
    report_graph_analysis_pass,
    report_node_meta_param_analysis_pass,
    report_node_shape_analysis_pass,
    report_node_type_analysis_pass,
)
from .sparsity import add_natural_sparsity_metadata_analysis_pass, add_pruning_metadata_analysis_pass
from .statistics import profile_statistics_analysis_pass

__all__ = [
    "add_common_metadata_analysis_pass",
    "add_natural_sparsity_metadata_analysis_pass",
    "add_pruning_metadata_analysis_pass",
    "add_software_metadata_analysis_pass",
    "calculate_avg_bits_mg_analysis_pass",
    "init_metadata_analysis_pass",
    "profile_statistics_analysis_pass",
    "report_graph_analysis_pass",
    "report_node_meta_param_analysis_pass",
    "report_node_shape_analysis_pass",
    "report_node_type_analysis_pass",
    "summarize_quantization_analysis_pass",
    "verify_common_metadata_analysis_pass",
    "verify_metadata_analysis_pass",
    "verify_software_metadata_analysis_pass",
]


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
