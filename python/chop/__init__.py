"""The names of the Python MASE over the compiled core `mase`.

A thin layer: passes run in Rust over a graph of the same names, and what they decide is written back to `node.meta["mase"]` and
to the modules. See docs/python-from-mase.md for what differs and what is refused.
"""

from __future__ import annotations

import importlib
from typing import Any

import mase.torch  # noqa: F401  Says what is missing where PyTorch is.

from . import _moved, _refused
from .ir import MaseGraph

_moved.install()
_refused.install()
_refused.warn_of_original(__path__)

__all__ = ["MaseGraph"]
_PARTS = ("actions", "dataset", "models", "nn", "passes", "pipelines", "tools")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    _refused.refuse_name(__name__, name)
