"""Number formats by type, name or pattern."""

from __future__ import annotations

from typing import Any, Optional

import mase
from chop.ir.graph.mase_graph import MaseGraph
from chop.passes._core import run, write_back


def quantize_transform_pass(graph: MaseGraph, pass_args: Optional[dict[str, Any]] = None) -> tuple[MaseGraph, dict[str, Any]]:
    """Gives nodes number formats: `by` "type", "name" or "regex_name", and a config for each. The caller's dict stays as it is."""
    if not pass_args or "by" not in pass_args:
        raise mase.Error("pass_args: by is missing; give 'type', 'name' or 'regex_name'")
    run(graph, "quantize", dict(pass_args))
    write_back(graph)
    return graph, {}
