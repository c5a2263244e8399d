"""Modules that are not quantised."""

from torch.nn import Identity

__all__ = ["Identity"]
