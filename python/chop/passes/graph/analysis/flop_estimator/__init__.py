"""Costs of layers."""
