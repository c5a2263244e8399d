"""Training, testing, transforming and searching as `ch` does it, over modules of PyTorch."""

from __future__ import annotations

from typing import Any, Union

import torch
from torch import nn

import mase
from chop import _refused
from chop.dataset import MaseDataModule
from chop.ir.graph.mase_graph import MaseGraph
from mase.torch import from_torch

__all__ = ["search", "test", "train", "transform"]


def _graph(model: Union[nn.Module, MaseGraph], data: mase.Dataset) -> mase.Graph:
    if isinstance(model, MaseGraph):
        return model.core
    return from_torch(model, (torch.from_numpy(data.train.x[:2].copy()),))


def train(model: nn.Module, data_module: MaseDataModule, **settings: Any) -> mase.Run:
    """Trains a model with the settings of `ch train`; it gets the weights of the lowest validation loss."""
    data = data_module.data
    graph = _graph(model, data)
    run = mase.train(graph, data, **{"batch_size": data_module.batch_size, **settings})
    state = {name: torch.from_numpy(value.copy()) for name, value in graph.parameters().items()}
    target = model.model if isinstance(model, MaseGraph) else model
    target.load_state_dict(state, strict=False)
    return run


def test(model: Union[nn.Module, MaseGraph], data_module: MaseDataModule, split: str = "test") -> dict[str, Any]:
    """The scores of a model on a split."""
    return mase.test(_graph(model, data_module.data), data_module.data, split=split)


def transform(model: nn.Module, data_module: MaseDataModule, config: str) -> tuple[mase.Graph, list[mase.Report]]:
    """The graph of a model after the passes of a TOML file, and their reports."""
    graph = _graph(model, data_module.data)
    return graph, graph.apply_config(config, data=data_module.data)


def search(model: nn.Module, data_module: MaseDataModule, search_config: Any, **options: Any) -> mase.Search:
    """Searches over the formats of a model with the file or the dict of `ch search`."""
    return mase.search(_graph(model, data_module.data), data_module.data, search_config, **options)


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
