"""Modules as exported programs."""

from __future__ import annotations

import inspect
import os
import traceback
from typing import Any, Optional

import torch
from torch import nn

from .. import Error


def export_module(module: nn.Module, inputs: tuple[Any, ...], keywords: dict[str, Any], *, free_axes: tuple[int, ...]) -> Any:
    """The program that `torch.export` makes of a module in evaluation.

    These axes of its inputs are free as far as the module allows it, the first one where it is the batch.
    """
    modes = [(part, part.training) for part in module.modules()]
    try:
        with torch.no_grad():
            module.eval()
            return _export(module, inputs, keywords, free_axes)
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise Error(
            f"torch.export cannot follow {type(module).__name__}{_line(error)}: {reason[0] if reason else type(error).__name__}; "
            "branches that depend on values have to be written with torch.where or torch.cond"
        ) from error
    finally:
        for part, training in modes:
            part.training = training


def _export(module: nn.Module, inputs: tuple[Any, ...], keywords: dict[str, Any], free_axes: tuple[int, ...]) -> Any:
    given = [*inputs, *keywords.values()]
    rows = next((len(value) for value in given if _has_axes(value)), 0)

    def is_batch(value: Any) -> bool:
        return _has_axes(value) and len(value) == rows

    # An axis of size 1 or 0 is never free.
    def several(value: Any) -> Any:
        return torch.cat([value, value]) if rows == 1 and is_batch(value) else value

    def axes(value: Any) -> Any:
        return {axis: torch.export.Dim.AUTO for axis in free_axes if axis < value.dim()} if is_batch(value) else None

    shapes: Any = tuple(axes(value) for value in inputs)
    if keywords:
        bound = inspect.signature(module.forward).bind(*inputs, **keywords).arguments
        shapes = {name: axes(value) for name, value in bound.items()}
    more = tuple(several(value) for value in inputs), {name: several(value) for name, value in keywords.items()}
    program = torch.export.export(module, *more, dynamic_shapes=shapes, strict=False)
    if any(isinstance(size, torch.SymInt) for size in _first_sizes(program)):
        return program
    return torch.export.export(module, inputs, keywords, strict=False)


def _has_axes(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0


def _first_sizes(program: Any) -> list[Any]:
    """The sizes of the first axes of the inputs."""
    names = set(program.graph_signature.user_inputs)
    values = [node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    return [value.shape[0] for value in values if _has_axes(value)]


def _line(error: BaseException) -> str:
    """The line of the module that an error comes from."""
    own = (os.path.dirname(str(torch.__file__)), os.path.dirname(__file__))
    frames: list[traceback.FrameSummary] = []
    cause: Optional[BaseException] = error
    while cause is not None and not frames:
        frames = [frame for frame in traceback.extract_tb(cause.__traceback__) if not frame.filename.startswith(own)]
        frames = [frame for frame in frames if frame.name == "forward" or frame.line and not frame.filename.startswith("<")]
        cause = cause.__cause__ or cause.__context__
    inside = [frame for frame in frames if frame.name == "forward"] or frames
    return f", {os.path.basename(inside[-1].filename)}:{inside[-1].lineno} ({inside[-1].line})" if inside else ""
