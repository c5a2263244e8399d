"""Passes over graphs."""

from __future__ import annotations

from typing import Any

from chop import _refused

from . import analysis, interface, transforms, utils
from .analysis import *  # noqa: F403
from .analysis import __all__ as _analysis
from .interface import *  # noqa: F403
from .interface import __all__ as _interface
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = [*_analysis, *_transforms, *_interface, "PASSES", "analysis", "interface", "transforms", "utils"]

# Every pass by its short name.
PASSES = {
    name.removesuffix("_pass").removesuffix("_analysis").removesuffix("_transform").removesuffix("_interface"): globals()[name]
    for name in [*_analysis, *_transforms, *_interface]
    if name.endswith("_pass")
}


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
