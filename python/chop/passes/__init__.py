"""Passes over graphs and modules: `pass(graph, pass_args=None)` gives `(graph, info)`."""

from __future__ import annotations

from typing import Any

from chop import _refused

from . import graph, module
from .graph import *  # noqa: F403
from .graph import __all__ as _graph_names
from .module import *  # noqa: F403
from .module import __all__ as _module_names

__all__ = [*_graph_names, *_module_names, "graph", "module"]


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
