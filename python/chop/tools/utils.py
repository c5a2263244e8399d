"""Attributes by dotted names."""

from __future__ import annotations

from typing import Any


def deepsetattr(obj: Any, attr: str, value: Any) -> None:
    """Sets an attribute by its dotted name."""
    *parents, name = attr.split(".")
    for parent in parents:
        obj = getattr(obj, parent)
    setattr(obj, name, value)
