"""MASE and PyTorch: modules that round as the engine does, and graphs from and to `torch.fx`.

Needs torch 2.6 or later; `import mase` alone does not import it.
"""

from __future__ import annotations

try:
    import torch as _torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("mase.torch needs PyTorch 2.6 or later; pip install 'mase[torch]'", name="torch") from error
if tuple(map(int, _torch.__version__.split(".")[:2])) < (2, 6):
    raise ImportError(f"mase.torch needs PyTorch 2.6 or later, and this is {_torch.__version__}")

from ._from import from_fx, from_torch
from ._raise import raise_modules
from ._round import Round, round_tensor
from ._rounded import Rounded, rounded_class
from ._to import change_model, to_torch

__all__ = ["Round", "Rounded", "change_model", "from_fx", "from_torch", "raise_modules", "round_tensor", "rounded_class", "to_torch"]
