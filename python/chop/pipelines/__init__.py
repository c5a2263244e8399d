"""Passes one after another."""

from __future__ import annotations

from typing import Any, Callable, Optional

import mase
from chop import _refused
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes.graph import (
    add_common_metadata_analysis_pass,
    init_metadata_analysis_pass,
    prune_transform_pass,
    quantize_transform_pass,
)

__all__ = ["CompressionPipeline"]

Pass = Callable[..., tuple[MaseGraph, dict[str, Any]]]


class CompressionPipeline:
    """Metadata, quantisation and pruning: `pipe(mg, pass_args={"quantize_transform_pass": {…}, …})`."""

    passes: tuple[Pass, ...] = (
        init_metadata_analysis_pass,
        add_common_metadata_analysis_pass,
        quantize_transform_pass,
        prune_transform_pass,
    )

    def __call__(
        self, mg: MaseGraph, pass_args: Optional[dict[str, Any]] = None, skip_passes: tuple[Pass, ...] = ()
    ) -> tuple[MaseGraph, dict[str, Any]]:
        """Runs every pass, each with the arguments under its name, and gives what each of them found."""
        given = dict(pass_args or {})
        known = [step.__name__ for step in self.passes]
        unknown = [name for name in given if name not in known]
        if unknown:
            raise mase.UnknownName(f"unknown pass '{unknown[0]}' of the pipeline, which runs {', '.join(known)}")
        found = {}
        for step in self.passes:
            if step not in skip_passes:
                mg, found[step.__name__] = step(mg, pass_args=given.get(step.__name__))
        return mg, found


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
