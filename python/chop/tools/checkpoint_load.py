"""Checkpoints into models of PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Union

import torch
from torch import nn

import mase

TYPES = ("pl", "pt", "mz", "auto")


def load_model(load_name: Union[str, Path], load_type: str = "auto", model: Optional[nn.Module] = None) -> nn.Module:
    """A model with the weights of a checkpoint: of Lightning or `ch train` ("pl"), a state dict ("pt") or a graph ("mz")."""
    path = Path(load_name)
    if load_type not in TYPES:
        raise mase.Error(f"load_type: '{load_type}' is none of {', '.join(TYPES)}")
    if not path.exists():
        raise mase.Error(f"there is no file {path}")
    if model is None:
        if path.suffix != ".mz":
            raise TypeError("model: a checkpoint without a graph needs the model that it belongs to")
        from mase.torch import to_torch

        return to_torch(mase.load(path))
    if path.suffix == ".mz":
        state = {name: torch.from_numpy(value.copy()) for name, value in mase.load(path).parameters().items()}
    else:
        content = torch.load(path, map_location="cpu", weights_only=True)
        state = content.get("state_dict", content)
    state = {name.removeprefix("model."): value for name, value in state.items()}
    own = model.state_dict()
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    if missing:
        raise mase.Error(f"{path} has no {', '.join(missing)}, which {type(model).__name__} needs")
    model.load_state_dict({name: value for name, value in state.items() if name in own}, strict=False)
    return model
