"""The zoo as modules of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from torch import nn

import mase
from chop.tools.checkpoint_load import load_model
from mase.torch import to_torch

__all__ = ["ModelInfo", "get_model", "get_model_info"]

# The classes that print as the original's; others have the name of their model.
_CLASSES = {"jsc-tiny": "JSC_Tiny", "jsc-toy": "JSC_Toy", "jsc-s": "JSC_S", "toy": "ToyNet", "toy_convnet": "ToyConvNet"}


@dataclass(frozen=True)
class ModelInfo:
    """What is known of a model by its name."""

    name: str
    about: str
    is_nlp_model: bool
    is_physical_model: bool

    @property
    def is_vision_model(self) -> bool:
        """True for a model of images."""
        return not (self.is_nlp_model or self.is_physical_model)


def get_model_info(name: str) -> ModelInfo:
    """What is known of a model."""
    graph = mase.model(name)
    about = dict(mase.names("models")).get(graph.name, "")
    kinds = {node.metadata(1)["common"]["results"]["data_out_0"]["torch_dtype"] for node in graph.nodes if node.op == "placeholder"}
    return ModelInfo(graph.name, about, "torch.int64" in kinds, graph.name.startswith("jsc"))


def get_model(
    name: str,
    task: str = "cls",
    dataset_info: Any = None,
    pretrained: bool = False,
    checkpoint: Optional[Union[str, Path]] = None,
    quant_config: Optional[dict[str, Any]] = None,
    seed: int = 0,
) -> nn.Module:
    """A model of the zoo for a dataset, with the weights that it starts from or those of a checkpoint."""
    if task not in ("cls", "classification"):
        raise mase.Error(f"task: '{task}' is not there; models learn classes, 'cls'")
    if pretrained:
        raise mase.Error("pretrained: there are no weights to fetch; give checkpoint, a file")
    if quant_config is not None:
        raise mase.Error("quant_config: models start in floats; quantize_transform_pass gives them formats")
    graph = mase.model(name, seed=seed, data=getattr(dataset_info, "data", None))
    model = _plain(to_torch(graph), _CLASSES.get(graph.name, graph.name.replace("-", "_")))
    return model if checkpoint is None else load_model(checkpoint, model=model)


def _plain(module: Any, name: str) -> nn.Module:
    """A module that is no graph: numbered layers are a `Sequential`, and it prints without code."""
    made = type(name, (nn.Module,), {"forward": type(module).forward, "__doc__": f"The model {name}."})()
    for child, part in module.named_children():
        made.add_module(child, _numbered(part))
    for own, parameter in module.named_parameters(recurse=False):
        made.register_parameter(own, parameter)
    return made  # type: ignore[no-any-return]


def _numbered(part: nn.Module) -> nn.Module:
    children = dict(part.named_children())
    if type(part) is not nn.Module:
        return part
    made: nn.Module = nn.Sequential() if children and all(name.isdigit() for name in children) else nn.Module()
    for name, child in children.items():
        made.add_module(name, _numbered(child))
    for name, parameter in part.named_parameters(recurse=False):
        made.register_parameter(name, parameter)
    return made
