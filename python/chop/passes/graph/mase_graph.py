"""The place of `MaseGraph` in earlier versions."""

from chop.ir.graph.mase_graph import MaseGraph

__all__ = ["MaseGraph"]
