"""What pickled datasets are made from."""

from __future__ import annotations

from typing import Any

import numpy

from ._core import Dataset, dataset


def open_dataset(name: str, options: dict[str, Any]) -> Dataset:
    """Opens a dataset by its name again."""
    return dataset(name, **options)


def make_dataset(name: str, x: Any, y: numpy.ndarray, counts: list[int]) -> Dataset:
    """A dataset of arrays whose rows are in the order of its splits."""
    return dataset(name, x=x, y=y, rows=tuple(counts))
