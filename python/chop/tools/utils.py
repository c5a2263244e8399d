"""Attributes by dotted names."""

from __future__ import annotations

import functools
from typing import Any

import torch


def deepgetattr(obj: Any, attr: str, default: Any = None) -> Any:
    """An attribute by its dotted name, or the default where there is none."""
    try:
        return functools.reduce(getattr, attr.split("."), obj)
    except AttributeError:
        return default


def deepsetattr(obj: Any, attr: str, value: Any) -> None:
    """Sets an attribute by its dotted name."""
    *parents, name = attr.split(".")
    for parent in parents:
        obj = getattr(obj, parent)
    setattr(obj, name, value)


def to_numpy_if_tensor(value: Any) -> Any:
    """The array of a tensor; other values as they are."""
    return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
