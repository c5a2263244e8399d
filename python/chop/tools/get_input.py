"""Inputs for models, from the data of a data module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

import torch


class InputGenerator:
    """Batches of a data module as dicts of a model's inputs; ends with the data, or after `max_batches`."""

    def __init__(
        self,
        data_module: Any,
        model_info: Any = None,
        task: str = "cls",
        which_dataloader: str = "train",
        max_batches: Optional[int] = None,
    ) -> None:
        if which_dataloader not in ("train", "val", "test"):
            raise ValueError(f"which_dataloader: '{which_dataloader}' is none of train, val and test")
        self.data_module, self.task = data_module, task
        self.batch_size = data_module.batch_size
        self.max_batches, self.current = max_batches, 0
        self._batches = iter(getattr(data_module, f"{which_dataloader}_dataloader")())

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        return self

    def __next__(self) -> dict[str, torch.Tensor]:
        if self.max_batches is not None and self.current >= self.max_batches:
            raise StopIteration
        self.current += 1
        batch = next(self._batches)
        return dict(batch) if isinstance(batch, dict) else {"x": batch[0]}


def get_dummy_input(model_info: Any, data_module: Any, task: str = "cls", device: str = "cpu") -> dict[str, torch.Tensor]:
    """The first training batch as a dict of a model's inputs."""
    if not str(device).startswith("cpu"):
        raise ValueError(f"device: '{device}' is not there; give 'cpu'")
    return next(InputGenerator(data_module, model_info, task))


def get_cf_args(model_info: Any = None, task: str = "cls", model: Any = None) -> dict[str, Any]:
    """The values that a model is traced with: none, as models of tokens are exported for the names of their inputs."""
    return {}
