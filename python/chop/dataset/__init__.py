"""Datasets as loaders of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.utils.data import DataLoader, TensorDataset

import mase

__all__ = ["DatasetInfo", "MaseDataModule", "get_dataset_info"]


@dataclass(frozen=True)
class DatasetInfo:
    """What a model must know of a dataset."""

    name: str
    num_classes: int
    num_features: Optional[int]
    image_size: Optional[tuple[int, ...]]
    data: mase.Dataset

    @classmethod
    def of(cls, data: mase.Dataset) -> DatasetInfo:
        """The description of a dataset."""
        is_table = len(data.shape) == 1
        return cls(data.name, len(data.classes), data.shape[0] if is_table else None, None if is_table else data.shape, data)


def get_dataset_info(name: str) -> DatasetInfo:
    """The description of a dataset by its name."""
    return DatasetInfo.of(mase.dataset(name))


class MaseDataModule:
    """A dataset with its loaders: `prepare_data`, `setup`, then `train_dataloader` and others."""

    def __init__(
        self,
        name: str,
        batch_size: int,
        model_name: Optional[str] = None,
        num_workers: int = 0,
        tokenizer: Any = None,
        max_token_len: int = 512,
        load_from_cache_file: bool = True,
        **options: Any,
    ) -> None:
        self.name, self.batch_size, self.num_workers = name, batch_size, num_workers
        self.model_name, self.tokenizer, self.max_token_len = model_name, tokenizer, max_token_len
        self._options = options
        self._data: Optional[mase.Dataset] = None

    @property
    def data(self) -> mase.Dataset:
        """The dataset, opened at its first use."""
        if self._data is None:
            self._data = mase.dataset(self.name, **self._options)
        return self._data

    @property
    def dataset_info(self) -> DatasetInfo:
        """What a model must know of the dataset."""
        return DatasetInfo.of(self.data)

    def prepare_data(self) -> None:
        """Finds or fetches the dataset."""
        assert self.data is not None

    def setup(self, stage: Optional[str] = None) -> None:
        """Makes the datasets of PyTorch."""
        parts = {"train": self.data.train, "val": self.data.val, "test": self.data.test}
        for name, part in parts.items():
            tensors = TensorDataset(torch.from_numpy(part.x.copy()), torch.from_numpy(part.y))
            setattr(self, f"{name}_dataset", tensors)

    def _loader(self, name: str, shuffle: bool) -> DataLoader[Any]:
        if not hasattr(self, f"{name}_dataset"):
            self.setup()
        return DataLoader(getattr(self, f"{name}_dataset"), self.batch_size, shuffle=shuffle, num_workers=self.num_workers)

    def train_dataloader(self) -> DataLoader[Any]:
        """The training rows, shuffled."""
        return self._loader("train", True)

    def val_dataloader(self) -> DataLoader[Any]:
        """The validation rows."""
        return self._loader("val", False)

    def test_dataloader(self) -> DataLoader[Any]:
        """The test rows."""
        return self._loader("test", False)

    def pred_dataloader(self) -> DataLoader[Any]:
        """The test rows."""
        return self._loader("test", False)
