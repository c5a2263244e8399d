"""The graph of a model and its metadata."""

from .mase_graph import MaseGraph
from .mase_metadata import MaseMetadata

__all__ = ["MaseGraph", "MaseMetadata"]
