"""Checkpoints into models of PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional, Union

import torch
from torch import nn

import mase
from mase._errors import MissingFile

TYPES = ("pl", "pt", "mz", "auto")


def load_model(load_name: Union[str, Path], load_type: str = "auto", model: Optional[nn.Module] = None) -> nn.Module:
    """A model with the weights of a checkpoint: of Lightning or `ch train` ("pl"), a state dict ("pt") or a graph ("mz")."""
    path = Path(load_name)
    if load_type not in TYPES:
        raise mase.Error(f"load_type: '{load_type}' is none of {', '.join(TYPES)}")
    if not path.exists():
        raise MissingFile(f"there is no file {path}")
    if model is None:
        if path.suffix != ".mz":
            raise TypeError("model: a checkpoint without a graph needs the model that it belongs to")
        from mase.torch import to_torch

        return to_torch(mase.load(path))
    if path.suffix == ".mz":
        state = {name: torch.from_numpy(value.copy()) for name, value in mase.load(path).parameters().items()}
    else:
        content = _content(path)
        state = content.get("state_dict", content)
    state = {name.removeprefix("model."): value for name, value in state.items()}
    own = model.state_dict()
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    if missing:
        raise mase.Error(f"{path} has no {', '.join(missing)}, which {type(model).__name__} needs")
    model.load_state_dict({name: value for name, value in state.items() if name in own}, strict=False)
    return model


def _content(path: Path) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # What is no file of PyTorch fails in many ways.
        raise mase.Error(f"{path} is no checkpoint that PyTorch reads") from error
    if not isinstance(content, dict):
        raise mase.Error(f"{path} holds a {type(content).__name__}, not the weights of a model")
    return content
