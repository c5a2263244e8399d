"""Modules that the Python MASE has in other places: one table."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Optional

# The dotted name there, and the module here that has what it holds.
MOVED: dict[str, str] = {
    "chop.passes.graph.analysis.add_metadata": "chop.passes.graph.analysis.metadata",
    "chop.passes.graph.analysis.add_metadata.add_common_metadata": "chop.passes.graph.analysis.metadata",
    "chop.passes.graph.analysis.add_metadata.add_software_metadata": "chop.passes.graph.analysis.metadata",
    "chop.nn.modules.identity": "chop.nn.modules",
    "chop.passes.graph.analysis.init_metadata": "chop.passes.graph.analysis.metadata",
    "chop.passes.graph.analysis.pruning": "chop.passes.graph.analysis.sparsity",
    "chop.passes.graph.analysis.pruning.calculate_natural_sparsity": "chop.passes.graph.analysis.sparsity",
    "chop.passes.graph.analysis.pruning.calculate_sparsity": "chop.passes.graph.analysis.sparsity",
    "chop.passes.graph.analysis.quantization.calculate_avg_bits": "chop.passes.graph.analysis.quantization",
    "chop.passes.graph.analysis.report.report_graph": "chop.passes.graph.analysis.report",
    "chop.passes.graph.analysis.report.report_node": "chop.passes.graph.analysis.report",
    "chop.passes.graph.analysis.statistical_profiler": "chop.passes.graph.analysis.statistics",
    "chop.passes.graph.analysis.statistical_profiler.profile_statistics": "chop.passes.graph.analysis.statistics",
    "chop.passes.graph.analysis.verify": "chop.passes.graph.analysis.metadata",
    "chop.passes.graph.analysis.verify.verify": "chop.passes.graph.analysis.metadata",
    "chop.passes.graph.interface.save_and_load": "chop.passes.graph.interface",
    "chop.passes.graph.transforms.lora": "chop.passes.graph.transforms.fuse",
    "chop.passes.graph.transforms.pruning": "chop.passes.graph.transforms.prune",
    "chop.passes.graph.transforms.pruning.prune": "chop.passes.graph.transforms.prune",
    "chop.passes.graph.transforms.pruning.prune_detach_hook": "chop.passes.graph.transforms.prune",
    "chop.passes.graph.transforms.quantize.quantize": "chop.passes.graph.transforms.quantize",
    "chop.passes.graph.transforms.quantize.summary": "chop.passes.graph.analysis.quantization",
    "chop.passes.graph.transforms.utils": "chop.passes.graph.transforms.fuse",
    "chop.passes.graph.transforms.utils.conv_bn_fusion": "chop.passes.graph.transforms.fuse",
    "chop.passes.module.analysis": "chop.passes.module",
    "chop.passes.module.analysis.report": "chop.passes.module",
    "chop.passes.module.transforms": "chop.passes.module",
    "chop.passes.module.transforms.quantize": "chop.passes.module",
    "chop.passes.module.transforms.quantize.quantize": "chop.passes.module",
    "chop.pipelines.compression": "chop.pipelines",
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module the names of the one that it is here."""
        here = importlib.import_module(MOVED[module.__name__])
        vars(module).update({name: value for name, value in vars(here).items() if not name.startswith("_")})


def install() -> None:
    """Makes modules of the table importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
