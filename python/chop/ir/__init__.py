"""The graph of a model and its metadata."""

from .graph.mase_graph import MaseGraph
from .graph.mase_metadata import MaseMetadata

__all__ = ["MaseGraph", "MaseMetadata"]
