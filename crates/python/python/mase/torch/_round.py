"""Rounding in PyTorch: the engine's own, on the memory of the tensor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Union

import torch

from .. import Format


class _Rounding(torch.autograd.Function):
    """Rounds forward; the gradient passes straight through, and is zero where rounding saturated."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, format: Format) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.format = format
        array = _array(x)
        # Of PyTorch's own memory, which is used again from step to step.
        rounded = torch.empty_like(x, memory_format=torch.contiguous_format)
        format.quantize(array, out=rounded.numpy())
        return rounded

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (x,) = ctx.saved_tensors
        gradient = ctx.format.gradient(_array(x), _array(gradients[0]))
        return torch.from_numpy(gradient), None


_rounds: ContextVar[bool] = ContextVar("_rounds", default=True)


@contextmanager
def without_rounding() -> Iterator[None]:
    """A context in which nothing is rounded, so that a module shows the operators beneath."""
    token = _rounds.set(False)
    try:
        yield
    finally:
        _rounds.reset(token)


def rounds() -> bool:
    """False inside of `without_rounding`."""
    return _rounds.get()


def _array(x: torch.Tensor) -> Any:
    if x.device.type != "cpu":
        raise ValueError(f"the tensor is on {x.device}, but rounding runs on the CPU; move it with .cpu()")
    if x.dtype != torch.float32:
        raise TypeError(f"expected a tensor of torch.float32, got {x.dtype}; convert it with .float()")
    return x.detach().numpy()


def _format(format: Union[Format, str]) -> Format:
    if not isinstance(format, (Format, str)):
        raise TypeError(f"format: expected a mase.Format or its text, got {type(format).__name__}")
    return Format(format) if isinstance(format, str) else format


def round_tensor(x: torch.Tensor, format: Union[Format, str], *, rows: bool = False) -> torch.Tensor:
    """A tensor rounded to a format. With `rows`, scales are not shared by rows of the batch, the first axis."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x: expected a torch.Tensor, got {type(x).__name__}")
    if not rounds():
        return x
    format = _format(format)
    return _Rounding.apply(x, format.within_rows() if rows and x.dim() > 1 else format)  # type: ignore[no-any-return]


class Round(torch.nn.Module):
    """A module that rounds to a format: `Round("integer(8, 4)")`."""

    def __init__(self, format: Union[Format, str], *, rows: bool = False) -> None:
        super().__init__()
        self.format = _format(format)
        self.rows = rows

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The rounded tensor."""
        return round_tensor(x, self.format, rows=self.rows)

    def extra_repr(self) -> str:
        """The format."""
        return str(self.format)
