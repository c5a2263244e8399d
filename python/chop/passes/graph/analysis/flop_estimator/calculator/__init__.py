"""Costs of layers."""

from .calc_modules import calculate_modules

__all__ = ["calculate_modules"]
