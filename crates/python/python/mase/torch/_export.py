"""Modules as exported programs."""

from __future__ import annotations

import inspect
import os
import re
import traceback
from typing import Any, Optional

import torch
from torch import nn

from .. import Error


def export_module(module: nn.Module, inputs: tuple[Any, ...], keywords: dict[str, Any], *, free_axes: tuple[int, ...]) -> Any:
    """The program that `torch.export` makes of a module in evaluation.

    These axes of its inputs are free as far as the module allows it, the first one where it is the batch.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module: expected a torch.nn.Module, got {type(module).__name__}")
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"example_inputs: expected a tuple of tensors, got {type(inputs).__name__}; one tensor alone is (x,)")
    if any(_has_axes(value) and len(value) == 0 for value in [*inputs, *keywords.values()]):
        raise Error("example_inputs: the batch is empty; give at least one row")
    modes = [(part, part.training) for part in module.modules()]
    # Caches of transformers are results that no graph has.
    caching = [part.config for part in module.modules() if getattr(getattr(part, "config", None), "use_cache", False) is True]
    try:
        for config in caching:
            config.use_cache = False
        with torch.no_grad():
            module.eval()
            return _export(module, tuple(inputs), keywords, free_axes)
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise Error(
            f"torch.export cannot follow {type(module).__name__}{line_of(error)}: "
            f"{reason[0].rstrip('.') if reason else type(error).__name__}{_way_out(error)}"
        ) from error
    finally:
        for part, training in modes:
            part.training = training
        for config in caching:
            config.use_cache = True


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


def _way_out(error: BaseException) -> str:
    """What to write instead, for a module that looks at values."""
    if "data-dependent" not in str(error).lower():
        return ""
    return "; branches that depend on values have to be written with torch.where or torch.cond"


def check_values(module: str, program: Any) -> None:
    """Refuses a program that reads numbers out of tensors."""
    readers = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)
    for node in program.graph.nodes:
        if node.target in readers:
            places = re.findall(r'File "(.*?)", line (\d+), in forward\n\s*(.*)', node.meta.get("stack_trace") or "")
            place = f", {os.path.basename(places[-1][0])}:{places[-1][1]} ({places[-1][2]})" if places else ""
            raise Error(
                f"{module}{place}: it reads a number out of a tensor, which a graph has no value for; "
                "leave .item() and conversions to int, float and bool out, so that it stays a tensor"
            )


def line_of(error: BaseException) -> str:
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
